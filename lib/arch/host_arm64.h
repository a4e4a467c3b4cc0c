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

/* x0 to x30 and their lower halves; sp lies behind them. */
#define USDT_REGISTER(number)                                                                      \
	{"x" #number, 8 * number},                                                                 \
	{                                                                                          \
		"w" #number, 8 * number                                                            \
	}
#define USDT_REGISTERS                                                                             \
	USDT_REGISTER(0), USDT_REGISTER(1), USDT_REGISTER(2), USDT_REGISTER(3), USDT_REGISTER(4),  \
		USDT_REGISTER(5), USDT_REGISTER(6), USDT_REGISTER(7), USDT_REGISTER(8),            \
		USDT_REGISTER(9), USDT_REGISTER(10), USDT_REGISTER(11), USDT_REGISTER(12),         \
		USDT_REGISTER(13), USDT_REGISTER(14), USDT_REGISTER(15), USDT_REGISTER(16),        \
		USDT_REGISTER(17), USDT_REGISTER(18), USDT_REGISTER(19), USDT_REGISTER(20),        \
		USDT_REGISTER(21), USDT_REGISTER(22), USDT_REGISTER(23), USDT_REGISTER(24),        \
		USDT_REGISTER(25), USDT_REGISTER(26), USDT_REGISTER(27), USDT_REGISTER(28),        \
		USDT_REGISTER(29), USDT_REGISTER(30),                                              \
	{                                                                                          \
		"sp", 8 * 31                                                                       \
	}

#define registers_here(registers) ((registers)->known = 0)

#endif
