/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user registers of a task, by their DWARF numbers (abi/rule.h). */
#ifndef BPF_USER_REGISTERS_H
#define BPF_USER_REGISTERS_H

#include <asm/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "env.h"
#include "instance.h"
#include "kernel/user_probe.h"
#include "rule.h"

/*
 * Reads the user registers of the current task at its entry into the kernel; an event in user mode
 * interrupted the same registers. Returns 1 if the task runs 32-bit code. A global function:
 * verified by itself.
 */
__noinline int registers_of_current(struct unwind_registers *registers)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct pt_regs___kernel *regs = current_pt_regs();
	struct place place = current_user_pc_without_probe_code();
	u64 *value;

	if (!registers)
		return 0;
	value = registers->value;
	regs_copy(regs, value);
	value[REGISTER_SP] = place.sp;
	value[REGISTER_PC] = place.pc;
	value[REGISTER_THREAD] = thread_pointer_of(&task->thread);
	registers->known = REGISTERS_ALL;
	registers->at_entry = 0;
	return regs_are_compat(regs);
}

#endif
