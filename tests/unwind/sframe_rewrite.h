/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SFrame of later versions, from that of version 1 or 2, which is all that the assemblers of Debian
 * 12 and 13 can make: the same functions and rows in another layout.
 */
#ifndef TESTS_UNWIND_SFRAME_REWRITE_H
#define TESTS_UNWIND_SFRAME_REWRITE_H

#include <stdbool.h>

#include "scalar.h"

/* Bytes that a section of versions 1 and 2 may take in any version. */
#define SFRAME_REWRITTEN_MAX(bytes) (2 * (bytes) + 64)

/*
 * Writes a section of `version` 2 or 3 that is `distance` bytes behind the one of version 1 or 2
 * that it is made from. Returns its length; 0: that is none.
 */
u32 sframe_rewrite(const u8 *from, u32 bytes, u32 version, s64 distance, u8 *to);

#endif
