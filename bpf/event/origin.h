/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --origins: the stacks of the task that queued what a kernel worker, an io_uring worker or a timer
 * now does.
 *
 *   a work item, timer or request is queued    object -> origin                  origins
 *   a worker begins a work item                task of the worker -> origin      origin_works
 *   a timer's callback begins                  CPU -> origin                     origin_calls
 *   an event                                   a second event, with the origin's thread and stacks
 *
 * Both events have the same time and CPU, by which a reader joins them (report/event/origins.h).
 * The value of the second event is the time since the object was queued.
 *
 * An object that a timer's callback queues has the origin of the timer: so has a delayed work item,
 * which its timer queues, and a timer that starts itself again. A work item that queues itself
 * keeps its origin as well.
 *
 * The kernel skips a program that an interrupt, or a task that preempts, meets at work, so no
 * program may see the end of a callback. The origin of the callback is used only while one of these
 * facts shows that the callback still runs:
 *
 *   a work item, a timer of high resolution    a word of the kernel holds the object while its
 *                                              callback runs: struct origin, `running`
 *   a timer                                    the kernel's stack is one of a soft interrupt. Soft
 *                                              interrupts do not interrupt each other, so no end is
 *                                              skipped (but on kernels with PREEMPT_RT that let one
 *                                              preempt another: CONFIG_PREEMPT_RT_NEEDS_BH_LOCK=n)
 *
 * An event in an interrupt has no origin of what was interrupted.
 *
 * A work item leaves `origins` when a worker begins it. Objects that are cancelled or freed stay:
 * the map replaces the least recently used ones. A stack is counted in the stack map once, where
 * the object is queued.
 */
#ifndef BPF_ORIGIN_H
#define BPF_ORIGIN_H

#include "kernel/kernel_types.h"
#include "stack/stack_field.h"
#include "stack/text_kind.h"
#include "state/ring_slots.h"
#include "state/stack_tables.h"
#include "trigger_note.h"

/*
 * The interrupts on the kernel's stack of an event, by the kernel's functions (abi/config.h):
 * the kind of the innermost one, and INTERRUPTS_HARD if any of them is a hard one.
 */

#define INTERRUPTS_HARD 0x100U
#define INTERRUPTS_NOT_KNOWN 0x200U
#define INTERRUPTS_INNERMOST(interrupts) ((interrupts)&0xff)

static __always_inline bool is_in_hard_interrupt(u32 interrupts)
{
	return interrupts & INTERRUPTS_HARD;
}

/* True if the innermost interrupt is a soft one, or its kind is not known. */
static __always_inline bool may_be_soft_interrupt(u32 interrupts)
{
	return interrupts & INTERRUPTS_NOT_KNOWN ||
	       INTERRUPTS_INNERMOST(interrupts) == TEXT_SOFT_INTERRUPT;
}

static long note_interrupt_kind_of_frame(u32 i, struct scratch **context)
{
	struct scratch *scratch = *context;
	u32 kind;

	core_one_register(i);
	if (i >= STACK_KERNEL_DEPTH_MAX || i >= scratch->kernel.depth)
		return 1;
	kind = text_kind(scratch, scratch->kernel.word[i]);
	if (kind == TEXT_SOFT_INTERRUPT && !scratch->interrupts)
		scratch->interrupts = TEXT_SOFT_INTERRUPT;
	if (kind != TEXT_INTERRUPT)
		return 0;
	if (!scratch->interrupts)
		scratch->interrupts = TEXT_INTERRUPT;
	scratch->interrupts |= INTERRUPTS_HARD;
	return 1;
}

/* Sets scratch->interrupts by scratch->kernel. A global function: verified by itself. */
__noinline int interrupts_find(struct scratch *scratch)
{
	if (!scratch)
		return 0;
	scratch->interrupts = 0;
	bpf_loop(STACK_KERNEL_DEPTH_MAX, note_interrupt_kind_of_frame, &scratch, 0);
	return 0;
}

/*
 * The origin of each queued work item, request or timer, by the object's address. User space sets
 * the size.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, struct origin);
} origins SEC(".maps");

HASH_MAP(origin_works, 1, u64, struct origin);	     /* key: address of the worker's task_struct */
ARRAY_MAP(origin_calls, 1, struct origin_cpu_calls); /* index: CPU */

/*
 * True if the word at `running` still holds `object`, or if `running` is 0 (no such word is known).
 * False: the object's callback has ended, although no program saw its end.
 */
static __always_inline bool is_callback_of_origin_running(u64 running, u64 object)
{
	u64 word = 0;

	return !running ||
	       (!bpf_probe_read_kernel(&word, sizeof(word), (void *)running) && word == object);
}

/*
 * Sets *out to the origin of the innermost timer callback that the current task runs. False: the
 * task runs no timer callback, or the origin of the callback is not known. A soft interrupt may be
 * preempted by other tasks with PREEMPT_RT, so the task is compared. A CPU sample is taken in the
 * callback of a high-resolution timer, and belongs to what this timer has interrupted.
 */
static __always_inline bool origin_of_timer_call(u32 interrupts, u32 cpu, bool is_sample,
						 struct origin *out)
{
	struct origin_cpu_calls *calls = bpf_map_lookup_elem(&origin_calls, &cpu);
	u64 task = bpf_get_current_task();
	u32 i;

	if (!calls)
		return false;
#pragma clang loop unroll(full)
	for (i = ORIGIN_CALLS; i > 0; i--) {
		if (calls->call[i - 1].task != task || !calls->call[i - 1].origin.object ||
		    (is_sample && calls->call[i - 1].is_hrtimer) ||
		    (i - 1 != ORIGIN_CALL_HARD && !may_be_soft_interrupt(interrupts)) ||
		    !is_callback_of_origin_running(calls->call[i - 1].origin.running,
						   calls->call[i - 1].origin.object))
			continue;
		if (!calls->call[i - 1].origin.time)
			return false;
		*out = calls->call[i - 1].origin;
		return true;
	}
	return false;
}

/*
 * Sets *out to the origin of an object. The map may give the element to another object during the
 * copy: then the second lookup has another result, and the function returns false.
 */
static __always_inline bool origin_of_object(u64 object, struct origin *out)
{
	const struct origin *found = bpf_map_lookup_elem(&origins, &object);

	if (!found)
		return false;
	*out = *found;
	return bpf_map_lookup_elem(&origins, &object) == found && out->object == object;
}

/*
 * Returns the address of the request that an io_uring worker serves; 0: the task is not an io_uring
 * worker.
 */
static __always_inline u64 io_uring_request_of_worker(const struct task_struct *task)
{
	const struct io_worker *worker;

	if (!(BPF_CORE_READ(task, flags) & PF_IO_WORKER))
		return 0;
	worker = BPF_CORE_READ(task, worker_private);
	return worker && bpf_core_field_exists(worker->cur_work)
		       ? (u64)BPF_CORE_READ(worker, cur_work)
		       : 0;
}

static __always_inline bool origin_of_task(u64 task, struct origin *out)
{
	const struct origin *work = bpf_map_lookup_elem(&origin_works, &task);
	u64 request;

	if (work) {
		*out = *work;
		return is_callback_of_origin_running(out->running, out->object);
	}
	request = io_uring_request_of_worker((const void *)task);
	return request && origin_of_object(request, out);
}

static __always_inline bool origin_find(const struct scratch *scratch, u32 cpu, bool is_sample,
					struct origin *out)
{
	u64 task = scratch->origin_task;

	if ((!task || task == bpf_get_current_task()) &&
	    origin_of_timer_call(scratch->interrupts, cpu, is_sample, out))
		return true;
	return task && !is_in_hard_interrupt(scratch->interrupts) && origin_of_task(task, out);
}

/*
 * The stack field of an origin's stack. A stack id that belongs to an older generation of the map
 * becomes REASON_GONE.
 */
static __always_inline struct stack_field origin_stack_field(const struct origin *origin, u64 word)
{
	struct stack_field field = stack_field_of_word(word);
	void *table = current_stack_table();

	if (field.state == STATE_ID && (!table || table_generation(table) != origin->generation))
		return stack_field_of_reason(REASON_GONE);
	return field;
}

/*
 * Records the origin of the event that was written last: the stacks of the task that queued the
 * work in which the event occurred. Does nothing if the origin is not known. A global
 * function: verified once for all programs, and empty without --origins.
 */
__noinline int origin_record(struct scratch *scratch, u32 cpu, u64 time, u32 is_sample)
{
	struct stack_field kernel, user;
	struct event_slot *slot;
	struct origin origin;

	if (!config.origins || !scratch || !origin_find(scratch, cpu, is_sample, &origin))
		return 0;
	/* the trigger is only noted: the event itself was recorded */
	record_trigger_unless_stopped(config.origin_kind);
	if (!event_begin(scratch, cpu, config.origin_kind))
		return 0;
	slot = event_slot_of(scratch);
	kernel = origin_stack_field(&origin, origin.kernel);
	user = origin_stack_field(&origin, origin.user);
	slot->tid = origin.tid;
	slot->stamp = STAMP_OF(time, config.origin_kind, EVENT_FLAGS(kernel.state, user.state));
	slot->kernel = kernel.value;
	slot->user = user.value;
	if (config.leaf)
		slot->extra[0] = 0;
	slot->extra[config.leaf & 1] = time - origin.time;
	return event_commit(scratch, cpu);
}

/*
 * origin_record() for an event of a task that is not the current one, whose interrupts are not
 * known.
 */
static __always_inline void origin_record_for_task(const struct task_struct *task,
						   struct scratch *scratch, u32 cpu, u64 time)
{
	if (!config.origins)
		return;
	scratch->origin_task = (u64)task;
	scratch->interrupts = INTERRUPTS_NOT_KNOWN;
	origin_record(scratch, cpu, time, false);
}

#endif
