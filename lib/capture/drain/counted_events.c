/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows become records of the file that stand for several events. A row with a range
 * (core/counted_row.h) becomes three records: the least value, the greatest value, and the events
 * between. All values of a row are in one power of two, and so is their
 * average. A reader that takes each record's events as equal has therefore the exact number of
 * events in each power of two, and the exact sum, minimum and maximum.
 */
#include "capture/drain/counted_events.h"

#include <string.h>

#include "capture/drain/drain.h"
#include "clock.h"
#include "counted_row.h"
#include "error.h"

/* A record of the file can stand for this many events. */
#define RECORD_EVENTS_MAX (1ULL << 32)

/* Writes `count` events with the sum `value`, in which values differ by 1 at most. */
static int write_event_records(struct recording *recording, struct trace_event *event,
			       const struct stack_ref *user, u64 count, u64 value)
{
	u64 each = count ? value / count : 0, greater = count ? value % count : 0;
	int result = 0;

	while (count) {
		u64 events = count < RECORD_EVENTS_MAX ? count : RECORD_EVENTS_MAX;
		u64 greater_here = greater < events ? greater : events;

		event->repeats = (u32)(events - 1);
		event->value = each * events + greater_here;
		records_count_stacks(recording, event, user);
		result = first_error(result, trace_writer_event(recording->writer, event));
		greater -= greater_here;
		count -= events;
	}
	return result;
}

static int write_events_of_counted_row(struct recording *recording, const struct counted_key *key,
				       u32 cpu, struct counted_increase increase)
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
	int result, written = 0;

	if (event.kind >= recording->loaded->sources->count)
		return 0;
	source = &recording->loaded->sources->sources[event.kind];
	if (!source->unit ||
	    strcmp(source->unit, TRACE_UNIT_ADDRESS) == 0) /* addresses cannot be summed up */
		increase = (struct counted_increase){.count = increase.count};
	result = records_fill_stacks(recording, NULL, 0, &fields, &event, &user);
	/* The least and the greatest value become records of their own, each for one event. */
	if (increase.count > 1 && increase.least < increase.most) {
		written = write_event_records(recording, &event, &user, 1, increase.least);
		written = first_error(
			written, write_event_records(recording, &event, &user, 1, increase.most));
		increase.count -= 2;
		increase.value -= increase.least + increase.most;
	}
	written = first_error(written, write_event_records(recording, &event, &user, increase.count,
							   increase.value));
	return written ?: result;
}

int counted_events_write(struct recording *recording)
{
	const struct capture_config *config = &recording->loaded->plan.config;
	struct counted_increase increase;
	int result = 0;

	for (u32 cpu = 0; cpu < config->cpus; cpu++) {
		struct counted_table *table = loaded_counted_table(recording->loaded, cpu);

		for (u32 i = 0; table && i < config->counted_rows; i++) {
			struct counted_row *row = &table->row[i];

			if (!counted_row_take(row, counted_range_at(config, table, i), &increase))
				continue;
			table->reported += increase.count;
			result = first_error(result, write_events_of_counted_row(
							     recording, &row->key, cpu, increase));
		}
	}
	return result;
}

u64 count_counted_events_of_cpu(const struct loaded *loaded, u32 cpu)
{
	const struct scratch *scratch_slots = loaded_scratch(loaded, cpu);
	const struct counted_table *table = loaded_counted_table(loaded, cpu);
	u64 sum = table ? -table->discarded : 0;

	for (u32 i = 0; i < SCRATCH_SLOTS; i++)
		sum += scratch_slots[i].counters.counted;
	return sum;
}

u64 count_written_counted_events(const struct loaded *loaded, u32 cpu)
{
	const struct counted_table *table = loaded_counted_table(loaded, cpu);

	return table ? table->reported : 0;
}
