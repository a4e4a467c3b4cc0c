/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user registers of a task, by their DWARF numbers (abi/rule.h). */
#ifndef BPF_USER_REGISTERS_H
#define BPF_USER_REGISTERS_H

#include <asm/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "env.h"
#include "rule.h"
#include "user_probe.h"

#define USER32_CS 0x23
#define REGISTERS_ALL ((1U << REGISTER_COUNT) - 1)

/* The current task's fs base, unless the task has changed it by wrfsbase since it began to run. */
static __always_inline u64 thread_pointer(void)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	return bpf_core_field_exists(task->thread.fsbase) ? task->thread.fsbase : 0;
}

/*
 * Reads the user registers of the current task at its entry into the kernel; an event in user mode
 * interrupted the same registers. Returns 1 if the task runs 32-bit code. A global function:
 * verified by itself.
 */
__noinline int registers_of_current(struct unwind_registers *registers)
{
	const struct pt_regs___kernel *regs = current_regs();
	struct place place = current_place();
	u64 *value;

	if (!registers)
		return 0;
	value = registers->value;
	value[REGISTER_RAX] = regs->ax;
	value[REGISTER_RDX] = regs->dx;
	value[REGISTER_RCX] = regs->cx;
	value[REGISTER_RBX] = regs->bx;
	value[REGISTER_RSI] = regs->si;
	value[REGISTER_RDI] = regs->di;
	value[REGISTER_RBP] = regs->bp;
	value[REGISTER_RSP] = place.sp;
	value[REGISTER_R8] = regs->r8;
	value[REGISTER_R9] = regs->r9;
	value[REGISTER_R10] = regs->r10;
	value[REGISTER_R11] = regs->r11;
	value[REGISTER_R12] = regs->r12;
	value[REGISTER_R13] = regs->r13;
	value[REGISTER_R14] = regs->r14;
	value[REGISTER_R15] = regs->r15;
	value[REGISTER_RIP] = place.pc;
	value[REGISTER_THREAD] = thread_pointer();
	registers->known = REGISTERS_ALL;
	registers->at_entry = 0;
	return regs->cs == USER32_CS;
}

#endif
