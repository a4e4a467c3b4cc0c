/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The count and the sum of values in a row only grow. A program adds the value first, then the
 * count; the reader reads the count first, then the value. The value of each counted event is
 * therefore in the sum that is read. The sum may also have the value of an event whose count goes
 * into the next file; the sums of all files together are exact.
 */
#include "capture/drain/counted_events.h"

#include <string.h>

#include "capture/drain/drain.h"
#include "clock.h"
#include "error.h"

/* The most events that one record of the file stands for. */
#define RECORD_EVENTS_MAX (1ULL << 32)

static int write_event_records(struct recording *recording, struct trace_event *event,
			       const struct stack_ref *user, u64 count)
{
	int result = 0;

	while (count) {
		u64 events = count < RECORD_EVENTS_MAX ? count : RECORD_EVENTS_MAX;

		event->repeats = (u32)(events - 1);
		records_count_stacks(recording, event, user);
		result = first_error(result, trace_writer_event(recording->writer, event));
		event->value = 0;
		count -= events;
	}
	return result;
}

static int write_row_events(struct recording *recording, const struct counted_key *key, u32 cpu,
			    u64 count, u64 value)
{
	const struct stack_fields fields = {STAMP_FLAGS(key->task), (u32)key->stacks,
					    (u32)(key->stacks >> 32)};
	struct trace_event event = {
		.time = clock_ns(CLOCK_MONOTONIC),
		.tid = COUNTED_TID(key->task),
		.cpu = cpu,
		.kind = STAMP_KIND(key->task),
		.leaf = key->leaf,
		.is_counted = 1,
	};
	const struct source *source;
	struct stack_ref user;
	int result;

	if (event.kind >= recording->loaded->sources->count)
		return 0;
	source = &recording->loaded->sources->sources[event.kind];
	if (source->unit &&
	    strcmp(source->unit, TRACE_UNIT_ADDRESS) != 0) /* addresses cannot be summed up */
		event.value = value;
	result = records_fill_stacks(recording, NULL, 0, &fields, &event, &user);
	return write_event_records(recording, &event, &user, count) ?: result;
}

static int write_row_increase(struct recording *recording, struct counted_table *table,
			      struct counted_row *row, u32 cpu)
{
	u64 value, count;
	int result;

	if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) != COUNTED_READY)
		return 0;
	count = __atomic_load_n(&row->count, __ATOMIC_ACQUIRE) - row->reported_count;
	value = __atomic_load_n(&row->value, __ATOMIC_RELAXED) - row->reported_value;
	if (!count)
		return 0;
	result = write_row_events(recording, &row->key, cpu, count, value);
	row->reported_value += value;
	row->reported_count += count;
	table->reported += count;
	return result;
}

int counted_events_write(struct recording *recording)
{
	int result = 0;

	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct counted_table *table = loaded_counted_table(recording->loaded, cpu);

		for (u32 i = 0; table && i < COUNTED_ROWS; i++)
			result = first_error(
				result, write_row_increase(recording, table, &table->row[i], cpu));
	}
	return result;
}

u64 counted_events_total(const struct loaded *loaded, u32 cpu)
{
	const struct scratch *scratch_slots = loaded_scratch(loaded, cpu);
	const struct counted_table *table = loaded_counted_table(loaded, cpu);
	u64 sum = table ? -table->discarded : 0;

	for (u32 i = 0; i < SCRATCH_SLOTS; i++)
		sum += scratch_slots[i].counters.counted;
	return sum;
}

u64 counted_events_reported(const struct loaded *loaded, u32 cpu)
{
	const struct counted_table *table = loaded_counted_table(loaded, cpu);

	return table ? table->reported : 0;
}
