/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SFrame sections made by hand from the specification of each version, with three functions:
 *
 *   start + 0x00, 32 bytes   default rows: sp+8; from 1 on sp+16, fp at -16; from 4 on fp+16, fp at
 * -16; from 30 on sp+8 start + 0x20, 64 bytes   a block of 16 bytes that repeats (PLT): sp+8, from
 * 11 on sp+16 start + 0x60, 300 bytes  two-byte addresses: sp+8; from 2 on sp+1000; versions 2 and
 * 3: from 290 on outermost
 *
 * and in version 3 two more:
 *
 *   start + 0x200, 16 bytes  flexible: from 0 on r10+0; from 4 on *(rbp-8), fp at *(rbp+0)
 *   start + 0x210, 16 bytes  a signal frame: sp+24
 */
#ifndef TESTS_UNIT_CORE_SFRAME_SECTION_H
#define TESTS_UNIT_CORE_SFRAME_SECTION_H

#include <string.h>

#include "scalar.h"

struct sframe_section {
	u32 bytes;
	u8 byte[512];
};

/* `start`: address of the functions, relative to the section. */
void sframe_section_make(struct sframe_section *section, int version, s32 start);

#endif
