/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A window ends at the heads of the rings: earlier records belong to this file, later ones to the
 * next. */
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
#define LEARN_MS 2000  /* from the first event to the first request for names */
#define LEARN_FACTOR 4 /* each further interval is four times as long */

#define WAIT_MS 1
#define WAIT_WRITER_MS 1000

#define PEEK_MS 50 /* between two rounds of reading the rings */

int recording_ask_ahead(struct recording *recording, enum symbolizers_which which)
{
	bool is_first = !recording->next_ask;
	int result = 0;

	if (is_first || (which == SYMBOLIZERS_ANY && clock_ms() >= recording->next_ask)) {
		recording->next_ask = clock_ms() + ASK_MS;
		result = file_symbols_ask(recording, false);
	}
	if (result)
		return result;
	recording->named_ahead = !symbolizers_are_busy(recording->symbolizers, which);
	return !recording->named_ahead;
}

int recording_name_ahead(struct recording *recording, u32 others_ms, u32 own_ms, u32 longest_ms)
{
	u64 begin = clock_ms();
	int ms = PACE_MS_MIN, result;

	recording->names_until = longest_ms ? begin + longest_ms : 0;
	while ((result = recording_ask_ahead(
			recording,
			symbolizers_awaited(clock_ms(), begin + others_ms, begin + own_ms))) > 0) {
		if (interrupt_end_asked() || file_symbols_are_late(recording))
			return 0;
		symbolizers_wait(recording->symbolizers, ms);
		result = recording_drain(recording, &ms);
		if (result)
			break;
	}
	return result;
}

int recording_learn_names(struct recording *recording)
{
	u64 now = clock_ms();

	if (!recording->next_learn)
		recording->learn_ms = LEARN_MS;
	else if (now < recording->next_learn)
		return 0;
	else
		recording->learn_ms *= LEARN_FACTOR;
	recording->next_learn = now + recording->learn_ms;
	return recording->learn_ms == LEARN_MS ? 0 : file_symbols_ask(recording, true);
}

/* Limits the task rings first: the name of a task with events behind the limit comes behind the
 * limit, too, at the latest when the task exits. */
static void limit_to_heads(struct recording *recording)
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

static void lift_drain_limits(struct recording *recording)
{
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++)
		recording->cpus[cpu].limit = recording->cpus[cpu].task_limit = 0;
}

static bool is_limit_reached(const struct recording *recording)
{
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		if (ring.header->tail < recording->cpus[cpu].limit)
			return false;
	}
	return true;
}

/* Reads up to the limit. The wait is for an interrupted program that has not committed its slot
 * yet. */
static int drain_to_limit(struct recording *recording)
{
	int result = recording_drain(recording, NULL);

	for (u32 ms = 0; !is_limit_reached(recording) && ms < WAIT_WRITER_MS; ms += WAIT_MS) {
		result = first_error(result, recording_drain(recording, NULL));
		interrupt_nap(WAIT_MS);
	}
	return result;
}

/* Unwinds blocked tasks, of which there may be thousands, mostly before the end, between rounds of
 * reading. */
static int peek_sleepers(struct recording *recording)
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

/* Unwinds tasks that wait. A task that does not wait any more has delivered its stack to a ring,
 * perhaps behind the events of this file. */
static int unwind_waiting(struct recording *recording)
{
	struct pace_rings rings = {};
	u32 next = 0;
	int result = deferred_read_open_cookies(recording);

	result = first_error(
		result, unwind_blocked_peek(recording, &recording->deferred->open, &next, PEEK_MS));
	result = first_error(result, deferred_consume_raw_stacks(recording, &rings.fill));
	result = first_error(result, drain_deferred_stacks(recording, &rings));
	return deferred_resolve_missing(recording) ?: result;
}

/* Copies task records behind the limit, which may name tasks of this file and stay for the next. */
static int copy_tasks(struct recording *recording)
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

/* A swap of tables is noted before the limits are set. All records that name the previous
 * generation are therefore read by the end of the window, and the next swap may come. */
int recording_end_window(struct recording *recording)
{
	int result = recording->deferred ? peek_sleepers(recording) : 0;

	generation_note_swap(recording);
	limit_to_heads(recording);
	result = first_error(result, drain_to_limit(recording));
	lift_drain_limits(recording);
	result = first_error(result, copy_tasks(recording));
	if (recording->deferred)
		result = first_error(result, unwind_waiting(recording));
	return result;
}
