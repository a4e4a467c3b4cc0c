/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tracepoints of --origins: a work item, a timer or a request is queued, and its execution
 * begins and ends (bpf/event/origin.h).
 */
#ifndef BPF_ORIGIN_QUEUE_H
#define BPF_ORIGIN_QUEUE_H

#include "emit.h"
#include "origin.h"

/* Address of the kernel's word that holds a high-resolution timer while its callback runs. */
static __always_inline u64 address_of_running_timer_word(const struct hrtimer *timer)
{
	u64 base = (u64)BPF_CORE_READ(timer, base);

	return base && bpf_core_field_exists(((struct hrtimer_clock_base *)0)->running)
		       ? base + bpf_core_field_offset(struct hrtimer_clock_base, running)
		       : 0;
}

/* Address of the worker's word that holds the work item which the worker executes. */
static __always_inline u64 address_of_current_work_word(u64 worker)
{
	return worker ? worker + bpf_core_field_offset(struct worker, current_work) : 0;
}

/*
 * Address of the kernel's word that holds a work item while it runs as a soft interrupt of the CPU.
 */
static __always_inline u64 address_of_soft_work_word(const struct pool_workqueue *queue)
{
	u64 node;

	if (!(BPF_CORE_READ(queue, wq, flags) & WQ_BH))
		return 0;
	node = (u64)BPF_CORE_READ(queue, pool, workers.next);
	return node ? address_of_current_work_word(node -
						   bpf_core_field_offset(struct worker, node))
		    : 0;
}

/* Keeps the origin of a work item that queues itself. False: the object is another one. */
static __always_inline bool keep_origin_of_requeued_work(u64 object)
{
	u64 task = bpf_get_current_task();
	const struct origin *work = bpf_map_lookup_elem(&origin_works, &task);

	return work && work->object == object &&
	       !bpf_map_update_elem(&origins, &object, work, BPF_ANY);
}

/*
 * True for a timer that the kernel starts again after its callback. The kernel's word still holds
 * such a timer (calls->ended_running), and the timer keeps its origin.
 */
static __always_inline bool is_restarted_timer(u64 object, u32 cpu)
{
	const struct origin_cpu_calls *calls = bpf_map_lookup_elem(&origin_calls, &cpu);

	return calls && calls->ended == object && calls->ended_running &&
	       is_callback_of_origin_running(calls->ended_running, object);
}

/* The generation is read before the stacks: an id is of this generation, or counts as gone. */
static __always_inline void origin_take_stacks(void *ctx, const struct hit *hit,
					       struct scratch *scratch, u32 cpu, u64 object,
					       u64 running)
{
	struct origin *origin = &scratch->origin;
	void *table = current_stack_table();
	struct stack_field kernel, user;

	origin->time = bpf_ktime_get_ns();
	origin->generation = table ? table_generation(table) : 0;
	kernel = kernel_stack_field(ctx, hit, scratch, cpu);
	interrupts_find(scratch);
	if (is_restarted_timer(object, cpu) ||
	    (!is_in_hard_interrupt(scratch->interrupts) && keep_origin_of_requeued_work(object)))
		return;
	origin->kernel = STACK_FIELD_WORD(kernel.value, kernel.state);
	origin->user = STACK_FIELD_WORD(REASON_INTERRUPT, STATE_NONE);
	origin->tid = TID_INTERRUPT;
	if (!origin_of_timer_call(scratch->interrupts, cpu, false, origin) &&
	    !scratch->in_interrupt) {
		origin->tid = records_ids_of_inner_pid_namespace()
				      ? scratch->tid
				      : (u32)bpf_get_current_pid_tgid();
		user = take_user_stack_of_event(hit, scratch, cpu).field;
		origin->user = STACK_FIELD_WORD(user.value, user.state);
	}
	origin->object = object;
	origin->running = running;
	if (!bpf_map_update_elem(&origins, &object, origin, BPF_ANY))
		return;
	bpf_map_delete_elem(&origins, &object);
	scratch->counters.produced++;
	scratch->counters.lost[LOST_NO_MEMORY]++;
	count_source_loss(cpu, config.origin_kind);
}

/*
 * Records that an object (work item, timer, request) is queued. `running`: address of the word that
 * holds the object while it runs (struct origin), or 0 if that address is known only when the
 * callback begins. True: the user stack needs a callback (tail_call_callback_scheduler()).
 */
static __always_inline bool origin_object_queued(void *ctx, u64 object, u64 running)
{
	struct hit hit = {.skip = SKIP_RAW_TRACEPOINT, .is_waker = true};
	u32 cpu = bpf_get_smp_processor_id();
	struct scratch *scratch;
	u32 is_paused = paused;
	bool wanted;

	scratch = is_paused ? NULL : scratch_claim(cpu);
	if (!scratch) {
		/* The map may still have the origin of an earlier queueing, by another task. */
		if (!is_restarted_timer(object, cpu))
			bpf_map_delete_elem(&origins, &object);
		return is_paused ? false
				 : count_event_without_scratch_slot(cpu, config.origin_kind);
	}
	scratch->position = POSITION_ASIDE;
	event_read_tid(&hit, scratch);
	origin_take_stacks(ctx, &hit, scratch, cpu, object, running);
	wanted = is_callback_wanted(scratch);
	scratch_release(scratch);
	return wanted;
}

/* Index, in origin_cpu_calls, of the callback that a soft interrupt runs now. With PREEMPT_RT soft
 * interrupts run in tasks, and several tasks of a CPU may have begun one, so the index depends on
 * the current task `task`; otherwise the index is 0. */
static __always_inline u32 soft_interrupt_call_index(u64 task)
{
	if (!bpf_core_field_exists(((struct task_struct___rt *)0)->softirq_disable_cnt))
		return 0;
	return (u32)(task >> 8) % ORIGIN_CALL_HARD;
}

/*
 * Records the begin of a callback. A callback that runs inside another one hides the origin of the
 * other one, even if its own origin is not known.
 *
 * A callback overwrites an element of calls->call whose callback ended unseen. The element holds no
 * callback that still runs, because hard interrupts do not nest, and neither do the soft interrupts
 * of one task.
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
							     : soft_interrupt_call_index(task);
	core_one_register(place);
	place &= ORIGIN_CALLS - 1;
	atomic_store_release(&calls->call[place].task, 0);
	origin = &calls->call[place].origin;
	if (!origin_of_object(object, origin))
		origin->time = origin->running = 0;
	if (is_hrtimer)
		origin->running = address_of_running_timer_word(timer);
	calls->call[place].is_hrtimer = is_hrtimer;
	origin->object = object;
	atomic_store_release(&calls->call[place].task, task);
}

/* Records the end of a callback. The object (timer or work item) may be freed already. */
static __always_inline void origin_call_end(u64 object)
{
	u32 cpu = bpf_get_smp_processor_id(), place = ORIGIN_CALL_HARD;
	struct origin_cpu_calls *calls = bpf_map_lookup_elem(&origin_calls, &cpu);

	if (!calls)
		return;
	if (calls->call[place].origin.object != object)
		place = soft_interrupt_call_index(bpf_get_current_task());
	core_one_register(place);
	place &= ORIGIN_CALLS - 1;
	if (calls->call[place].origin.object != object)
		return;
	calls->call[place].origin.object = 0;
	atomic_store_release(&calls->call[place].task, 0);
	calls->ended = object;
	calls->ended_running = calls->call[place].origin.running;
}

/*
 * Records that a worker begins a work item. Work items of soft interrupts run in any task, as
 * timers do, and are recorded as callbacks.
 */
static __always_inline void origin_work_begin(u64 object)
{
	const struct task_struct *worker = (void *)bpf_get_current_task();
	const struct kthread *thread;
	struct origin origin = {};
	u64 task = (u64)worker, running = 0;

	if (BPF_CORE_READ(worker, flags) & PF_WQ_WORKER) {
		thread = BPF_CORE_READ(worker, worker_private);
		running = address_of_current_work_word((u64)BPF_CORE_READ(thread, data));
	}
	if (!running || !is_callback_of_origin_running(running, object)) {
		origin_call_begin(object, false);
		return;
	}
	if (!origin_of_object(object, &origin)) {
		bpf_map_delete_elem(&origin_works, &task);
		return;
	}
	origin.running = running;
	if (bpf_map_update_elem(&origin_works, &task, &origin, BPF_ANY))
		return;
	/*
	 * The origin is deleted because it would be wrong for the next queueing of the work item,
	 * which may be missed, as when an interrupt hits on_queue_work().
	 */
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
