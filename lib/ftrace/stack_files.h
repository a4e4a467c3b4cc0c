/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of an instance beside its ring: the stacks by their ids (stack_map_bin), and the
 * mappings of their frames (stack_map_mappings, or mappings in a copy of an instance of stackmap).
 * A kernel without stack ids has neither file.
 */
#ifndef LIB_FTRACE_STACK_FILES_H
#define LIB_FTRACE_STACK_FILES_H

#include <stdbool.h>

#include "format/mappings_reader.h"
#include "stackmap/error.h"
#include "trace/event.h"

struct stack_files;

/* Returns 0, also without the files; or -errno if a file cannot be read. */
int stack_files_open(const char *folder, struct stack_files **out, struct stackmap_error *error);
void stack_files_free(struct stack_files **files);

/* False: no stack has this id. */
bool stack_files_find(const struct stack_files *files, u32 id, struct trace_stack *stack);

/* NULL: there is no such file. */
const struct mappings *stack_files_mappings(const struct stack_files *files);

/* True if kernel frames were hidden when the file was read. */
bool stack_files_hide_kernel(const struct stack_files *files);

#endif
