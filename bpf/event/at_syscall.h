/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --user-at-syscall: the user stack is taken at the entry of each system call, so that the stack is
 * ready for every later event of that call: as an id, or as the cookie that was opened at the
 * entry. The stack is valid until the call returns. Events in an interrupt of user mode
 * do not use this stack, because their entry into the kernel is another one.
 */
#ifndef BPF_AT_SYSCALL_H
#define BPF_AT_SYSCALL_H

#include "deferral/callback.h"
#include "filter.h"
#include "user_side.h"

static __always_inline void take_stack_at_syscall_entry(struct scratch *scratch, u32 cpu,
							struct deferral *deferral)
{
	const struct hit hit = {};
	struct direct_walk *walk = &scratch->direct;
	void *table = current_stack_table();
	s64 id;

	deferral->ready = 0;
	walk->is_compat = registers_of_current(&walk->registers);
	direct_stack_walk(scratch, cpu, config.max_user_depth, 0);
	if (!walk->is_final) {
		request_user_stack(&hit, scratch, cpu);
		return;
	}
	script_replace_after_direct_walk(scratch);
	if (!table || !stack_pack(&scratch->user))
		return;
	id = stack_map_get_id(table, &geometry, cpu, &scratch->user);
	deferral->ready_entry = current_kernel_entry();
	deferral->ready_generation = table_generation(table);
	deferral->ready = id > 0 ? id : 0;
}

SEC("stackmap.raw_tp")
int take_at_syscall(void *ctx)
{
	u32 cpu = bpf_get_smp_processor_id(), tid = current_tid();
	struct deferral *deferral;
	struct scratch *scratch;
	bool wanted;

	if (paused || !current_thread_passes_filters(cpu))
		return 0;
	deferral = deferral_find_or_add(tid);
	scratch = deferral ? scratch_claim(cpu) : NULL;
	if (!scratch)
		return 0;
	if (set_search_to_current_address_space(&scratch->search)) {
		take_stack_at_syscall_entry(scratch, cpu, deferral);
		read_noted_build_ids(&scratch->search);
	}
	wanted = is_callback_wanted(scratch);
	scratch_release(scratch);
	return tail_call_callback_scheduler(ctx, &callbacks_raw_tp, wanted);
}

SEC("stackmap.raw_tp/sys_exit")
int drop_at_syscall(void *ctx)
{
	u32 tid = current_tid();
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);

	if (deferral)
		deferral->ready = 0;
	return 0;
}

#endif
