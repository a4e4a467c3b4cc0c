/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an instance keeps beside its ring: the stacks by their ids (stack_map_bin), and what their
 * frames lie in (mappings). Of a kernel without stack ids neither is there.
 */
#ifndef LIB_FTRACE_STACK_FILES_H
#define LIB_FTRACE_STACK_FILES_H

#include <stdbool.h>

#include "format/mappings_reader.h"
#include "stackmap/error.h"
#include "trace/event.h"

struct stack_files;

/* 0, also without the files; or why one of them cannot be read. */
int stack_files_open(const char *folder, struct stack_files **out, struct stackmap_error *error);
void stack_files_free(struct stack_files **files);

/* False: the id is none of these stacks. */
bool stack_files_find(const struct stack_files *files, u32 id, struct trace_stack *stack);

/* NULL: there are none. */
const struct mappings *stack_files_mappings(const struct stack_files *files);

/* Frames of the kernel were hidden from who read them. */
bool stack_files_hide_kernel(const struct stack_files *files);

#endif
