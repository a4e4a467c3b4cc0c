/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The option --leaks: memory that is not freed when recording ends. The option stands for several
 * words of -e, one for each function that allocates memory: alive:BEGIN..END
 * (capture/source/source_span.h), where BEGIN is that function and END the function that frees the
 * memory.
 */
#ifndef LIB_SESSION_LEAKS_H
#define LIB_SESSION_LEAKS_H

#include "session/session_options.h"

/*
 * Adds a source to `sources` for each function that allocates memory. The functions are those of
 * the file whose malloc() the first chosen process calls, or the command if no process is chosen.
 * -ENOENT: the file does not have a function that every allocator has.
 */
int leaks_add_sources(const struct session_options *options, struct source_list *sources,
		      struct stackmap_error *error);

#endif
