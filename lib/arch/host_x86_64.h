/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ARCH_HOST_X86_64_H
#define ARCH_HOST_X86_64_H

#include <asm/unistd.h>
#include <stddef.h>
#include <sys/user.h>

#define code_address_mask() (~0ULL)
#define THREAD_HEAD_BYTES 0
#define RELOCATION_THREAD_DISTANCE R_X86_64_TPOFF64
#define RELOCATION_THREAD_DESCRIPTOR R_X86_64_TLSDESC
#define RELOCATION_THREAD_MODULE R_X86_64_DTPMOD64
#define LIBRARY_CACHE_FLAGS 0x0303

/* System calls that the headers of Debian 12 do not have yet. */
#ifndef __NR_uretprobe
#define __NR_uretprobe 335
#endif
#ifndef __NR_uprobe
#define __NR_uprobe 336
#endif

#define REGISTER_OFFSET(name) offsetof(struct user_regs_struct, name)

/* Offsets in the kernel's pt_regs are those of user_regs_struct. The syscall instruction overwrites
 * rcx, so system calls have their fourth argument in r10. */
#define FUNCTION_ARGUMENTS                                                                         \
	{                                                                                          \
		REGISTER_OFFSET(rdi), REGISTER_OFFSET(rsi), REGISTER_OFFSET(rdx),                  \
			REGISTER_OFFSET(rcx), REGISTER_OFFSET(r8), REGISTER_OFFSET(r9),            \
	}
#define SYSCALL_ARGUMENTS                                                                          \
	{                                                                                          \
		REGISTER_OFFSET(rdi), REGISTER_OFFSET(rsi), REGISTER_OFFSET(rdx),                  \
			REGISTER_OFFSET(r10), REGISTER_OFFSET(r8), REGISTER_OFFSET(r9),            \
	}
#define SYSCALL_EVENTS
#define RESULT_OFFSET REGISTER_OFFSET(rax)

#define CALL_CONVENTION CALL_SYSV
#define ARGUMENT_REGISTERS                                                                         \
	{                                                                                          \
		5, 4, 1, 2, 8, 9                                                                   \
	}
#define STACK_REGISTER 7
#define ENTRY_STACK_BYTES 8 /* the return address */
#define COMPAT_IS_PROBED 1
#define DWARF_REGISTERS 16
#define DWARF_REGISTER_OFFSETS                                                                     \
	{                                                                                          \
		REGISTER_OFFSET(rax), REGISTER_OFFSET(rdx), REGISTER_OFFSET(rcx),                  \
			REGISTER_OFFSET(rbx), REGISTER_OFFSET(rsi), REGISTER_OFFSET(rdi),          \
			REGISTER_OFFSET(rbp), REGISTER_OFFSET(rsp), REGISTER_OFFSET(r8),           \
			REGISTER_OFFSET(r9), REGISTER_OFFSET(r10), REGISTER_OFFSET(r11),           \
			REGISTER_OFFSET(r12), REGISTER_OFFSET(r13), REGISTER_OFFSET(r14),          \
			REGISTER_OFFSET(r15),                                                      \
	}

/* The names of registers in the arguments of USDT probes: all names that assemblers write. */
#define USDT_REGISTER(name, number)                                                                \
	{                                                                                          \
		name, REGISTER_OFFSET(number)                                                      \
	}
#define USDT_LEGACY_REGISTER(r, e, x, l, number)                                                   \
	USDT_REGISTER(r, number), USDT_REGISTER(e, number), USDT_REGISTER(x, number),              \
		USDT_REGISTER(l, number)
#define USDT_NEW_REGISTER(name) USDT_LEGACY_REGISTER(#name, #name "d", #name "w", #name "b", name)
#define USDT_REGISTERS                                                                             \
	USDT_LEGACY_REGISTER("rax", "eax", "ax", "al", rax),                                       \
		USDT_LEGACY_REGISTER("rbx", "ebx", "bx", "bl", rbx),                               \
		USDT_LEGACY_REGISTER("rcx", "ecx", "cx", "cl", rcx),                               \
		USDT_LEGACY_REGISTER("rdx", "edx", "dx", "dl", rdx),                               \
		USDT_LEGACY_REGISTER("rsi", "esi", "si", "sil", rsi),                              \
		USDT_LEGACY_REGISTER("rdi", "edi", "di", "dil", rdi),                              \
		USDT_LEGACY_REGISTER("rbp", "ebp", "bp", "bpl", rbp),                              \
		USDT_LEGACY_REGISTER("rsp", "esp", "sp", "spl", rsp), USDT_NEW_REGISTER(r8),       \
		USDT_NEW_REGISTER(r9), USDT_NEW_REGISTER(r10), USDT_NEW_REGISTER(r11),             \
		USDT_NEW_REGISTER(r12), USDT_NEW_REGISTER(r13), USDT_NEW_REGISTER(r14),            \
		USDT_NEW_REGISTER(r15)

#define KEPT_REGISTERS                                                                             \
	(1U << REGISTER_RBX | 1U << REGISTER_RBP | 1U << REGISTER_RSP | 1U << REGISTER_R12 |       \
	 1U << REGISTER_R13 | 1U << REGISTER_R14 | 1U << REGISTER_R15 | 1U << REGISTER_RIP)

#define registers_here(registers)                                                                  \
	({                                                                                         \
		u64 *here_value = (registers)->value;                                              \
                                                                                                   \
		__asm__ volatile("movq %%rbx, %c[rbx](%[value])\n\t"                               \
				 "movq %%rbp, %c[rbp](%[value])\n\t"                               \
				 "movq %%rsp, %c[rsp](%[value])\n\t"                               \
				 "movq %%r12, %c[r12](%[value])\n\t"                               \
				 "movq %%r13, %c[r13](%[value])\n\t"                               \
				 "movq %%r14, %c[r14](%[value])\n\t"                               \
				 "movq %%r15, %c[r15](%[value])\n\t"                               \
				 "leaq 0(%%rip), %%rax\n\t"                                        \
				 "movq %%rax, %c[rip](%[value])"                                   \
				 :                                                                 \
				 : [value] "r"(here_value), [rbx] "i"(8 * REGISTER_RBX),           \
				   [rbp] "i"(8 * REGISTER_RBP), [rsp] "i"(8 * REGISTER_RSP),       \
				   [r12] "i"(8 * REGISTER_R12), [r13] "i"(8 * REGISTER_R13),       \
				   [r14] "i"(8 * REGISTER_R14), [r15] "i"(8 * REGISTER_R15),       \
				   [rip] "i"(8 * REGISTER_RIP)                                     \
				 : "rax", "memory");                                               \
		(registers)->known = KEPT_REGISTERS;                                               \
	})

#endif
