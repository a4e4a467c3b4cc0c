/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --time: the account of each thread's time, and an event for each wait.
 *
 *             sched_switch           sched_wakeup            sched_switch
 *   RUNNING -----------------> blocked ----------> RUNNABLE ---------------> RUNNING
 *      |                                              ^
 *      `---------------- preempted -------------------'  <--- sched_wakeup_new
 *
 * All these tracepoints are called under the lock of the thread's run queue, so they change the
 * account of a thread one after the other. (sched_waking comes before that lock is taken: it may
 * pass the switch of a thread that is about to sleep.) The program at each of these tracepoints
 * adds the time up to `now` to the account of one state, so the times of all states add up to the
 * life of the thread.
 *
 * Accounts have the address of the task_struct as their key. Ids do not tell a thread from the next
 * one: a thread's id is free before the thread leaves its CPU for the last time, and at an execve
 * the thread takes the id of its process. The account of the former id ends there then, and another
 * one begins.
 *
 * The accounts begin together, at time_begin, when all programs are attached. The first change of a
 * thread says in which state the thread has been since then; threads without a change, and the
 * kinds of sleep, are told by the iterator on_time_start(). The accounts are final at time_end: an
 * iterator records the waits that go on, and user space takes the accounts.
 *
 * Both waits of a thread that was blocked and then runnable have the same stacks, and are recorded
 * when it runs: as it does not run in between, its kernel stack is what it was.
 */
#ifndef BPF_THREAD_TIME_H
#define BPF_THREAD_TIME_H

#include "off_cpu.h"
#include "since_before.h"
#include "thread_time.h"

/* states of a task that is stopped, traced, parked or frozen */
#define TASK_STOPPED_ALL (4U | 8U | 0x40U | 0x8000U)
#define TASK_DEAD 0x80U
#define TASK_NOLOAD 0x400U

HASH_MAP(thread_times, TASKS_MAX, u64, struct thread_time); /* key: address of the task_struct */

/* Accounts of threads that have ended: struct thread_account. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ended_times SEC(".maps");

u64 time_begin;	 /* CLOCK_MONOTONIC, ns: time when the accounts begin; 0: not known yet */
u64 time_end;	 /* CLOCK_MONOTONIC, ns: time when the accounts end; 0: not known yet */
u64 time_seeded; /* 1: each thread that existed at the begin has an account, or is filtered out */
struct time_rest time_rest;

static __always_inline bool is_time_recorded(u64 now)
{
	u64 begin = atomic_load_relaxed(&time_begin), end = atomic_load_relaxed(&time_end);

	return begin && now >= begin && (!end || now < end);
}

/* Maps task->__state, which is not 0, to enum time_state. TASK_NOLOAD marks an idle kernel thread,
 * whose sleep counts as interruptible. */
static __always_inline u32 blocked_state_of(u32 state)
{
	if (state & TASK_STOPPED_ALL)
		return TIME_STOPPED;
	return state & (TASK_INTERRUPTIBLE | TASK_NOLOAD) ? TIME_INTERRUPTIBLE
							  : TIME_UNINTERRUPTIBLE;
}

/* The state of a task that leaves its CPU. Up to 6.14, prev_state is also not 0 if a signal keeps
 * the task from sleeping. */
static __always_inline u32 task_state_after_leaving_cpu(const struct task_struct *task,
							bool preempted, u32 state)
{
	return preempted || !state || !task->__state ? TIME_RUNNABLE : blocked_state_of(state);
}

static __always_inline void add_time_spent_in_state(struct thread_time *time, u64 now)
{
	u32 state = time->state;

	if (now <= time->from.since || state >= TIME_STATES)
		return;
	time->account.spent[state] += now - time->from.since;
	time->from.since = now;
}

/*
 * Opens the account of a thread. `user` is the thread's user stack, as a STACK_FIELD_WORD(). Not
 * inlined, to have a BPF stack of its own.
 */
static __noinline struct thread_time *time_account_open(struct task_struct *task, u64 begin,
							u32 state, u64 user)
{
	u64 key = (u64)task;
	struct thread_time time = {
		.account = {.begin = begin,
			    .tid = tid_of_typed_task(task),
			    .tgid = tgid_of_typed_task(task)},
		.from = {.since = begin,
			 .user = user,
			 .switches = count_switches_of_task(task),
			 .ran = state == TIME_RUNNING ? 0 : task->se.sum_exec_runtime},
		.state = state,
		.waits = task->nvcsw,
	};
	long error = bpf_map_update_elem(&thread_times, &key, &time, BPF_NOEXIST);

	if (error && error != -EEXIST)
		atomic_add_relaxed(&time_rest.untimed, 1);
	return bpf_map_lookup_elem(&thread_times, &key);
}

static __always_inline void time_add_to_unsent_sum(const struct thread_account *account, u64 end)
{
	u32 i;

	atomic_add_relaxed(&time_rest.threads, 1);
	atomic_add_relaxed(&time_rest.life, end - account->begin);
#pragma clang loop unroll(full)
	for (i = 0; i < TIME_STATES; i++)
		atomic_add_relaxed(&time_rest.spent[i], account->spent[i]);
}

/*
 * Sends an account to user space; the account ends at the time to which add_time_spent_in_state()
 * was last called. Not inlined, to have a BPF stack of its own.
 */
static __noinline void time_account_close(const struct thread_time *time)
{
	struct thread_account *account =
		bpf_ringbuf_reserve(&ended_times, sizeof(struct thread_account), 0);

	if (!account) {
		time_add_to_unsent_sum(&time->account, time->from.since);
		return;
	}
	*account = time->account;
	account->end = time->from.since;
	bpf_ringbuf_submit(account, BPF_RB_NO_WAKEUP);
}

/*
 * Splits the account of the running thread if the thread has taken another id. A thread that is
 * dying has given its id to the thread that called execve.
 */
static __always_inline void time_account_split(const struct task_struct *task,
					       struct thread_time *time, u64 now)
{
	u32 tid = tid_of_typed_task(task), i;

	if (!tid || tid == time->account.tid || task->flags & PF_EXITING)
		return;
	add_time_spent_in_state(time, time->exec && time->exec < now ? time->exec : now);
	time_account_close(time);
	time->account.begin = time->from.since;
	time->account.stolen = 0;
	time->account.tid = tid;
	time->account.tgid = tgid_of_typed_task(task);
#pragma clang loop unroll(full)
	for (i = 0; i < TIME_STATES; i++)
		time->account.spent[i] = 0;
}

/* Notes the time that the kernel has not counted as the thread's own while the thread ran. */
static __always_inline void time_account_note_stolen_time(const struct task_struct *task,
							  struct thread_time *time, u64 now)
{
	if (time->from.ran)
		time->account.stolen +=
			now - time->from.since - (task->se.sum_exec_runtime - time->from.ran);
}

static __always_inline u64 time_take_user_stack(const struct task_struct *task, u32 cpu,
						u64 *generation, bool *wanted)
{
	u64 user = STACK_FIELD_WORD(REASON_NO_STATE, STATE_NONE);
	struct scratch *scratch;

	if (!config.user_stacks)
		return STACK_FIELD_WORD(REASON_NOT_ASKED, STATE_NONE);
	if (!task->mm || (records_ids_of_inner_pid_namespace() && !current_tid()))
		return STACK_FIELD_WORD(REASON_REFUSED, STATE_NONE);
	scratch = scratch_claim(cpu);
	if (!scratch)
		return user;
	user = off_cpu_take_user_stack(scratch, cpu, generation);
	*wanted = is_callback_wanted(scratch);
	scratch_release(scratch);
	return user;
}

static __always_inline u32 event_kind_of_state(u32 state)
{
	if (state == TIME_RUNNABLE)
		return config.time_kinds[TIME_RUNNABLE];
	if (state == TIME_INTERRUPTIBLE)
		return config.time_kinds[TIME_INTERRUPTIBLE];
	return config
		.time_kinds[state == TIME_UNINTERRUPTIBLE ? TIME_UNINTERRUPTIBLE : TIME_STOPPED];
}

/*
 * Reserves a slot, or a row of counts, for the event of a wait (event_begin()). 0: the event is
 * lost, or the recording leaves out waits of this state.
 */
static __always_inline u64 time_wait_reserve(u32 state, struct scratch *scratch, u32 cpu)
{
	u32 kind = event_kind_of_state(state);

	if (kind == TIME_KIND_NONE || !record_trigger_unless_stopped(kind))
		return 0;
	return event_begin(scratch, cpu, kind);
}

static __always_inline void time_wait_write(u64 position, const struct task_struct *task, u32 tid,
					    u32 state, u64 begin, u64 end, struct scratch *scratch,
					    u32 cpu, struct stack_field kernel,
					    struct stack_field user)
{
	struct event_slot *slot = event_slot_of(scratch);

	if (!position)
		return;
	if (end < begin)
		end = begin;
	slot->tid = tid;
	slot->stamp =
		STAMP_OF(end, event_kind_of_state(state), EVENT_FLAGS(kernel.state, user.state));
	slot->kernel = kernel.value;
	slot->user = user.value;
	if (config.leaf)
		slot->extra[0] = 0;
	slot->extra[config.leaf] = end - begin;
	scratch->position = position;
	event_commit(scratch, cpu);
	origin_record_for_task(task, scratch, cpu, end);
}

/* True if the task has not run since its account changed last. */
static __always_inline bool is_task_still_in_same_wait(const struct task_struct *task,
						       const struct thread_time *time)
{
	return !is_on_cpu(task) && count_switches_of_task(task) == time->from.switches;
}

/*
 * Both event slots are reserved before the stack is stored, because the stack may need slots after
 * them.
 */
static __always_inline void time_write_waits(struct task_struct *task,
					     const struct thread_time *time,
					     struct scratch *scratch, u32 cpu, u64 now,
					     bool has_stack)
{
	struct stack_field kernel = stack_field_of_reason(REASON_CHANGED), user;
	u64 blocked_at = 0, at;

	if (time->blocked_since)
		blocked_at = time_wait_reserve(time->blocked_state, scratch, cpu);
	at = time_wait_reserve(time->state, scratch, cpu);
	if (!blocked_at && !at)
		return;
	if (has_stack)
		kernel = off_cpu_kernel_stack(task, scratch, cpu);
	user = off_cpu_user_stack_field(&time->from);
	time_wait_write(blocked_at, task, time->account.tid, time->blocked_state,
			time->blocked_since, time->from.since, scratch, cpu, kernel, user);
	time_wait_write(at, task, time->account.tid, time->state, time->from.since, now, scratch,
			cpu, kernel, user);
}

/* Records the waits of a thread that end at `now`. */
static __noinline void time_record_waits(struct task_struct *task, const struct thread_time *time,
					 u32 cpu, u64 now, bool has_stack)
{
	struct scratch *scratch = scratch_claim(cpu);

	if ((time->blocked_since ?: time->from.since) == time_begin)
		atomic_add_relaxed(&waits_before, 1);
	if (!scratch) {
		count_event_without_scratch_slot(cpu, event_kind_of_state(time->state));
		if (time->blocked_since)
			count_event_without_scratch_slot(cpu,
							 event_kind_of_state(time->blocked_state));
		return;
	}
	time_write_waits(task, time, scratch, cpu, now, has_stack);
	scratch_release(scratch);
}

/*
 * Returns how long the thread has run since its account changed last, by the kernel's own count. A
 * kernel may keep programs away from switches, such as those of a virtual machine's agent: the
 * kernel then neither calls the programs nor counts them as skipped.
 */
static __always_inline u64 run_time_at_unseen_switches(const struct task_struct *task,
						       const struct thread_time *time, u64 now)
{
	u64 ran = task->se.sum_exec_runtime - time->from.ran, past = now - time->from.since;

	return !time->from.ran ? 0 : ran < past ? ran : past;
}

/*
 * The thread leaves its CPU, but no program has seen the thread begin to run. The running time
 * that the kernel counted is taken to lie at the end of the wait.
 */
static __always_inline void time_add_unseen_run_at_end(struct task_struct *task,
						       struct thread_time *time, u32 cpu, u64 now)
{
	u64 began = now - run_time_at_unseen_switches(task, time, now);

	time_record_waits(task, time, cpu, began, false);
	add_time_spent_in_state(time, began);
	time->state = TIME_RUNNING;
	time->blocked_since = 0;
	time->from.ran = 0;
	atomic_add_relaxed(&time_rest.unseen, 1);
}

/*
 * The thread does not run, but no program has seen the thread leave its CPU. The running time that
 * the kernel counted is taken to lie at the beginning of the time since the last change.
 */
static __always_inline void time_add_unseen_run_at_begin(const struct task_struct *task,
							 struct thread_time *time, u64 now)
{
	add_time_spent_in_state(time,
				time->from.since + run_time_at_unseen_switches(task, time, now));
	time->state = task->nvcsw != time->waits ? TIME_INTERRUPTIBLE : TIME_RUNNABLE;
	time->from.user = STACK_FIELD_WORD(REASON_CHANGED, STATE_NONE);
	time->from.switches = count_switches_of_task(task);
	atomic_add_relaxed(&time_rest.unseen, 1);
}

/*
 * Opens the account of a thread that runs. The thread existed when the recording began, or passes
 * the filters only since then.
 */
static __always_inline struct thread_time *
open_time_account_of_running_task(struct task_struct *task, u64 now)
{
	if (!task_passes_filters(task))
		return NULL;
	return time_account_open(task, atomic_load_relaxed(&time_seeded) ? now : time_begin,
				 TIME_RUNNING, STACK_FIELD_WORD(REASON_BEFORE, STATE_NONE));
}

/* Applies the filters by name and cgroup again, because both can change. */
static __always_inline bool is_time_account_still_wanted(const struct task_struct *task)
{
	return (!config.by_comm && !config.cgroup) || task_passes_filters(task);
}

/* The current task leaves its CPU. True if the program must call tail_call_callback_scheduler() at
 * its end. */
static __always_inline bool time_account_end_running(struct task_struct *task, bool preempted,
						     u32 state, u32 cpu, u64 now)
{
	u64 key = (u64)task;
	struct thread_time *time = bpf_map_lookup_elem(&thread_times, &key);
	bool wanted = false;

	if (!task->pid)
		return false;
	if (!time)
		time = open_time_account_of_running_task(task, now);
	if (!time)
		return false;
	if (time->state != TIME_RUNNING)
		time_add_unseen_run_at_end(task, time, cpu, now);
	time_account_note_stolen_time(task, time, now);
	time_account_split(task, time, now);
	add_time_spent_in_state(time, now);
	time->exec = 0;
	if ((!preempted && state & TASK_DEAD) || !is_time_account_still_wanted(task)) {
		time_account_close(time);
		bpf_map_delete_elem(&thread_times, &key);
		return false;
	}
	time->state = task_state_after_leaving_cpu(task, preempted, state);
	time->from.switches = count_switches_of_task(task);
	time->waits = task->nvcsw;
	time->from.ran = task->se.sum_exec_runtime;
	time->from.user = time_take_user_stack(task, cpu, &time->from.generation, &wanted);
	return wanted;
}

/*
 * Opens the account of a waiting thread that existed when the recording began, at the first change
 * of its state.
 */
static __always_inline struct thread_time *
open_time_account_of_waiting_task(struct task_struct *task, u32 state)
{
	if (atomic_load_relaxed(&time_seeded) || !task->pid || !task_passes_filters(task))
		return NULL;
	return time_account_open(task, time_begin, state,
				 STACK_FIELD_WORD(REASON_BEFORE, STATE_NONE));
}

static __always_inline bool is_blocked_state(u32 state)
{
	return state > TIME_RUNNABLE;
}

/* A thread is put into a run queue: it becomes runnable. */
static __always_inline void time_account_begin_runnable(struct task_struct *task, u64 now)
{
	u64 key = (u64)task;
	struct thread_time *time = bpf_map_lookup_elem(&thread_times, &key);

	if (!time)
		time = open_time_account_of_waiting_task(task, TIME_INTERRUPTIBLE);
	if (!time || !is_blocked_state(time->state))
		return;
	time->blocked_since = time->from.since;
	time->blocked_state = time->state;
	add_time_spent_in_state(time, now);
	time->state = TIME_RUNNABLE;
}

/* Ends the waits of a task that is about to run on this CPU. */
static __always_inline void time_account_begin_running(struct task_struct *task, u32 cpu, u64 now)
{
	u64 key = (u64)task;
	struct thread_time *time = bpf_map_lookup_elem(&thread_times, &key);

	if (!time)
		time = open_time_account_of_waiting_task(task, TIME_RUNNABLE);
	if (!time)
		return;
	if (time->state == TIME_RUNNING)
		time_add_unseen_run_at_begin(task, time, now);
	time_record_waits(task, time, cpu, now, true);
	add_time_spent_in_state(time, now);
	time->state = TIME_RUNNING;
	time->blocked_since = 0;
	time->waits = task->nvcsw;
	time->from.ran = task->se.sum_exec_runtime;
}

/*
 * The current task has executed another program. The task may lose its CPU at any time here, so the
 * account is not changed; time_account_end_running() changes it.
 */
static __always_inline void time_account_note_exec(struct task_struct *task, u64 now)
{
	u64 key = (u64)task;
	struct thread_time *time = bpf_map_lookup_elem(&thread_times, &key);

	if (time)
		atomic_store_relaxed(&time->exec, now);
	else if (task_passes_filters(task))
		time_account_open(task, now, TIME_RUNNING,
				  STACK_FIELD_WORD(REASON_BEFORE, STATE_NONE));
}

/* Opens the account of a task when recording begins, with its state until now. */
static __always_inline void time_account_open_at_recording_begin(struct task_struct *task,
								 bool asks_user_stack)
{
	u64 key = (u64)task, user = STACK_FIELD_WORD(REASON_BEFORE, STATE_NONE);
	u32 now = task->__state, state = TIME_RUNNING;

	if (!task_passes_filters(task) || now & TASK_DEAD ||
	    bpf_map_lookup_elem(&thread_times, &key))
		return;
	if (!is_on_cpu(task)) {
		state = now ? blocked_state_of(now) : TIME_RUNNABLE;
		user = user_stack_of_waiting_task(task, asks_user_stack);
	}
	time_account_open(task, time_begin, state, user);
	if (task->__state & TASK_DEAD)
		bpf_map_delete_elem(&thread_times, &key);
}

/* Records the wait of a task when recording ends, at time_end. */
static __always_inline void record_unfinished_wait_of_account(struct task_struct *task)
{
	u64 key = (u64)task, now = time_end;
	struct thread_time *time = bpf_map_lookup_elem(&thread_times, &key);

	if (time && time->state == TIME_RUNNING && !is_on_cpu(task) &&
	    count_switches_of_task(task) != time->from.switches)
		time_add_unseen_run_at_begin(task, time, now);
	if (!time || time->state == TIME_RUNNING)
		return;
	time_record_waits(task, time, bpf_get_smp_processor_id(), now,
			  is_task_still_in_same_wait(task, time));
	time->is_recorded = 1;
	unfinished_waits++;
}

#endif
