/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ends a window (one of successive recording files) at the current heads of the rings: earlier
 * records belong to this file, later records to the next file. */
#include "capture/file/recording_file.h"

#include "capture/drain/deferred.h"
#include "capture/drain/drain.h"
#include "capture/file/file_symbols.h"
#include "capture/file/unwind_blocked.h"
#include "clock.h"
#include "error.h"
#include "interrupt.h"
#include "symbol/symbolizer/symbolizers.h"

#define ASK_MS 100
/* Time in ms from the first round for a file to the first request for symbols */
#define LEARN_MS 2000
/* Each later interval between requests for symbols is this many times as long as the interval
 * before */
#define LEARN_FACTOR 4

#define WAIT_MS 1
#define WAIT_WRITER_MS 1000

#define PEEK_MS 50 /* time that is spent unwinding, ms, between two rounds of reading the rings */

int recording_request_symbols_ahead(struct recording *recording, enum symbolizers_which which)
{
	bool is_first = !recording->next_ask;
	int result = 0;

	if (is_first || (which == SYMBOLIZERS_ANY && clock_ms() >= recording->next_ask)) {
		recording->next_ask = clock_ms() + ASK_MS;
		result = file_symbols_request(recording, false);
	}
	if (result)
		return result;
	recording->named_ahead = !symbolizers_have_pending_symbols(recording->symbolizers, which);
	return !recording->named_ahead;
}

int recording_await_symbols_ahead(struct recording *recording, u32 others_ms, u32 own_ms,
				  u32 longest_ms)
{
	u64 begin = clock_ms();
	int ms = PACE_MS_MIN, result;

	recording->names_until = longest_ms ? begin + longest_ms : 0;
	while ((result = recording_request_symbols_ahead(
			recording, choose_symbols_to_wait_for(clock_ms(), begin + others_ms,
							      begin + own_ms))) > 0) {
		if (is_end_requested() || file_symbols_wait_is_over(recording))
			return 0;
		symbolizers_wait(recording->symbolizers, ms);
		result = recording_drain(recording, &ms);
		if (result)
			break;
	}
	return result;
}

int recording_request_symbols_now_and_then(struct recording *recording)
{
	u64 now = clock_ms();

	if (!recording->next_learn)
		recording->learn_ms = LEARN_MS;
	else if (now < recording->next_learn)
		return 0;
	else
		recording->learn_ms *= LEARN_FACTOR;
	recording->next_learn = now + recording->learn_ms;
	return recording->learn_ms == LEARN_MS ? 0 : file_symbols_request(recording, true);
}

/* Sets the limits of the task rings first: if a task has events after the limit, a record with its
 * name also follows after the limit, at the latest when the task exits. */
static void set_limits_to_ring_heads(struct recording *recording)
{
	u32 cpus = recording->loaded->plan.config.cpus;
	struct ring_view ring;

	for (u32 cpu = 0; cpu < cpus; cpu++) {
		ring = loaded_task_ring(recording->loaded, cpu);
		recording->cpus[cpu].task_limit = ring_head(&ring);
	}
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		ring = loaded_ring(recording->loaded, cpu);
		recording->cpus[cpu].limit = ring_head(&ring);
	}
}

static bool are_rings_read_to_limits(const struct recording *recording)
{
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		if (ring.header->tail < recording->cpus[cpu].limit)
			return false;
	}
	return true;
}

/* Reads the rings up to the limits. An interrupted BPF program may not have committed its slot yet;
 * the function waits for it. */
static int drain_to_limits(struct recording *recording)
{
	int result = recording_drain(recording, NULL);

	for (u32 ms = 0; !are_rings_read_to_limits(recording) && ms < WAIT_WRITER_MS;
	     ms += WAIT_MS) {
		result = first_error(result, recording_drain(recording, NULL));
		sleep_until_timeout_or_signal(WAIT_MS);
	}
	return result;
}

/* Unwinds blocked tasks before the limits are set, between rounds of reading the rings, since there
 * may be thousands of blocked tasks. */
static int unwind_blocked_tasks_early(struct recording *recording)
{
	struct open_cookies list = {};
	int result = recording_drain(recording, NULL);
	int error = open_cookies_read(recording->loaded, &list);
	u32 next = 0;

	while (!error && next < list.count) {
		error = unwind_blocked_peek(recording, &list, &next, PEEK_MS);
		result = first_error(result, recording_drain(recording, NULL));
	}
	open_cookies_clear(&list);
	return result ?: error;
}

/* Unwinds the tasks that still have to deliver their stack. A task with a closed cookie has
 * delivered its stack to a ring, perhaps after the limit; these stacks are read, too. */
static int unwind_waiting_tasks(struct recording *recording)
{
	struct pace_rings rings = {};
	u32 next = 0;
	int result = deferred_read_open_cookies(recording);

	result = first_error(
		result, unwind_blocked_peek(recording, &recording->deferred->open, &next, PEEK_MS));
	result = first_error(result, deferred_unwind_raw_stacks_in_ring(recording, &rings.fill));
	result = first_error(result, drain_deferred_stacks(recording, &rings));
	return deferred_resolve_missing(recording) ?: result;
}

/* Writes the task records after the limit, which may have names of tasks of this file. The records
 * stay in the rings for the next file. */
static int write_task_records_after_limit(struct recording *recording)
{
	int result = 0;

	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_task_ring(recording->loaded, cpu);
		result = first_error(result, records_take_range(recording, &ring, ring.header->tail,
								ring_committed_end(&ring), cpu,
								records_take_task));
	}
	return result;
}

/* generation_note_ring_heads_at_swap() runs before the limits are set. All records that name stacks
 * of the previous generation are therefore read by the end of the window, and the next reset may
 * swap the tables again. */
int recording_end_window(struct recording *recording)
{
	int result = recording->deferred ? unwind_blocked_tasks_early(recording) : 0;

	generation_note_ring_heads_at_swap(recording);
	set_limits_to_ring_heads(recording);
	result = first_error(result, drain_to_limits(recording));
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++)
		recording->cpus[cpu].limit = recording->cpus[cpu].task_limit = 0;
	result = first_error(result, write_task_records_after_limit(recording));
	if (recording->deferred)
		result = first_error(result, unwind_waiting_tasks(recording));
	return result;
}
