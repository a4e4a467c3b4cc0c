/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The option --leaks: memory that is not freed when recording ends. It stands for words of -e: for
 * each function that allocates, alive: to the function that frees (capture/source/source_span.h).
 */
#ifndef LIB_SESSION_LEAKS_H
#define LIB_SESSION_LEAKS_H

#include "session/session_options.h"

/* Adds the functions of the file whose malloc() the first process, else the command, calls.
 * -ENOENT: the file lacks a function that every allocator has. */
int leaks_add(const struct session_options *options, struct source_list *sources,
	      struct stackmap_error *error);

#endif
