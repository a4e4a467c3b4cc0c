/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers that the kernel saves for a signal handler, in the order of its sigcontext. */
#ifndef CORE_SIGNAL_CONTEXT_H
#define CORE_SIGNAL_CONTEXT_H

#include "env.h"
#include "rule.h"

#define UCONTEXT_GENERAL 40 /* offset of uc_mcontext in the kernel's ucontext */
#define SIGNAL_CONTEXT_WORDS 17

/*
 * Reads the saved registers: r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. All are then
 * known.
 */
CORE_PART void signal_registers(const u64 saved[SIGNAL_CONTEXT_WORDS],
				struct unwind_registers *caller)
{
	for (u32 i = 0; i < 8; i++)
		caller->value[REGISTER_R8 + i] = saved[i];
	caller->value[REGISTER_RDI] = saved[8];
	caller->value[REGISTER_RSI] = saved[9];
	caller->value[REGISTER_RBP] = saved[10];
	caller->value[REGISTER_RBX] = saved[11];
	caller->value[REGISTER_RDX] = saved[12];
	caller->value[REGISTER_RAX] = saved[13];
	caller->value[REGISTER_RCX] = saved[14];
	caller->value[REGISTER_RSP] = saved[15];
	caller->value[REGISTER_RIP] = saved[16];
	caller->known = (1U << REGISTER_COUNT) - 1;
}

#endif
