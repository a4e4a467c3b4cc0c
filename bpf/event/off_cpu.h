/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Off-CPU time: one event for each time a task was blocked, recorded when the task goes on. The
 * value is the length of the wait. The stacks are those of the place where the task blocked: a task
 * that does not run keeps its kernel stack, so the kernel stack is taken at the end; the user stack
 * is requested at the beginning, in the task.
 *
 * A task is blocked if it waits in an interruptible or uninterruptible sleep. Preempted tasks and
 * stopped tasks are not blocked. Kernel threads are left out, since they mostly wait for work. The
 * off-CPU samples of perf follow the same rules.
 */
#ifndef BPF_OFF_CPU_H
#define BPF_OFF_CPU_H

#include "deferral.h"
#include "emit.h"
#include "since_before.h"

#define TASK_INTERRUPTIBLE 1U
#define TASK_UNINTERRUPTIBLE 2U

HASH_MAP(blocked, TASKS_MAX, u32, struct blocked); /* key: tid */

/*
 * Takes the user stack by frame pointers and stores it in the map: for --user-unwind fp, without
 * deferral.
 */
static __always_inline u64 off_cpu_walk_frame_pointers(struct scratch *scratch, u32 cpu,
						       u64 *generation)
{
	void *table = current_stack_table();
	s64 id;

	fp_walk_begin(&scratch->walk);
	scratch->walk.at_entry = 0;
	fp_walk_stack(scratch);
	if (!table || !stack_pack(&scratch->user))
		return STACK_FIELD_WORD(REASON_NO_FRAMES, STATE_NONE);
	id = stack_map_get_id(table, &geometry, cpu, &scratch->user);
	*generation = table_generation(table);
	return id > 0 ? STACK_FIELD_WORD(id, STATE_ID)
		      : STACK_FIELD_WORD(REASON_NO_ROOM, STATE_NONE);
}

/*
 * Saves the stack for user space to finish. The cookie is lasting: the event may come any time
 * after its deferred stack.
 */
static __always_inline u64 off_cpu_save_stack(struct scratch *scratch)
{
	u32 cookie = cookie_new() | COOKIE_LASTING;

	return raw_save_current_stack(scratch, current_tid(), cookie, 0)
		       ? STACK_FIELD_WORD(REASON_NO_ROOM, STATE_NONE)
		       : STACK_FIELD_WORD(cookie, STATE_COOKIE);
}

/*
 * Requests the user stack of the task. The task returns to user mode only after the event of its
 * wait was recorded.
 */
static __always_inline u64 off_cpu_request_stack(struct scratch *scratch, u32 cpu)
{
	s64 cookie = deferral_request(scratch, cpu);

	return cookie > 0 ? STACK_FIELD_WORD(cookie, STATE_COOKIE)
			  : STACK_FIELD_WORD(REASON_NO_STATE, STATE_NONE);
}

static __always_inline u64 off_cpu_take_user_stack(struct scratch *scratch, u32 cpu,
						   u64 *generation)
{
	u64 ready = execve_user_stack_field(), word;

	if (ready)
		return ready;
	if (config.user_unwind == USER_UNWIND_AUTO && config.deferral == DEFERRAL_TASK_WORK &&
	    !is_exiting())
		return off_cpu_request_stack(scratch, cpu);
	if (!set_search_to_current_address_space(&scratch->search))
		return STACK_FIELD_WORD(REASON_REFUSED, STATE_NONE);
	word = config.user_unwind == USER_UNWIND_FP
		       ? off_cpu_walk_frame_pointers(scratch, cpu, generation)
		       : off_cpu_save_stack(scratch);
	read_noted_build_ids(&scratch->search);
	return word;
}

static __always_inline bool is_blocking(const struct task_struct *task, u32 state)
{
	return state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE) && task->mm;
}

static __always_inline void off_cpu_store_wait(const struct task_struct *task,
					       struct scratch *scratch, u32 cpu)
{
	u32 tid = tid_of_typed_task(task);
	struct blocked from = {.user = STACK_FIELD_WORD(REASON_NOT_ASKED, STATE_NONE)};

	if (config.user_stacks)
		from.user = off_cpu_take_user_stack(scratch, cpu, &from.generation);
	from.since = bpf_ktime_get_ns();
	from.switches = count_switches_of_task(task);
	from.ran = task->se.sum_exec_runtime;
	if (config.trace_ids) {
		if (context_read(scratch))
			context_request_from_callback(scratch, 0);
		context_keep_until_wait_ends(scratch, tid, from.since);
	}
	if (!bpf_map_update_elem(&blocked, &tid, &from, BPF_ANY))
		return;
	scratch->counters.produced++;
	scratch->counters.lost[LOST_NO_MEMORY]++;
	count_source_loss(cpu, config.off_cpu_kind);
}

/* The current task leaves its CPU. True if it needs a callback (tail_call_callback_scheduler()). */
static __always_inline bool off_cpu_wait_begin(const struct task_struct *task, u32 state, u32 cpu)
{
	struct scratch *scratch;
	bool wanted;

	if (!is_blocking(task, state) || !current_thread_passes_filters(cpu))
		return false;
	scratch = scratch_claim(cpu);
	if (!scratch)
		return count_event_without_scratch_slot(cpu, config.off_cpu_kind);
	if (paused)
		scratch->counters.lost[LOST_PAUSED]++;
	else
		off_cpu_store_wait(task, scratch, cpu);
	wanted = is_callback_wanted(scratch);
	scratch_release(scratch);
	return wanted;
}

static __always_inline struct stack_field off_cpu_kernel_stack(struct task_struct *task,
							       struct scratch *scratch, u32 cpu)
{
	struct stack *stack = &scratch->kernel;
	long bytes;

	if (!config.kernel_stacks)
		return stack_field_of_reason(REASON_NOT_ASKED);
	bytes = bpf_get_task_stack(task, stack->word, STACK_KERNEL_DEPTH_MAX * 8, 0);
	if (bytes <= 0)
		return stack_field_of_reason(REASON_UNREADABLE);
	stack->depth = (u32)bytes / 8;
	stack->flags = stack->depth >= kernel_depth_limit(0) ? STACK_TRUNCATED : 0;
	return stack_store(scratch, stack, cpu);
}

/*
 * The user stack field of the event of a wait. A stack id that belongs to an older generation of
 * the map becomes REASON_GONE.
 */
static __always_inline struct stack_field off_cpu_user_stack_field(const struct blocked *from)
{
	struct stack_field field = stack_field_of_word(from->user);
	void *table = current_stack_table();

	if (field.state == STATE_ID && (!table || table_generation(table) != from->generation))
		return stack_field_of_reason(REASON_GONE);
	return field;
}

/*
 * Writes the event of a wait. still_waits: the task has not run since the wait began, so its kernel
 * stack is that of the wait.
 */
static __always_inline void off_cpu_write_event(struct task_struct *task,
						const struct blocked *from, struct scratch *scratch,
						u32 cpu, u64 time, bool still_waits)
{
	struct event_slot *slot = event_slot_of(scratch);
	struct stack_field kernel = stack_field_of_reason(REASON_CHANGED), user;

	if (still_waits)
		kernel = off_cpu_kernel_stack(task, scratch, cpu);
	user = off_cpu_user_stack_field(from);
	slot->tid = tid_of_typed_task(task);
	slot->stamp = STAMP_OF(time, config.off_cpu_kind, EVENT_FLAGS(kernel.state, user.state));
	slot->kernel = kernel.value;
	slot->user = user.value;
	if (config.leaf)
		slot->extra[0] = 0;
	slot->extra[config.leaf] = time - from->since;
	if (config.trace_ids)
		context_take_kept_at_wait_begin(scratch, slot->tid, from->since);
	event_commit(scratch, cpu);
	origin_record_for_task(task, scratch, cpu, time);
}

u64 unseen_waits; /* number of waits at whose end the kernel called no program */

/*
 * Returns the time when a wait ended whose end called no program: now, less the time that the task
 * has run since it left its CPU. Other waits that the task may have had since then are counted into
 * this wait.
 */
static __always_inline u64 time_of_unseen_wait_end(const struct task_struct *task,
						   const struct blocked *from, u64 now)
{
	u64 ran = task->se.sum_exec_runtime - from->ran, past = now - from->since;

	atomic_add_relaxed(&unseen_waits, 1);
	return !from->ran ? now : now - (ran < past ? ran : past);
}

static __always_inline void off_cpu_record_wait(struct task_struct *task,
						const struct blocked *from, u32 cpu, u64 time,
						bool has_run)
{
	struct scratch *scratch = scratch_claim(cpu);

	if (!scratch) {
		count_event_without_scratch_slot(cpu, config.off_cpu_kind);
		return;
	}
	if (event_begin(scratch, cpu, config.off_cpu_kind))
		off_cpu_write_event(task, from, scratch, cpu, time, !has_run);
	scratch_release(scratch);
}

/*
 * Records the wait of a task that is about to run on this CPU, or whose recording ends. The program
 * that removes the task from the map records its wait.
 *
 * Some kernels do not call programs at some switches (bpf/event/thread_time.h), so the wait that is
 * in the map may have ended before. The wait has ended before if the task's count of switches has
 * changed, or if the caller sees the task leave a CPU (has_run). The task's kernel stack is not
 * that of the wait then.
 *
 * is_last: recording ends, and the wait is recorded even if a trigger has stopped the events.
 */
static __always_inline bool off_cpu_wait_end(struct task_struct *task, u32 cpu, bool has_run,
					     bool is_last)
{
	u32 tid = tid_of_typed_task(task);
	struct blocked *found = bpf_map_lookup_elem(&blocked, &tid), from;
	u64 time;

	if (!found)
		return false;
	from = *found;
	if (bpf_map_delete_elem(&blocked, &tid))
		return false;
	has_run |= from.switches != count_switches_of_task(task);
	time = bpf_ktime_get_ns();
	if (has_run)
		time = time_of_unseen_wait_end(task, &from, time);
	if (is_last || record_trigger_unless_stopped(config.off_cpu_kind))
		off_cpu_record_wait(task, &from, cpu, time, has_run);
	if (config.trace_ids)
		bpf_map_delete_elem(&waiting_contexts, &tid);
	return true;
}

u64 unfinished_waits;

/* When recording ends: records how long a task has waited so far, as an event of this CPU. */
static __always_inline void off_cpu_record_unfinished(struct task_struct *task)
{
	if (is_blocking(task, task->__state) &&
	    off_cpu_wait_end(task, bpf_get_smp_processor_id(), false, true))
		unfinished_waits++;
}

u64 recording_begin; /* CLOCK_MONOTONIC, ns: time when the recording began */

/*
 * Adds a task that already waits when recording begins: its wait counts from that begin. No two
 * waits begin at the same time, as a wait is told from others by its begin
 * (lib/report/event/wait_ends.h); all these begins are before any begin that the recording sees.
 * The task may have gone on meanwhile: then the task does not wait, or has added its own wait to
 * the map.
 */
static __always_inline void off_cpu_add_waiting_task(struct task_struct *task, bool asks_user_stack)
{
	struct blocked from = {.since = recording_begin - waits_before}, *found;
	u64 switches = count_switches_of_task(task);
	u32 tid = tid_of_typed_task(task);

	if (!is_blocking(task, task->__state) || is_on_cpu(task) || !task_passes_filters(task))
		return;
	if (config.by_cpu && !cpu_matches_filter(task->thread_info.cpu))
		return;
	from.user = user_stack_of_waiting_task(task, asks_user_stack);
	from.switches = switches;
	from.ran = task->se.sum_exec_runtime;
	if (bpf_map_update_elem(&blocked, &tid, &from, BPF_NOEXIST))
		return;
	found = bpf_map_lookup_elem(&blocked, &tid);
	if (is_blocking(task, task->__state) && count_switches_of_task(task) == switches)
		waits_before++;
	else if (found && found->since == from.since)
		bpf_map_delete_elem(&blocked, &tid);
}

/* Records the task or interrupt that ends a wait. The value is the length of the wait. */
static __always_inline bool off_cpu_record_waker(void *ctx, const struct task_struct *task)
{
	struct hit hit = {.kind = config.waker_kind, .skip = SKIP_RAW_TRACEPOINT, .is_waker = true};
	u32 tid = tid_of_typed_task(task), cpu = bpf_get_smp_processor_id();
	struct blocked *from = bpf_map_lookup_elem(&blocked, &tid);

	if (!from || from->switches != count_switches_of_task(task))
		return false;
	hit.value = from->since;
	return event_record(ctx, &hit, cpu);
}

#endif
