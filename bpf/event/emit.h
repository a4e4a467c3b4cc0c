/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One event: reserve its slot, take its stacks, turn them into ids, commit.
 *
 * The slot comes first, so the stack map's counters and the ring agree. A stack that the map
 * refuses goes into a run of slots after the event.
 */
#ifndef BPF_EMIT_H
#define BPF_EMIT_H

#include "answer.h"
#include "deferral/callback.h"
#include "filter.h"
#include "origin.h"
#include "stack/foreign_frames.h"
#include "stack/stack_store.h"
#include "state/scratch_slots.h"
#include "thread_context.h"
#include "trigger_note.h"
#include "user_side.h"

/*
 * Number of kernel frames that the BPF program and its callers in the kernel have on the stack; the
 * glue of a raw tracepoint may add more (foreign_frames.h).
 */
#define SKIP_RAW_TRACEPOINT SKIP_PROGRAM
#define SKIP_TRAMPOLINE SKIP_PROGRAM

/*
 * bpf_get_stack() returns this many frames at most after it has skipped `skip` frames. A stack of
 * this depth may be cut.
 */
static __always_inline u32 kernel_depth_limit(u32 skip)
{
	u32 limit = config.max_depth - skip;

	return limit < STACK_KERNEL_DEPTH_MAX ? limit : STACK_KERNEL_DEPTH_MAX;
}

/* True for the end of a span with stack=begin: the reader takes the stacks of the begin. */
static __always_inline bool leaves_stacks_to_span_begin(const struct hit *hit)
{
	return config.begin_stacks && hit->value & SPAN_MARK_END;
}

/*
 * True if the event belongs to an interrupt and not to the current task, provided that the kernel
 * stack shows an interrupt.
 */
static __always_inline bool may_be_in_interrupt(const struct hit *hit)
{
	return hit->is_waker || hit->in_own_task;
}

/*
 * Reads the kernel stack into scratch->kernel. Returns the number of bytes, or -errno, as
 * bpf_get_stack() does. At a probe in a kernel function the stack begins with the pc of the
 * function and its caller.
 */
static __always_inline long kernel_stack_read(void *ctx, const struct hit *hit,
					      struct scratch *scratch, u32 skip)
{
	u64 link = hit->is_function ? entry_return_address(ctx) : 0;
	struct stack *stack = &scratch->kernel;
	long bytes;

	/* A return probe of the same function may have replaced the return address already. */
	if (!link || text_kind(scratch, link) == TEXT_TRACER)
		return bpf_get_stack(ctx, stack->word, STACK_KERNEL_DEPTH_MAX * 8, skip);
	bytes = bpf_get_stack(ctx, stack->word + 1, (STACK_KERNEL_DEPTH_MAX - 1) * 8, skip);
	if (bytes <= 0)
		return bytes;
	stack->word[0] = stack->word[1];
	stack->word[1] = link;
	return bytes + 8;
}

static __always_inline struct stack_field kernel_stack_field(void *ctx, const struct hit *hit,
							     struct scratch *scratch, u32 cpu)
{
	struct stack *stack = &scratch->kernel;
	u32 skip = hit->skip + (hit->kernel_pc != 0);
	long bytes;

	if (may_be_in_interrupt(hit))
		scratch->in_interrupt = hit->in_own_task;
	stack->depth = 0;
	if (!config.kernel_stacks && !hit->is_waker && !config.origins)
		return stack_field_of_reason(REASON_NOT_ASKED);
	if (leaves_stacks_to_span_begin(hit))
		return stack_field_of_reason(REASON_NOT_ASKED);
	if (hit->is_probe)
		return stack_field_of_reason(REASON_NO_FRAMES);
	bytes = kernel_stack_read(ctx, hit, scratch, skip);
	if (bytes == 0 || bytes == -EFAULT)
		return stack_field_of_reason(REASON_NO_FRAMES);
	if (bytes < 0)
		return stack_field_of_reason(REASON_UNREADABLE);
	stack->depth = (u32)bytes / 8;
	stack->flags = stack->depth >= kernel_depth_limit(skip) ? STACK_TRUNCATED : 0;
	if (hit->skip == SKIP_RAW_TRACEPOINT || hit->is_record)
		kernel_stack_drop_tracer_frames(scratch);
	if (may_be_in_interrupt(hit))
		cut_kernel_stack_at_interrupt(scratch);
	if (!config.kernel_stacks)
		return stack_field_of_reason(REASON_NOT_ASKED);
	return stack_store(scratch, stack, cpu);
}

static __always_inline void event_write(void *ctx, const struct hit *hit, struct scratch *scratch,
					u32 cpu)
{
	struct event_slot *slot = event_slot_of(scratch);
	struct user_side user = {.field = stack_field_of_reason(REASON_INTERRUPT)};
	u64 time = bpf_ktime_get_ns();
	struct stack_field kernel;
	u32 tid = TID_INTERRUPT;

	kernel = kernel_stack_field(ctx, hit, scratch, cpu);
	if (!may_be_in_interrupt(hit) || !scratch->in_interrupt) {
		tid = records_ids_of_inner_pid_namespace() ? scratch->tid
							   : (u32)bpf_get_current_pid_tgid();
		if (leaves_stacks_to_span_begin(hit)) {
			user.field = stack_field_of_reason(REASON_NOT_ASKED);
		} else {
			user = take_user_stack_of_event(hit, scratch, cpu);
			if (config.trace_ids && !(config.count && is_event_counted_only(scratch)) &&
			    context_read(scratch))
				context_request_from_callback(scratch, hit->is_probe);
		}
	}
	slot->tid = tid;
	slot->stamp = STAMP_OF(time, hit->kind, EVENT_FLAGS(kernel.state, user.field.state));
	slot->kernel = kernel.value;
	slot->user = user.field.value;
	if (config.leaf)
		slot->extra[0] = hit->kernel_pc ? hit->kernel_pc : user.leaf;
	if (config.value)
		slot->extra[config.leaf] = hit->is_waker ? time - hit->value : hit->value;
	if (config.further)
		slot->extra[config.leaf + 1] = hit->further;
	event_commit(scratch, cpu);
	if (config.origins) {
		interrupts_find(scratch);
		scratch->origin_task = may_be_in_interrupt(hit) && scratch->in_interrupt
					       ? 0
					       : bpf_get_current_task();
		origin_record(scratch, cpu, time, hit->is_sample);
	}
}

/*
 * Reads the task's id once, since a task that has exited may lose it at any time. False: the task
 * has just lost its id.
 */
static __always_inline bool event_read_tid(const struct hit *hit, struct scratch *scratch)
{
	if (!records_ids_of_inner_pid_namespace())
		return true;
	scratch->tid = current_tid();
	return scratch->tid || may_be_in_interrupt(hit);
}

/*
 * Records an event that has passed the filters. True if the event needs a callback
 * (tail_call_callback_scheduler()).
 */
static __always_inline bool event_record(void *ctx, const struct hit *hit, u32 cpu)
{
	struct scratch *scratch;
	u64 position;
	bool wanted;

	if (!record_trigger_unless_stopped(hit->kind))
		return false;
	scratch = scratch_claim(cpu);
	if (!scratch)
		return count_event_without_scratch_slot(cpu, hit->kind);
	position = event_read_tid(hit, scratch) ? event_begin(scratch, cpu, hit->kind) : 0;
	if (position)
		event_write(ctx, hit, scratch, cpu);
	wanted = is_callback_wanted(scratch);
	scratch_release(scratch);
	return wanted;
}

/*
 * Sets the address at which the numbers of the event are. `base` NULL: the address is set already.
 */
static __always_inline void hit_set_numbers(struct hit *hit, const void *base)
{
	if (config.questions && base)
		hit->numbers = pointer_as_number(base);
}

static __always_inline bool is_hit_refused_early(const struct hit *hit)
{
	return config.refuses_early && is_event_refused_early(hit->kind, hit->numbers);
}

/*
 * Sets the values that the source's question asks for. False: the event does not meet the
 * conditions, and its second value is not read.
 */
static __always_inline bool evaluate_question_of_event(struct hit *hit)
{
	s64 answer = 0;

	if (config.questions)
		answer = evaluate_question(hit->kind, hit->numbers);
	if (answer == ANSWER_NONE)
		return false;
	hit->value = answer;
	if (config.further)
		hit->further = read_second_value_of_question(hit->kind, hit->numbers);
	return true;
}

/*
 * True if an event is recorded although the recorder's own task is the current one: the event is in
 * an interrupt and so belongs to no task. False if the user has chosen tasks or cgroups. The
 * kernel's text has to be known (kernel_text), as it is in all recordings with kernel stacks. An
 * event without a scratch slot counts as refused, though it may be the recorder's own.
 */
static __always_inline bool is_own_task_in_interrupt(void *ctx, u32 cpu, u32 kind)
{
	struct scratch *scratch;
	bool is_interrupted;
	long bytes;

	if (config.by_task || config.by_comm || config.cgroup || !config.kernel_stacks)
		return false;
	if (config.by_cpu && !cpu_matches_filter(cpu))
		return false;
	scratch = scratch_claim(cpu);
	if (!scratch)
		return count_event_without_scratch_slot(cpu, kind);
	bytes = bpf_get_stack(ctx, scratch->kernel.word, STACK_KERNEL_DEPTH_MAX * 8, 0);
	scratch->kernel.depth = bytes > 0 ? (u32)bytes / 8 : 0;
	scratch->in_interrupt = 0;
	cut_kernel_stack_at_interrupt(scratch);
	is_interrupted = scratch->in_interrupt;
	scratch_release(scratch);
	return is_interrupted;
}

/*
 * True if an event passes the filters, or is in an interrupt of the recorder's own task
 * (is_own_task_in_interrupt()).
 */
static __always_inline bool event_passes_filters_or_in_interrupt(void *ctx, struct hit *hit,
								 u32 cpu)
{
	const struct task_struct *task = current_typed_task();
	u64 ids = pid_and_tid_of_typed_task(task);

	hit->in_own_task = is_own_process(ids >> 32);
	return hit->in_own_task ? is_own_task_in_interrupt(ctx, cpu, hit->kind)
				: thread_passes_chosen_filters(task, ids, cpu);
}

/* event_emit() for an event that may be in an interrupt. */
static __always_inline bool event_emit_even_in_interrupt(void *ctx, struct hit *hit,
							 const void *base)
{
	u32 cpu = bpf_get_smp_processor_id();

	hit_set_numbers(hit, base);
	return !is_hit_refused_early(hit) && event_passes_filters_or_in_interrupt(ctx, hit, cpu) &&
	       evaluate_question_of_event(hit) && event_record(ctx, hit, cpu);
}

/*
 * Filters an event, answers the question of the source from the numbers at `base` (NULL: at
 * hit->numbers), and records the event. True if the event needs a callback
 * (tail_call_callback_scheduler()).
 */
static __always_inline bool event_emit(void *ctx, struct hit *hit, const void *base)
{
	u32 cpu = bpf_get_smp_processor_id();

	hit_set_numbers(hit, base);
	return !is_hit_refused_early(hit) && current_thread_passes_filters(cpu) &&
	       evaluate_question_of_event(hit) && event_record(ctx, hit, cpu);
}

#endif
