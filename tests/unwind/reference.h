/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stack of a stopped thread as elfutils' libdwfl finds it, from the files on disk: of a thread
 * under ptrace, or of one that is known by registers and a copy of its stack (traced->stack). */
#ifndef TESTS_UNWIND_REFERENCE_H
#define TESTS_UNWIND_REFERENCE_H

#include "traced.h"

struct reference;

struct reference *reference_create(void);
void reference_free(struct reference **reference);

/* The pcs of traced->tid, innermost first, at most `max`: their number. */
u32 reference_unwind(struct reference *reference, const struct traced *traced, u64 *frames,
		     u32 max);

/* The file and symbol at an address, to explain a difference. */
const char *reference_name(struct reference *reference, u64 address);

#endif
