/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes SFrame sections of later versions from one of version 1 or 2: the same functions and rows
 * in another layout. The assemblers of Debian 12 and 13 only make versions 1 and 2.
 */
#ifndef TESTS_UNWIND_SFRAME_REWRITE_H
#define TESTS_UNWIND_SFRAME_REWRITE_H

#include <stdbool.h>

#include "scalar.h"

/* An upper limit of the size of a rewritten section. */
#define SFRAME_REWRITTEN_MAX(bytes) (2 * (bytes) + 64)

/*
 * Makes a section of `version` 2 or 3 from a section of version 1 or 2. The new section will lie
 * `distance` bytes after the old one. Returns its length; 0: `from` is not a section of version 1
 * or 2.
 */
u32 sframe_rewrite(const u8 *from, u32 bytes, u32 version, s64 distance, u8 *to);

#endif
