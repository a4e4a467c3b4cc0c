/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names that the option --comm takes in every command: globs of fnmatch(3) that are matched
 * against task names of at most 15 bytes. A longer name without wildcards stands for its first 15
 * bytes, which the kernel keeps.
 */
#ifndef LIB_COMM_GLOB_H
#define LIB_COMM_GLOB_H

#include <stdbool.h>

#include "array.h"
#include "config.h"
#include "stackmap/error.h"

bool comm_glob_matches(const char *glob, const char *comm);

/*
 * Compiles globs to one automaton, which BPF programs run over the name of a task
 * (core/condition.h). -ERANGE: a glob that no name can match, or too many globs.
 */
int comm_globs_compile(const struct string_list *globs, struct comm_globs *out,
		       struct stackmap_error *error);

#endif
