/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user part of an event: its stack, or the cookie of a stack, and the sampled pc in front of
 * it.
 *
 * The walk at the event uses known rules and readable memory, which saves the deferral; at the
 * first unknown step or missing page the stack is left to be unwound later. Frame pointers are used
 * only on request.
 */
#ifndef BPF_USER_SIDE_H
#define BPF_USER_SIDE_H

#include <asm/unistd.h>

#include "deferral/execve.h"
#include "deferral/raw_request.h"
#include "deferral/request.h"
#include "hit.h"
#include "mapping/build_id.h"
#include "stack/direct_stack.h"
#include "stack/script_stack.h"
#include "stack/stack_store.h"
#include "stack/unwinder.h"
#include "stack/user_stack.h"
#include "state/user_registers.h"

struct user_side {
	struct stack_field field;
	u64 leaf; /* frame of a sample in user mode */
};

static __always_inline struct user_side user_by_frame_pointers(const struct hit *hit,
							       struct scratch *scratch, u32 cpu)
{
	struct user_side side = {};

	walk_from_task(&scratch->walk);
	scratch->walk.at_entry = hit->at_entry;
	if (is_user_sample(hit)) {
		side.leaf = user_frame(scratch, scratch->walk.pc);
		fp_walk_advance(&scratch->walk);
	}
	user_stack_walk(scratch);
	side.field = stack_store(scratch, &scratch->user, cpu);
	return side;
}

/*
 * True in rt_sigreturn: the registers may be half those of the program that the signal interrupted.
 */
static __always_inline bool is_in_sigreturn(void)
{
	return regs_syscall(current_regs()) == __NR_rt_sigreturn;
}

/* True if the event hit between a breakpoint and its probe's handler. */
static __always_inline bool is_in_trap(const struct hit *hit)
{
	return is_at_trap(hit->user_pc | hit->is_probe);
}

/* The stack of this system call if it was taken at the entry, as a STACK_FIELD_WORD(); else 0. */
__noinline u64 ready_field(void)
{
	u32 tid = current_tid();
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);
	struct kernel_entry entry = current_entry();
	void *table = table_current();

	if (!deferral || !table || !deferral->ready ||
	    deferral->ready_generation != table_generation(table) ||
	    !same_kernel_entry(&deferral->ready_entry, &entry) ||
	    stack_map_take(table, &geometry, deferral->ready))
		return 0;
	return STACK_FIELD_WORD(deferral->ready, STATE_ID);
}

/*
 * The user stack if it is known without unwinding (execve, or taken at system call entry); else 0.
 */
static __always_inline u64 field_ready(void)
{
	u64 word = execve_field();

	return word || !config.user_at_syscall ? word : ready_field();
}

/*
 * Requests a stack that the walk could not finish. scratch->search is in the task's address space.
 */
static __always_inline struct stack_field user_request(const struct hit *hit,
						       struct scratch *scratch, u32 cpu)
{
	s64 cookie;

	if (config.deferral == DEFERRAL_ASSISTED && is_in_trap(hit))
		return no_stack(REASON_CHANGED);
	if (hit->is_probe && config.deferral == DEFERRAL_TASK_WORK && !is_exiting())
		steps_request(scratch, hit->at_entry);
	if (config.deferral == DEFERRAL_ASSISTED || hit->is_probe || is_exiting()) {
		if (config.count && is_counted_only(scratch))
			return no_stack(REASON_ANSWER_LOST);
		return raw_request(scratch, hit->at_entry * RAW_AT_ENTRY |
						    scratch->direct.is_cut * RAW_BETTER);
	}
	cookie = deferral_request(scratch, cpu);
	return cookie > 0 ? cookie_field(cookie) : no_stack(REASON_NO_STATE);
}

/* True if a walk has ended in code of a file without a rule, or went on by a guess, and the file's
 * rules are to come. The stack is then deferred as if the rule were not known. */
static __always_inline bool walk_needs_rules(const struct direct_walk *walk)
{
	return are_rules_awaited() && !walk->is_generated && 1U << walk->stop & STOPS_WITHOUT_RULE;
}

/* Counts the result of a walk. A global function: verified once for all programs. */
__noinline int walk_count(struct scratch *scratch)
{
	u32 stop;

	if (!scratch)
		return 0;
	stop = scratch->direct.stop;
	scratch->counters.table_steps += scratch->direct.search.table_steps;
	core_one_register(stop);
	scratch->direct.is_cut = 0;
	if (scratch->direct.is_final && walk_needs_rules(&scratch->direct)) {
		scratch->direct.is_final = 0;
		scratch->direct.is_cut = 1;
	}
	if (scratch->direct.is_final)
		scratch->counters.walked++;
	else if (stop < STOP_COUNT)
		scratch->counters.deferred[stop]++;
	return 0;
}

/*
 * The user part by unwind tables. The registers with which the task left user mode are also those
 * that an event in user mode interrupted. A cut stack that cannot be left to a later walk is taken
 * as far as this walk came.
 */
static __always_inline struct user_side user_unwound(const struct hit *hit, struct scratch *scratch,
						     u32 cpu)
{
	struct direct_walk *walk = &scratch->direct;
	struct user_side side = {};
	u64 ready = field_ready();

	if (ready) {
		side.field = stack_field_of(ready);
		return side;
	}
	walk->is_compat = registers_of_current(&walk->registers);
	walk->registers.at_entry = hit->at_entry;
	walk->stop = STOP_UNKNOWN_REGISTER;
	walk->is_final = 0;
	walk->search.table_steps = 0;
	if (!is_in_sigreturn() && !is_in_trap(hit))
		direct_stack_walk(scratch, cpu, config.max_user_depth, is_user_sample(hit));
	walk_count(scratch);
	if (!walk->is_final) {
		if (is_user_sample(hit))
			side.leaf = user_frame(scratch, hit->user_pc);
		side.field = user_request(hit, scratch, cpu);
		if (side.field.state == STATE_COOKIE || !core_reload(walk->is_cut))
			return side;
	}
	script_join_walked(scratch);
	side.field = stack_store(scratch, &scratch->user, cpu);
	side.leaf = walk->leaf;
	return side;
}

static __always_inline struct user_side user_take(const struct hit *hit, struct scratch *scratch,
						  u32 cpu)
{
	struct user_side side = {.field = no_stack(REASON_NOT_ASKED)};

	if ((!config.user_stacks && !is_user_sample(hit)) || (in_pid_namespace() && !scratch->tid))
		return side;
	if (!address_space_enter(&scratch->search)) {
		side.field = no_stack(REASON_REFUSED);
		return side;
	}
	if (!config.user_stacks)
		side.leaf = user_frame(scratch, hit->user_pc);
	else if (config.user_unwind == USER_UNWIND_FP)
		side = user_by_frame_pointers(hit, scratch, cpu);
	else
		side = user_unwound(hit, scratch, cpu);
	build_ids_take(&scratch->search);
	return side;
}

#endif
