/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ARCH_HOST_ARM64_H
#define ARCH_HOST_ARM64_H

#define UNWINDER_KNOWS_ARCH 0
#define LIBRARY_CACHE_FLAGS 0x0a03

/* The kernel's pt_regs begins with x0 to x30. */
#define FUNCTION_ARGUMENTS                                                                         \
	{                                                                                          \
		0, 8, 16, 24, 32, 40                                                               \
	}
#define SYSCALL_ARGUMENTS FUNCTION_ARGUMENTS
#define RESULT_OFFSET 0

#define registers_here(registers) ((registers)->known = 0)

#endif
