/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stack of a stopped thread as elfutils' libdwfl unwinds it from the files on disk. The thread
 * is under ptrace, or its registers and a copy of its stack are given (traced->stack). */
#ifndef TESTS_UNWIND_REFERENCE_H
#define TESTS_UNWIND_REFERENCE_H

#include "traced.h"

struct reference;

struct reference *reference_create(void);
void reference_free(struct reference **reference);

/* Stores at most `max` pcs of traced->tid, innermost first, and returns their number. */
u32 reference_unwind(struct reference *reference, const struct traced *traced, u64 *frames,
		     u32 max);

/* The file and symbol at an address, to explain a difference. */
const char *reference_name(struct reference *reference, u64 address);

#endif
