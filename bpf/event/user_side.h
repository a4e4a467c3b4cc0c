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
#include <stdbool.h>

#include "deep_stack.h"
#include "deferral/execve.h"
#include "deferral/raw_stack_send.h"
#include "deferral/request.h"
#include "mapping/build_id.h"
#include "mapping/user_frame.h"
#include "scratch.h"
#include "stack/direct_stack.h"
#include "stack/script_stack.h"
#include "stack/stack_store.h"
#include "stack/unwinder.h"
#include "state/user_registers.h"

/* The properties of one event. */
struct hit {
	u32 kind;
	u32 skip; /* number of kernel frames that belong to the tracer */
	/*
	 * the event is a CPU sample: its pc is the event's leaf, and the stacks begin at the caller
	 */
	bool is_sample;
	u64 kernel_pc; /* pc of a sample in kernel mode; else 0 */
	u64 user_pc;   /* pc of an event in user mode, where the task's registers are; else 0 */
	/* the event is at a function's entry: the function's frame is not built yet */
	bool at_entry;
	/* value of the event, in the unit of the source; waker events: begin of the wait, ns */
	u64 value;
	u64 further; /* the second value that the source asks for */
	/*
	 * address from which the numbers of the event are read (abi/question.h); 0: not known yet
	 */
	u64 numbers;
	bool is_record;	  /* the program is attached to a tracepoint through a perf event */
	bool is_function; /* the event is in a kernel function, and the program has its registers */
	/* the event wakes a task or queues work; its own task may be outside of the namespace */
	bool is_waker;
	bool in_own_task; /* the event is in an interrupt while the recorder's own task runs */
	bool is_probe;	  /* the event is at an instruction of user mode and has no kernel stack */
};

/* True for a CPU sample in user mode. */
static __always_inline bool is_user_sample(const struct hit *hit)
{
	return hit->is_sample && !hit->kernel_pc;
}

/*
 * The user stack of the current task at the event itself, by frame pointers, with reads that do not
 * fault.
 *
 * A frame pointer points to the word with the caller's frame pointer; the word above that one has
 * the return address. Each frame pointer lies further up the stack than the one before. At the
 * entry of a function, whose frame is not built yet, the return address is on top of the stack.
 * Code built without frame pointers uses rbp for any value: an address outside executable mappings
 * is such a value and ends the stack.
 */

/* Sets the walk's registers to the place where the task left user mode. */
static __always_inline void fp_walk_begin(struct user_walk *walk)
{
	const struct pt_regs___kernel *regs = current_pt_regs();
	struct place place = current_user_pc_without_probe_code();

	walk->pc = place.pc;
	walk->sp = place.sp;
	walk->fp = regs_frame_pointer(regs);
	walk->link = regs_link(regs);
	walk->compat = regs_are_compat(regs);
	walk->at_entry = 0;
}

/* Reads two stack words; the words of 32-bit tasks have four bytes. */
static __always_inline bool read_two_stack_words(const struct user_walk *walk, u64 address,
						 u64 words[2])
{
	u32 narrow[2];

	if (!walk->compat)
		return !bpf_probe_read_user(words, 16, (void *)address);
	if (bpf_probe_read_user(narrow, sizeof(narrow), (void *)address))
		return false;
	words[0] = narrow[0];
	words[1] = narrow[1];
	return true;
}

static __always_inline bool is_limited_to_one_frame(const struct user_walk *walk)
{
	return walk->compat && !COMPAT_IS_UNWOUND;
}

/* Steps from a frame to its caller. A pc of 0 afterwards: the frame has no caller. */
static __always_inline void fp_walk_advance(struct user_walk *walk)
{
	u64 words[2];

	walk->pc = 0;
	if (is_limited_to_one_frame(walk))
		return;
	if (walk->at_entry) {
		walk->at_entry = 0;
		if (walk->link)
			walk->pc = code_address(walk->link);
		else if (read_two_stack_words(walk, walk->sp, words))
			walk->pc = words[0];
		return;
	}
	if (walk->fp < walk->sp || walk->fp & (walk->compat ? 3 : 7) ||
	    !read_two_stack_words(walk, walk->fp, words))
		return;
	walk->sp = walk->fp + (walk->compat ? 4 : 8);
	walk->fp = data_address(words[0]);
	walk->pc = code_address(words[1]);
}

/* The frame of the walk's current pc; 0: the pc is not code. */
static __always_inline u64 fp_walk_frame(struct scratch *scratch)
{
	struct user_walk *walk = &scratch->walk;
	u64 frame = user_frame(scratch, walk->pc);

	if (frame)
		return frame;
	walk->pc = original_return_address_of_word(walk->sp);
	return walk->pc ? user_frame(scratch, walk->pc) : 0;
}

static long fp_walk_step(u32 index, struct scratch **context)
{
	struct scratch *scratch = *context;
	u32 slot = deep_stack_slot(index);
	u64 frame;

	if (!scratch->walk.pc)
		return 1;
	frame = fp_walk_frame(scratch);
	if (!frame) {
		scratch->walk.pc = 0;
		return 1;
	}
	core_one_register(slot);
	scratch->user.word[slot & (STACK_WORDS_MAX - 1)] = frame;
	/* The depth is in memory: the verifier would follow each value of a local counter. */
	scratch->user.depth = index + 1;
	fp_walk_advance(&scratch->walk);
	return 0;
}

/* Walks from scratch->walk. Sets the frames, depth and flags of scratch->user. */
static __always_inline void fp_walk_stack(struct scratch *scratch)
{
	scratch->user.depth = 0;
	bpf_loop(config.max_user_depth, fp_walk_step, &scratch, 0);
	scratch->user.flags = stack_flags_of_stop(
		is_limited_to_one_frame(&scratch->walk) ? STOP_UNSUPPORTED : STOP_NONE);
	if (scratch->user.depth == config.max_user_depth && scratch->walk.pc)
		scratch->user.flags |= STACK_TRUNCATED;
	scratch->user.depth = deep_stack_order_frames((struct deep_stack *)scratch->user.word,
						      core_reload(scratch->user.depth));
}

struct user_side {
	struct stack_field field;
	/* innermost frame of a CPU sample in user mode, which is not in the stack; 0: no sample, or
	 * not in user mode */
	u64 leaf;
};

static __always_inline struct user_side unwind_user_stack_by_frame_pointers(const struct hit *hit,
									    struct scratch *scratch,
									    u32 cpu)
{
	struct user_side side = {};

	fp_walk_begin(&scratch->walk);
	scratch->walk.at_entry = hit->at_entry;
	/* A stack of one frame stays whole: its flags tell how it ended. */
	if (is_user_sample(hit) && !is_limited_to_one_frame(&scratch->walk)) {
		side.leaf = user_frame(scratch, scratch->walk.pc);
		fp_walk_advance(&scratch->walk);
	}
	fp_walk_stack(scratch);
	side.field = stack_store(scratch, &scratch->user, cpu);
	return side;
}

/*
 * True in rt_sigreturn(), where some registers may already have the values of the program that the
 * signal interrupted, and the others not yet.
 */
static __always_inline bool is_in_sigreturn(void)
{
	return regs_syscall(current_pt_regs()) == __NR_rt_sigreturn;
}

/* True if the event hit between a breakpoint and its probe's handler. */
static __always_inline bool is_in_breakpoint_trap(const struct hit *hit)
{
	return is_at_breakpoint_trap(hit->user_pc | hit->is_probe);
}

/* The stack of this system call if it was taken at the entry, as a STACK_FIELD_WORD(); else 0. */
__noinline u64 field_of_stack_taken_at_entry(void)
{
	u32 tid = current_tid();
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);
	struct kernel_entry entry = current_kernel_entry();
	void *table = current_stack_table();

	if (!deferral || !table || !deferral->ready ||
	    deferral->ready_generation != table_generation(table) ||
	    !is_same_kernel_entry(&deferral->ready_entry, &entry) ||
	    stack_map_add_reference(table, &geometry, deferral->ready))
		return 0;
	return STACK_FIELD_WORD(deferral->ready, STATE_ID);
}

/*
 * The field of the user stack if the stack is known without unwinding (execve, or taken at system
 * call entry); else 0.
 */
static __always_inline u64 known_user_field(void)
{
	u64 word = execve_user_stack_field();

	return word || !config.user_at_syscall ? word : field_of_stack_taken_at_entry();
}

/* True if only the callback has the rules of the code at which the walk has ended. An event that is
 * only counted in a table (abi/counted.h) has no place for a stack that comes later. */
static __always_inline bool is_walk_left_to_callback(const struct scratch *scratch)
{
	return scratch->direct.has_left_generated &&
	       !(config.count && is_event_counted_only(scratch));
}

/*
 * Requests a stack that the walk could not finish. scratch->search is in the task's address space.
 */
static __always_inline struct stack_field request_user_stack(const struct hit *hit,
							     struct scratch *scratch, u32 cpu)
{
	s64 cookie = 0;

	if (config.deferral == DEFERRAL_ASSISTED && is_in_breakpoint_trap(hit))
		return stack_field_of_reason(REASON_CHANGED);
	if (hit->is_probe && config.deferral == DEFERRAL_TASK_WORK && !is_exiting()) {
		if (is_walk_left_to_callback(scratch))
			cookie = request_stack_at_probe(scratch, cpu, hit->at_entry);
		if (cookie > 0)
			return stack_field_of_cookie(cookie);
		request_rules(scratch, hit->at_entry);
	}
	if (config.deferral == DEFERRAL_ASSISTED || hit->is_probe || is_exiting()) {
		if (config.count && is_event_counted_only(scratch))
			return stack_field_of_reason(REASON_ANSWER_LOST);
		return raw_save_with_new_cookie(scratch,
						hit->at_entry * RAW_AT_ENTRY |
							scratch->direct.is_cut * RAW_BETTER);
	}
	cookie = deferral_request(scratch, cpu);
	return cookie > 0 ? stack_field_of_cookie(cookie) : stack_field_of_reason(REASON_NO_STATE);
}

/* True if a function of a script in scratch->user has no id yet that the callback may give it. */
static __always_inline bool has_missing_names(const struct scratch *scratch)
{
	return core_reload(scratch->script_search.lacks_memory) |
	       core_reload(scratch->script_search.name_bytes);
}

/* True if the callback of an earlier request of this task has waited for the page of the name. */
static __always_inline bool is_name_waited_for(u64 name)
{
	u32 tid = current_tid();
	const struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);

	return deferral && deferral->name == name && !deferral->name_bytes;
}

/*
 * Clears is_final of the walk if a function of a script has no id for lack of memory or of a page,
 * and the callback can supply it: in an interrupt and at a switch of tasks the kernel has memory
 * for a dozen records at most, and no event may wait for a page. The callback walks the stack once
 * more. It waits for a page once, since a page that does not come would bring it back for ever. Not
 * inlined, so that its BPF stack does not add to that of script_replace_loop_frames().
 */
__noinline int defer_walk_if_names_are_missing(struct scratch *scratch, u32 is_probe)
{
	if (!scratch)
		return 0;
	if (config.deferral != DEFERRAL_TASK_WORK || is_probe || is_exiting() ||
	    (config.count && is_event_counted_only(scratch)))
		script_clear_missing_names(scratch);
	if (scratch->script_search.name_bytes && is_name_waited_for(scratch->script_search.name))
		scratch->script_search.name_bytes = 0;
	if (has_missing_names(scratch))
		scratch->direct.is_final = 0;
	return 0;
}

/*
 * Gives the callback the address of a name whose page is missing (length 0: none). Subtracts the
 * loops of the stack from the counters, since the callback counts them again.
 */
__noinline int hand_missing_names_to_callback(struct scratch *scratch)
{
	u32 tid = current_tid();
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);

	if (!scratch || !deferral)
		return 0;
	script_uncount_loops(scratch);
	deferral->name = scratch->script_search.name;
	deferral->name_bytes = scratch->script_search.name_bytes;
	return 0;
}

/*
 * True if a walk has ended in code of a file without a rule, or went on by a guess, and the
 * recorder is about to make the rules of that file. The stack is then deferred as if the rule were
 * not known.
 */
static __always_inline bool is_walk_awaiting_rules(const struct direct_walk *walk)
{
	return are_rules_awaited() && !walk->is_generated && 1U << walk->stop & STOPS_WITHOUT_RULE;
}

/*
 * Adds the result of the direct walk to the counters, and defers a stack whose rules are awaited. A
 * global function: verified once for all programs.
 */
__noinline int count_result_of_direct_walk(struct scratch *scratch)
{
	u32 stop;

	if (!scratch)
		return 0;
	stop = scratch->direct.stop;
	scratch->counters.table_steps += scratch->direct.search.table_steps;
	core_one_register(stop);
	scratch->direct.is_cut = 0;
	if (scratch->direct.is_final && is_walk_awaiting_rules(&scratch->direct)) {
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
 * Takes the user part of an event by unwind tables. The registers with which the task left user
 * mode are also those that an event in user mode interrupted. A cut stack that cannot be left to a
 * later walk is taken as far as this walk came.
 */
static __always_inline struct user_side unwind_user_stack_by_tables(const struct hit *hit,
								    struct scratch *scratch,
								    u32 cpu)
{
	struct direct_walk *walk = &scratch->direct;
	struct user_side side = {};
	u64 ready = known_user_field();

	if (ready) {
		side.field = stack_field_of_word(ready);
		return side;
	}
	walk->is_compat = registers_of_current(&walk->registers);
	walk->registers.at_entry = hit->at_entry;
	walk->stop = STOP_UNKNOWN_REGISTER;
	walk->is_final = 0;
	walk->search.table_steps = 0;
	if (!is_in_sigreturn() && !is_in_breakpoint_trap(hit))
		direct_stack_walk(scratch, cpu, config.max_user_depth, is_user_sample(hit));
	count_result_of_direct_walk(scratch);
	if (!walk->is_final)
		script_clear_missing_names(scratch);
	else if (walk->scripts.count) {
		script_replace_after_direct_walk(scratch);
		defer_walk_if_names_are_missing(scratch, hit->is_probe);
	}
	if (!core_reload(walk->is_final)) {
		if (is_user_sample(hit))
			side.leaf = user_frame(scratch, hit->user_pc);
		side.field = request_user_stack(hit, scratch, cpu);
		if (side.field.state == STATE_COOKIE) {
			if (has_missing_names(scratch))
				hand_missing_names_to_callback(scratch);
			return side;
		}
		if (!(has_missing_names(scratch) | core_reload(walk->is_cut)))
			return side;
		if (!has_missing_names(scratch))
			script_replace_after_direct_walk(scratch);
	}
	side.field = stack_store(scratch, &scratch->user, cpu);
	side.leaf = walk->leaf;
	return side;
}

static __always_inline struct user_side take_user_stack_of_event(const struct hit *hit,
								 struct scratch *scratch, u32 cpu)
{
	struct user_side side = {.field = stack_field_of_reason(REASON_NOT_ASKED)};

	if ((!config.user_stacks && !is_user_sample(hit)) ||
	    (records_ids_of_inner_pid_namespace() && !scratch->tid))
		return side;
	if (!set_search_to_current_address_space(&scratch->search)) {
		side.field = stack_field_of_reason(REASON_REFUSED);
		return side;
	}
	if (!config.user_stacks)
		side.leaf = user_frame(scratch, hit->user_pc);
	else if (config.user_unwind == USER_UNWIND_FP)
		side = unwind_user_stack_by_frame_pointers(hit, scratch, cpu);
	else
		side = unwind_user_stack_by_tables(hit, scratch, cpu);
	read_noted_build_ids(&scratch->search);
	return side;
}

#endif
