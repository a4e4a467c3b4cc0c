/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshots: the rings of a flight recorder are read from the oldest record that is not
 * overwritten. */
#include "capture/file/recording_file.h"

#include "capture/drain/deferred.h"
#include "capture/drain/drain.h"
#include "capture/drain/file_ledger.h"
#include "capture/file/unwind_blocked.h"
#include "error.h"

/* Longest time for unwinding, ms: the user waits, and the lock of the instance is held. */
#define PEEK_MS 5000

/* Takes all records of a ring, oldest first. */
static int snapshot_ring(struct recording *recording, struct ring_view ring, u32 cpu,
			 take_record take)
{
	u64 head = ring_head(&ring);
	u64 position = !recording->loaded->plan.config.flight ? ring.header->tail
		       : head > 2UL * ring.count	      ? head - ring.count
							      : ring.count;

	return records_take_range(recording, &ring, position, head, cpu, take);
}

/* The number of slots that a writer could not claim and that still hold an event of an earlier pass
 * over the ring. These events are out of sequence, and no writer has counted them as overwritten.
 */
static u64 count_passed_over_events(const struct ring_view *ring)
{
	u64 head = ring->header->head, position = head - ring->count, count = 0;

	for (; position < head; position++) {
		u32 commit = *(const u32 *)ring_slot(ring, position);

		count += commit && !(commit & (COMMIT_BUSY | COMMIT_CONTINUED)) &&
			 commit != COMMIT_OF(position) && !ring_is_deferred_stack(ring, position);
	}
	return count;
}

static int snapshot_task_rings(struct recording *recording)
{
	int result = 0;

	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		result = first_error(result, snapshot_ring(recording,
							   loaded_task_ring(recording->loaded, cpu),
							   cpu, records_take_task));
	}
	return result ?: task_log_write_lost_names(recording->tasks, recording->writer);
}

static int snapshot_event_rings(struct recording *recording, take_record take)
{
	int result = 0;

	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++)
		result = first_error(
			result,
			snapshot_ring(recording, loaded_ring(recording->loaded, cpu), cpu, take));
	return result;
}

/* Takes the deferred stacks from the rings, unwinds the tasks that still have to deliver their
 * stack, and unwinds the raw stacks. */
static int snapshot_deferred_stacks(struct recording *recording)
{
	u32 fill, next = 0;
	int result = 0;

	if (!recording->deferred)
		return 0;
	if (!loaded_is_frozen(recording->loaded))
		result = deferred_read_open_cookies(recording);
	result = result ?: snapshot_event_rings(recording, records_take_deferred_stack);
	if (recording->loaded->running)
		result = result
				 ?: unwind_blocked_peek(recording, &recording->deferred->open,
							&next, PEEK_MS);
	result = result ?: deferred_unwind_raw_stacks_in_ring(recording, &fill);
	return result;
}

int recording_snapshot(struct recording *recording)
{
	int result;

	records_set_time_limit_of_round(recording);
	file_ledger_store_earlier_counts(recording);
	result = snapshot_task_rings(recording);
	result = first_error(result, snapshot_deferred_stacks(recording));
	result = first_error(result, snapshot_event_rings(recording, records_take_event));
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		recording->cpus[cpu].passed_over =
			recording->loaded->plan.config.flight ? count_passed_over_events(&ring) : 0;
	}
	return result;
}
