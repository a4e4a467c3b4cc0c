/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The option --leaks: memory that is not freed when recording ends. The option stands for a word of
 * -e for each function that allocates memory: alive:, from this function to the one that frees
 * (capture/source/source_span.h).
 */
#ifndef LIB_SESSION_LEAKS_H
#define LIB_SESSION_LEAKS_H

#include "session/session_options.h"

/*
 * Adds the functions of the file whose malloc() the first chosen process calls, or the command if
 * no process is chosen. -ENOENT: the file does not have a function that every allocator has.
 */
int leaks_add(const struct session_options *options, struct source_list *sources,
	      struct stackmap_error *error);

#endif
