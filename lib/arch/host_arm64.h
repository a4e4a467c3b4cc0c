/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ARCH_HOST_ARM64_H
#define ARCH_HOST_ARM64_H

#define THREAD_HEAD_BYTES 16
#define RELOCATION_THREAD_DISTANCE R_AARCH64_TLS_TPREL
#define RELOCATION_THREAD_DESCRIPTOR R_AARCH64_TLSDESC
#define RELOCATION_THREAD_MODULE R_AARCH64_TLS_DTPMOD
#define LIBRARY_CACHE_FLAGS 0x0a03

/* Offsets of registers in the kernel's pt_regs, which begins with x0 to x30. */
#define FUNCTION_ARGUMENTS                                                                         \
	{                                                                                          \
		0, 8, 16, 24, 32, 40                                                               \
	}
#define SYSCALL_ARGUMENTS FUNCTION_ARGUMENTS
#define SYSCALL_EVENTS {"fadvise64", "fadvise64_64"}, {"personality", "arm64_personality"},
#define RESULT_OFFSET 0

#define CALL_CONVENTION CALL_AAPCS64
#define ARGUMENT_REGISTERS                                                                         \
	{                                                                                          \
		0, 1, 2, 3, 4, 5, 6, 7                                                             \
	}
#define STACK_REGISTER 31
#define ENTRY_STACK_BYTES 0
#define COMPAT_IS_PROBED 0

/* x0 to x30 and sp are the first words of pt_regs, in this order. */
#define DWARF_REGISTERS 32
#define DWARF_REGISTER_OFFSETS                                                                     \
	{                                                                                          \
		0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144,    \
			152, 160, 168, 176, 184, 192, 200, 208, 216, 224, 232, 240, 248,           \
	}

/* The names of registers in the arguments of USDT probes: x0 to x30, their lower halves w0 to w30,
 * and sp, which follows them in pt_regs. */
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

/* The instruction xpaclri clears the bits of x30 that hold the signature of a signed address
 * (pointer authentication); CPUs without signatures do not change x30. No address of user space has
 * bit 55 or a higher bit set. */
#define code_address_mask()                                                                        \
	({                                                                                         \
		register unsigned long mask_link __asm__("x30") = (1UL << 55) - 1;                 \
                                                                                                   \
		__asm__("hint #7" : "+r"(mask_link));                                              \
		mask_link;                                                                         \
	})

#define KEPT_REGISTERS (1U << REGISTER_FP | 1U << REGISTER_SP | 1U << REGISTER_PC)

#define registers_here(registers)                                                                  \
	({                                                                                         \
		u64 *here_value = (registers)->value;                                              \
                                                                                                   \
		here_value[REGISTER_CODE_MASK] = code_address_mask();                              \
		__asm__ volatile("str x29, [%[value], %[fp]]\n\t"                                  \
				 "mov x9, sp\n\t"                                                  \
				 "str x9, [%[value], %[sp]]\n\t"                                   \
				 "adr x9, .\n\t"                                                   \
				 "str x9, [%[value], %[pc]]"                                       \
				 :                                                                 \
				 : [value] "r"(here_value), [fp] "i"(8 * REGISTER_FP),             \
				   [sp] "i"(8 * REGISTER_SP), [pc] "i"(8 * REGISTER_PC)            \
				 : "x9", "memory");                                                \
		(registers)->known = KEPT_REGISTERS;                                               \
	})

#endif
