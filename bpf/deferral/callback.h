/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scheduling of callbacks in an instance with rings, by programs that do only this. For the
 * scheduling call the verifier goes through all code of the callback, the whole unwinder, so the
 * programs of events do not contain the call. A program that has left a cookie in its event ends
 * with a tail call. A tail call stays within one type of programs and of attaching (for typed
 * tracepoints, within one tracepoint): each type has a scheduling program and an array of its own,
 * into which user space puts the program. fentry programs have no such program: they are used on
 * kernels without task work.
 *
 * The array may be empty: the program is still being loaded, the kernel has refused it, or its
 * instance is about to end. The request is then served as on kernels without task work.
 */
#ifndef BPF_CALLBACK_H
#define BPF_CALLBACK_H

#include "deferred_stack.h"
#include "deliver.h"
#include "request.h"

/* Has the callback scheduled by tail_call_callback_scheduler(), at the end of the program. */
static __always_inline int ensure_callback_is_scheduled(struct scratch *scratch, u32 tid,
							const struct deferral *deferral)
{
	scratch->wants_callback = 1;
	return -EBUSY;
}

/*
 * True if the program must end with tail_call_callback_scheduler(). Call this before the scratch
 * slot is released.
 */
static __always_inline bool is_callback_wanted(const struct scratch *scratch)
{
	return config.deferral == DEFERRAL_TASK_WORK && config.user_stacks &&
	       config.user_unwind == USER_UNWIND_AUTO && scratch->wants_callback;
}

/*
 * cancel_callback_and_take_cookie() and end_delivery_of_cancelled_cookie() are not inlined: their
 * BPF stacks are free again when the task's stack is copied. A request that another entry into the
 * kernel has made keeps its callback: the program that made the request has scheduled it.
 */
__noinline u32 cancel_callback_and_take_cookie(u32 tid)
{
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);
	struct kernel_entry entry = current_kernel_entry();

	bpf_map_delete_elem(&unlearned, &tid);
	if (!deferral || !is_same_kernel_entry(&deferral->entry, &entry))
		return 0;
	return begin_pending_delivery(deferral);
}

__noinline int end_delivery_of_cancelled_cookie(u32 tid, u32 cookie)
{
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);

	if (deferral)
		deferred_stack_end_delivery(deferral, bpf_map_lookup_elem(&engine_tasks, &tid),
					    cookie);
	return 0;
}

/*
 * Saves the user stack of the current task, for which a cookie is pending, so that user space can
 * finish the stack.
 */
static __always_inline void pending_stack_save(struct scratch *scratch, u32 cpu, u32 tid,
					       u32 cookie)
{
	if (!set_search_to_current_address_space(&scratch->search)) {
		deferred_stack_send_reason(scratch, cpu, tid, cookie, REASON_REFUSED);
		return;
	}
	deferred_stack_send_memory(scratch, cpu, tid, cookie);
	read_noted_build_ids(&scratch->search);
}

/*
 * Serves a request without callback: no program schedules one, or the kernel has no memory for it.
 */
static __always_inline int serve_without_callback(u32 tid, bool is_refused)
{
	u32 cpu = bpf_get_smp_processor_id(), cookie = cancel_callback_and_take_cookie(tid);
	struct scratch *scratch;

	if (!cookie)
		return 0;
	scratch = scratch_claim(cpu);
	if (!scratch)
		deferred_stack_report_lost(tid, cookie);
	else if (is_refused)
		deferred_stack_send_reason(scratch, cpu, tid, cookie, REASON_NO_STATE);
	else
		pending_stack_save(scratch, cpu, tid, cookie);
	if (scratch)
		scratch_release(scratch);
	return end_delivery_of_cancelled_cookie(tid, cookie);
}

/*
 * Ends a program of events: a tail call of the program that schedules the callback, if one is
 * wanted.
 */
static __always_inline int tail_call_callback_scheduler(void *ctx, void *programs, bool wanted)
{
	if (!wanted)
		return 0;
	bpf_tail_call(ctx, programs, 0);
	return serve_without_callback(current_tid(), false);
}

__noinline int serve_request_of_refused_callback(u32 tid)
{
	return serve_without_callback(tid, true);
}

static __always_inline int callback_schedule_now(void)
{
	u32 tid = current_tid();
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);
	int error = deferral ? callback_schedule(tid, deferral) : 0;

	if (error && error != -EBUSY)
		serve_request_of_refused_callback(tid);
	return 0;
}

/*
 * Called by on_sample. If on_sample is loaded only once (config.schedules), it schedules the
 * callback itself and the scheduling program is not loaded, so the kernel verifies the code that
 * both have in common once. Otherwise on_sample calls the scheduling program by a tail call.
 */
static __always_inline int schedule_callback_or_tail_call(void *ctx, void *programs, bool wanted)
{
	if (wanted && config.schedules)
		return callback_schedule_now();
	return tail_call_callback_scheduler(ctx, programs, wanted);
}

/*
 * Declares, for a type of programs and of attaching, the scheduling program and the array that
 * holds it.
 */
#define CALLBACKS(name, section)                                                                   \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_PROG_ARRAY);                                             \
		__uint(max_entries, 1);                                                            \
		__uint(key_size, sizeof(u32));                                                     \
		__uint(value_size, sizeof(u32));                                                   \
	} callbacks_##name SEC(".maps");                                                           \
	SEC(section)                                                                               \
	int defer_##name(void *ctx)                                                                \
	{                                                                                          \
		return callback_schedule_now();                                                    \
	}

CALLBACKS(perf_event, "stackmap.perf_event")
CALLBACKS(raw_tp, "stackmap.raw_tp")
CALLBACKS(tracepoint, "stackmap.tracepoint")
CALLBACKS(kprobe, "stackmap.kprobe")
CALLBACKS(kprobe_multi, "stackmap.kprobe.multi")
CALLBACKS(uprobe_multi, "stackmap.uprobe") /* user space sets the attach type */
CALLBACKS(switch, "tp_btf/sched_switch")
CALLBACKS(wake, "tp_btf/sched_waking")

#endif
