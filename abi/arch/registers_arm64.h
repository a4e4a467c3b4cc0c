/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Only x29, x30 and sp matter to a walk: compilers and assembler sources give the CFA by x29 or sp,
 * and by other registers only where these cannot have changed since the interrupt. x16 and x17 are
 * the linker's, x18 is the platform's: no table names them, and their places in the array hold what
 * has no DWARF number below 32.
 *
 * gcc stores x29 and x30 at the bottom of a frame, where a slot may not reach from the CFA. The
 * return address may therefore count from a base, too, and slots reach to both sides of a base.
 */
#ifndef STACKMAP_ABI_REGISTERS_ARM64_H
#define STACKMAP_ABI_REGISTERS_ARM64_H

enum unwind_register {
	REGISTER_RESULT = 0,
	/* the bits that make up an address of code; the other bits may hold a signature */
	REGISTER_CODE_MASK = 16,
	REGISTER_PC = 17,
	REGISTER_THREAD = 18,
	REGISTER_GOROUTINE = 28,
	REGISTER_FP = 29,
	REGISTER_LINK = 30,
	REGISTER_SP = 31,
	REGISTER_COUNT,
};

#define REGISTERS_ALL (~(1U << REGISTER_CODE_MASK | 1U << REGISTER_THREAD))

ABI_INLINE u32 is_table_register(u64 reg)
{
	return reg < REGISTER_CODE_MASK || (reg > REGISTER_THREAD && reg < REGISTER_COUNT);
}

enum rule_slot { SLOT_FP, SLOT_RETURN, SLOT_COUNT };

#define EACH_SAVED_REGISTER(X) X(SLOT_FP, REGISTER_FP)

#define RETURN_MAY_BE_IN_REGISTER 1
#define RETURN_IS_BELOW_BASE 1
#define REGISTERS_ELF_MACHINE 183
#define COMPAT_IS_UNWOUND 0
#define RULE_BASE_WORDS 32
#define GOROUTINE_IS_IN_REGISTER 1
#define THREAD_ID_REACH 4096
#define STEP_MASK_SHIFT 16

/*
 * The CPU ignores the upper byte of an address of data, which programs use as a tag (TBI); reads by
 * the kernel do not ignore it. A value that has only a tag is a number, not an address, and
 * stays: x29 = 0 ends a stack. A branch would double the paths that a verifier follows.
 */
ABI_INLINE u64 address_without_tag(u64 address)
{
	u64 low = address & ~0ULL >> 8;

	return low | (address & -((low - 1) >> 63));
}

#endif
