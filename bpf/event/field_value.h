/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracepoints whose question (abi/question.h) asks for fields of the record that the kernel makes
 * for perf. Only a program that is attached by perf sees that record, and the kernel skips such a
 * program while another program, or an event of perf, is active on that CPU. Some versions count
 * the skips, others do not.
 *
 * Therefore a second program follows at the same tracepoint, a raw one, which the kernel does not
 * skip. It counts the events that the first program has missed (core/field_runs.h). Before Linux
 * 7.0 the kernel calls both with preemption off, except for raw_syscalls, which are refused. Since
 * 7.0 a task can be preempted between the two programs and resume on another CPU: a later skip on
 * the first CPU is then missed, and a false skip is counted on the second CPU.
 *
 * Both programs count all events of the tracepoint, also refused ones (events that the filters
 * refuse): the lookup of the thread comes later, so a refused event costs less. If the kernel
 * misses the second program at a refused event, no loss is counted. If the second program detects a
 * skip, it applies the filters to its own event. An interrupt between the two programs may have had
 * the skipped event, and then the filters judge another event than the skipped one.
 *
 * The conditions of the question need the record, so the second program does not know them: an
 * event that was skipped counts as lost whether it would have met them or not.
 */
#ifndef BPF_FIELD_VALUE_H
#define BPF_FIELD_VALUE_H

#include "emit.h"
#include "field_runs.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KIND_SOURCES);
	__type(key, u32);
	__type(value, struct field_runs);
} field_runs SEC(".maps");

static __always_inline void field_value_count_run_of_first_program(u32 kind)
{
	struct field_runs *runs = bpf_map_lookup_elem(&field_runs, &kind);

	if (runs)
		field_runs_count_first_program(runs);
}

static __always_inline void field_value_count_run_of_second_program(void *ctx, u32 kind)
{
	struct field_runs *runs = bpf_map_lookup_elem(&field_runs, &kind);
	struct hit hit = {.kind = kind};

	if (!runs || field_runs_take_run_of_first(runs))
		return;
	if (event_passes_filters_or_in_interrupt(ctx, &hit, bpf_get_smp_processor_id()))
		field_runs_count_skip(runs);
}

/*
 * Evaluates the question of an event and records the event. True: the event needs a callback
 * (tail_call_callback_scheduler()).
 */
static __always_inline bool field_value_emit(void *record, u64 cookie)
{
	struct hit hit = {.kind = cookie, .is_record = true};
	u32 cpu = bpf_get_smp_processor_id();

	field_value_count_run_of_first_program(hit.kind);
	hit_set_numbers(&hit, record);
	return !is_hit_refused_early(&hit) &&
	       event_passes_filters_or_in_interrupt(record, &hit, cpu) &&
	       evaluate_question_of_event(&hit) && event_record(record, &hit, cpu);
}

#endif
