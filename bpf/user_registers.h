/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user registers of a task, by their DWARF numbers (abi/rule.h). */
#ifndef BPF_USER_REGISTERS_H
#define BPF_USER_REGISTERS_H

#include <asm/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "env.h"
#include "rule.h"

/* As the kernel names them: programs are given the names of user space. */
struct pt_regs___numbered {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, ip, cs, sp;
} __attribute__((preserve_access_index));

#define USER32_CS 0x23
#define REGISTERS_ALL ((1U << REGISTER_COUNT) - 1)

/* Where a task entered the kernel. */
static __always_inline void registers_of_task(struct unwind_registers *registers,
					      const struct pt_regs *task_regs)
{
	const struct pt_regs___numbered *regs = (const void *)task_regs;
	u64 *value = registers->value;

	value[REGISTER_RAX] = regs->ax;
	value[REGISTER_RDX] = regs->dx;
	value[REGISTER_RCX] = regs->cx;
	value[REGISTER_RBX] = regs->bx;
	value[REGISTER_RSI] = regs->si;
	value[REGISTER_RDI] = regs->di;
	value[REGISTER_RBP] = regs->bp;
	value[REGISTER_RSP] = regs->sp;
	value[REGISTER_R8] = regs->r8;
	value[REGISTER_R9] = regs->r9;
	value[REGISTER_R10] = regs->r10;
	value[REGISTER_R11] = regs->r11;
	value[REGISTER_R12] = regs->r12;
	value[REGISTER_R13] = regs->r13;
	value[REGISTER_R14] = regs->r14;
	value[REGISTER_R15] = regs->r15;
	value[REGISTER_RIP] = regs->ip;
	registers->known = REGISTERS_ALL;
}

/* Of the current task, which are also those that an event in user mode interrupted. Returns whether
 * it runs 32-bit code. */
static __always_inline u32 registers_of_current(struct unwind_registers *registers)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	registers_of_task(registers, regs);
	return ((const struct pt_regs___numbered *)regs)->cs == USER32_CS;
}

#endif
