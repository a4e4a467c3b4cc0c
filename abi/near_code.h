/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code around a pc, and what is found out by reading it (core/unwind/code_rule.h). */
#ifndef STACKMAP_ABI_NEAR_CODE_H
#define STACKMAP_ABI_NEAR_CODE_H

#include "scalar.h"

/* Bytes before a pc, from the pc on, and of what is read in one step. */
#define NEAR_CODE_BEFORE 24 /* musl's _start clears rbp 19 bytes before its call */
#define NEAR_CODE_AFTER 104
#define NEAR_CODE_STEP 8
#define NEAR_CODE_BYTES (NEAR_CODE_BEFORE + NEAR_CODE_AFTER)

/* The instruction of a system call, as a little-endian number. */
#define SYSCALL_CODE 0x050f
#define SYSCALL_BYTES 2

struct near_code {
	/* In: zeroes stand for what cannot be read, or lies in no code. The last words are never
	 * read: a verifier that knows the bounds of where and how much apart wants room for the
	 * sum. */
	u64 word[(NEAR_CODE_BEFORE + NEAR_CODE_BYTES) / 8];

	/* The scan: */
	s64 bytes;	/* what rsp will have gained, from the pc to here */
	s64 popped[16]; /* by machine number: 1 + where the register is popped from, above rsp */
	u32 at;		/* the last instruction that was looked at: bytes behind the pc */
	u32 instructions;
	u32 has_end;
	u32 after_branch; /* the instruction before was a conditional jump */
};

#endif
