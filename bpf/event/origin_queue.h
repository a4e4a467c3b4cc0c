/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tracepoints of --origins: a work item, a timer or a request is queued, and its execution
 * begins and ends (bpf/event/origin.h).
 */
#ifndef BPF_ORIGIN_QUEUE_H
#define BPF_ORIGIN_QUEUE_H

#include "emit.h"
#include "origin.h"

/* Keeps the origin of a work item that queues itself. False: the object is another one. */
static __always_inline bool keep_origin_of_requeued_work(u64 object)
{
	u64 task = bpf_get_current_task();
	const struct origin *work = bpf_map_lookup_elem(&origin_works, &task);

	return work && work->object == object &&
	       !bpf_map_update_elem(&origins, &object, work, BPF_ANY);
}

/* True for a timer that the kernel starts again after its callback: the timer keeps its origin. */
static __always_inline bool is_started_again(u64 object, u32 cpu)
{
	const struct origin_cpu_calls *calls = bpf_map_lookup_elem(&origin_calls, &cpu);

	return calls && calls->ended == object;
}

/* The generation is read before the stacks: an id is of this generation, or counts as gone. */
static __always_inline void origin_take(void *ctx, const struct hit *hit, struct scratch *scratch,
					u32 cpu, u64 object)
{
	struct origin *origin = &scratch->origin;
	void *table = table_current();
	struct stack_field kernel, user;

	origin->time = bpf_ktime_get_ns();
	origin->generation = table ? table_generation(table) : 0;
	kernel = kernel_field(ctx, hit, scratch, cpu);
	origin->kernel = STACK_FIELD_WORD(kernel.value, kernel.state);
	origin->user = STACK_FIELD_WORD(REASON_INTERRUPT, STATE_NONE);
	origin->tid = TID_INTERRUPT;
	if (!scratch->in_interrupt) {
		origin->tid = in_pid_namespace() ? scratch->tid : (u32)bpf_get_current_pid_tgid();
		user = user_take(hit, scratch, cpu).field;
		origin->user = STACK_FIELD_WORD(user.value, user.state);
	} else if (is_started_again(object, cpu)) {
		return;
	} else {
		origin_of_call(cpu, false, origin);
	}
	origin->object = object;
	if (!bpf_map_update_elem(&origins, &object, origin, BPF_ANY))
		return;
	bpf_map_delete_elem(&origins, &object);
	scratch->counters.produced++;
	scratch->counters.lost[LOST_NO_MEMORY]++;
}

/* An object is queued. True: its user stack needs a callback (callback_go()). */
static __always_inline bool origin_queued(void *ctx, u64 object)
{
	struct hit hit = {.skip = SKIP_RAW_TRACEPOINT, .is_waker = true};
	u32 cpu = bpf_get_smp_processor_id();
	struct scratch *scratch;
	u32 is_paused = paused;
	bool wanted;

	if (keep_origin_of_requeued_work(object))
		return false;
	scratch = is_paused ? NULL : scratch_claim(cpu);
	if (!scratch) {
		/* Another task may have queued the object before. */
		if (!is_started_again(object, cpu))
			bpf_map_delete_elem(&origins, &object);
		return is_paused ? false : scratch_refuse(cpu);
	}
	scratch->position = POSITION_ASIDE;
	event_task(&hit, scratch);
	origin_take(ctx, &hit, scratch, cpu, object);
	wanted = callback_wanted(scratch);
	scratch_release(scratch);
	return wanted;
}

/* The place of a callback in a soft interrupt. */
static __always_inline u32 soft_call_place(u64 task)
{
	if (!bpf_core_field_exists(((struct task_struct___rt *)0)->softirq_disable_cnt))
		return 0;
	return (u32)(task >> 8) % ORIGIN_CALL_HARD;
}

/*
 * A callback inside another one hides the other's origin, even if its own is not known.
 *
 * The end of a callback may not be seen: the kernel skips a program that an interrupt meets at
 * work. The next callback overwrites the place then. Its place holds no callback that still runs,
 * because hard interrupts do not nest, and neither do the soft interrupts of one task.
 */
static __always_inline void origin_call_begin(u64 object, bool is_hrtimer)
{
	u32 cpu = bpf_get_smp_processor_id(), place;
	struct origin_cpu_calls *calls = bpf_map_lookup_elem(&origin_calls, &cpu);
	const struct hrtimer *timer = (void *)object;
	u64 task = bpf_get_current_task();
	struct origin *origin;

	if (!calls)
		return;
	place = is_hrtimer && !BPF_CORE_READ(timer, is_soft) ? ORIGIN_CALL_HARD
							     : soft_call_place(task);
	core_one_register(place);
	place &= ORIGIN_CALLS - 1;
	atomic_store_release(&calls->call[place].task, 0);
	origin = &calls->call[place].origin;
	if (!origin_of_object(object, origin))
		origin->time = 0;
	calls->call[place].is_hrtimer = is_hrtimer;
	origin->object = object;
	atomic_store_release(&calls->call[place].task, task);
}

/* The object may be freed already. */
static __always_inline void origin_call_end(u64 object)
{
	u32 cpu = bpf_get_smp_processor_id(), place = ORIGIN_CALL_HARD;
	struct origin_cpu_calls *calls = bpf_map_lookup_elem(&origin_calls, &cpu);

	if (!calls)
		return;
	if (calls->call[place].origin.object != object)
		place = soft_call_place(bpf_get_current_task());
	core_one_register(place);
	place &= ORIGIN_CALLS - 1;
	if (calls->call[place].origin.object != object)
		return;
	calls->call[place].origin.object = 0;
	atomic_store_release(&calls->call[place].task, 0);
	calls->ended = object;
}

/* A worker begins a work item. Work items of soft interrupts run in any task, as timers do. */
static __always_inline void origin_work_begin(u64 object)
{
	const struct task_struct *worker = (void *)bpf_get_current_task();
	struct origin origin = {};
	u64 task = (u64)worker;

	if (!(BPF_CORE_READ(worker, flags) & PF_WQ_WORKER) ||
	    bpf_map_lookup_elem(&origin_works, &task)) {
		origin_call_begin(object, false);
		return;
	}
	if (!origin_of_object(object, &origin) ||
	    bpf_map_update_elem(&origin_works, &task, &origin, BPF_NOEXIST))
		return;
	/* The next queueing may be missed, as in an interrupt of on_queue_work(). */
	bpf_map_delete_elem(&origins, &object);
}

static __always_inline void origin_work_end(u64 object)
{
	u64 task = bpf_get_current_task();
	const struct origin *work = bpf_map_lookup_elem(&origin_works, &task);

	if (work && work->object == object)
		bpf_map_delete_elem(&origin_works, &task);
	else
		origin_call_end(object);
}

#endif
