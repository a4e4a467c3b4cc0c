/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code around a pc, and the result of reading it (core/arch/code_rule.h). */
#ifndef STACKMAP_ABI_NEAR_CODE_H
#define STACKMAP_ABI_NEAR_CODE_H

#include "scalar.h"

/* Bytes before a pc, bytes from the pc on, and bytes of one read. */
#define NEAR_CODE_BEFORE 24 /* musl's _start clears rbp 19 bytes before its call */
#define NEAR_CODE_AFTER 104
#define NEAR_CODE_STEP 8
#define NEAR_CODE_BYTES (NEAR_CODE_BEFORE + NEAR_CODE_AFTER)

struct near_code {
	/*
	 * Input. Unreadable bytes, and bytes outside of code, are 0. The last words are never used:
	 * a verifier that knows the bounds of an index and of an offset apart demands room for the
	 * sum of both.
	 */
	u64 word[(NEAR_CODE_BEFORE + NEAR_CODE_BYTES) / 8];

	/* State of the scan: */
	s64 bytes; /* change of rsp from the pc to `at` */
	/* by machine number: 1 + offset from rsp that the register is popped from */
	s64 popped[16];
	u32 at; /* offset of the last scanned instruction from the pc */
	u32 instructions;
	u32 has_end;
	u32 after_branch; /* 1: the instruction before was a conditional jump */
	u32 length;	  /* of the instruction, without its prefix; 0: it is not understood */
	s32 words;	  /* on the stack, where only an interrupted frame can be; -1: other code */
};

#endif
