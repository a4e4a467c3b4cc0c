/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a file become sorted addresses, so that the addresses of a mapping are adjacent and
 * each mapping is one request. Kernel addresses have bit 63 and come last.
 *
 * Workers answer the requests (symbol/symbolizer/symbolizers.h). A drain takes only answers that
 * have arrived, and never waits.
 */
#include "capture/file/file_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drain/recording.h"
#include "capture/drain/symbols.h"
#include "clock.h"
#include "error.h"
#include "interrupt.h"
#include "symbol/symbolizer/symbolizers.h"

#define HURRY_MS 1200	   /* wait for all names after a request to end */
#define HURRY_MS_LEAST 200 /* the same for each file, once the time for all has passed */
#define LATE_MS 100	   /* wait for code that was met after names were requested ahead */
#define LATE_OWN_MS 500	   /* the same for files of root and of our own user */
#define LOOK_MS 100	   /* interval of checks for signals, as a blocked signal ends no poll() */

static bool is_same_mapping(u64 frame, u64 other)
{
	if (FRAME_IS_KERNEL(frame) || FRAME_IS_KERNEL(other))
		return FRAME_IS_KERNEL(frame) && FRAME_IS_KERNEL(other);
	return FRAME_MAPPING(frame) == FRAME_MAPPING(other);
}

/* Requests the names of user frames of one mapping; `run` is changed to file offsets. */
static int ask_run(struct recording *recording, u64 *run, u32 count)
{
	bool kernel = FRAME_IS_KERNEL(run[0]);
	u32 number = kernel ? 0 : FRAME_MAPPING(run[0]), i;
	const struct mapping_record *record = NULL;
	int result;

	if (number >= MAPPINGS_MAX || (!kernel && !recording->mapping_written[number]))
		return 0;
	for (i = 0; i < count && !kernel; i++)
		run[i] = FRAME_OFFSET(run[i]);
	if (MAPPING_IS_SCRIPT(number))
		return script_names_write(recording, number, run, count);
	if (!kernel)
		record = loaded_mapping_record(recording->loaded, number);
	result = symbols_write_cached(recording, number, run, &count);
	if (result || !count)
		return result;
	return symbolizers_ask(recording->symbolizers, number, record, run, count);
}

/* Requests all names, from the last address on, so that the kernel's come first. */
static int ask_all(struct recording *recording, const struct frame_addresses *addresses)
{
	u32 first, end = addresses->count;
	int result = 0;

	for (; end && !result; end = first) {
		for (first = end - 1;
		     first && is_same_mapping(addresses->items[first - 1], addresses->items[first]);
		     first--)
			;
		result = ask_run(recording, addresses->items + first, end - first);
	}
	return result;
}

/* Collects the addresses of `all` that `known` does not have. -ENOMEM. */
static int addresses_without(const struct frame_addresses *all, const struct frame_addresses *known,
			     struct frame_addresses *fresh)
{
	u32 k = 0;

	fresh->items = calloc(all->count + 1, sizeof(*fresh->items));
	if (!fresh->items)
		return -ENOMEM;
	for (u32 i = 0; i < all->count; i++) {
		while (k < known->count && known->items[k] < all->items[i])
			k++;
		if (k == known->count || known->items[k] != all->items[i])
			fresh->items[fresh->count++] = all->items[i];
	}
	return 0;
}

static bool is_lasting(const struct recording *recording, u64 frame)
{
	u32 number = FRAME_MAPPING(frame);

	return !FRAME_IS_KERNEL(frame) && number < MAPPINGS_MAX &&
	       loaded_mapping_record(recording->loaded, number)->key.kind == MAPPING_FILE;
}

static void keep_lasting(const struct recording *recording, struct frame_addresses *addresses)
{
	u32 kept = 0;

	for (u32 i = 0; i < addresses->count; i++)
		if (is_lasting(recording, addresses->items[i]))
			addresses->items[kept++] = addresses->items[i];
	addresses->count = kept;
}

/* The name of each frame of a file is requested once. */
int file_symbols_ask(struct recording *recording, bool lasting)
{
	struct frame_addresses all = {}, fresh = {};
	int result = frame_addresses_collect(recording->writer, &all);

	if (!result && lasting)
		keep_lasting(recording, &all);
	result = result ?: addresses_without(&all, &recording->named, &fresh);
	if (!result) {
		result = ask_all(recording, &fresh);
		free(recording->named.items);
		recording->named = all;
		all = (struct frame_addresses){};
	}
	free(all.items);
	free(fresh.items);
	return result;
}

bool file_symbols_are_late(const struct recording *recording)
{
	return recording->names_until && clock_ms() >= recording->names_until;
}

/* The ends of the waits for names. The wait for the kernel's names is as long as one request may
 * take.
 */
struct patience {
	u64 others, own; /* clock_ms(); for files of other users, of root and our own user */
};

static u64 min_time(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 max_time(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* The files that end after a request to end share one wait: a window that is being closed, and the
 * last one behind it. */
static u64 end_of_hurry(struct recording *recording)
{
	if (!recording->hurries_until)
		recording->hurries_until = clock_ms() + HURRY_MS;
	return max_time(recording->hurries_until, clock_ms() + HURRY_MS_LEAST);
}

static struct patience patience_from(struct recording *recording, u64 began)
{
	bool few = recording->named_ahead;
	struct patience patience = {
		.others = began + (few ? LATE_MS : FILE_SYMBOLS_PATIENCE_MS),
		.own = began + (few ? LATE_OWN_MS : FILE_SYMBOLS_PATIENCE_OWN_MS),
	};

	if (interrupt_end_asked()) {
		u64 end = end_of_hurry(recording);

		patience.others = min_time(patience.others, end);
		patience.own = min_time(patience.own, end);
	}
	return patience;
}

/* Waits for names. A request to end shortens the wait for all files; interrupt_now() ends it. */
static int await_names(struct recording *recording)
{
	bool hurries = interrupt_end_asked();
	u64 began = clock_ms();
	struct patience patience = patience_from(recording, began);
	int result = symbols_take_facts(recording);

	while (!result && !interrupted() && !file_symbols_are_late(recording)) {
		if (!symbolizers_are_busy(
			    recording->symbolizers,
			    symbolizers_awaited(clock_ms(), patience.others, patience.own)))
			break;
		symbolizers_wait(recording->symbolizers, LOOK_MS);
		if (!hurries && interrupt_end_asked()) {
			hurries = true;
			patience = patience_from(recording, began);
		}
		result = symbols_take_facts(recording);
	}
	symbolizers_drop(recording->symbolizers);
	return result;
}

int file_symbols_finish(struct recording *recording, struct stackmap_error *error)
{
	int result = file_symbols_ask(recording, false);

	result = await_names(recording) ?: result;
	recording->written.notes[NOTE_UNREAD_FILES] += symbolizers_failures(recording->symbolizers);
	if (result)
		error_set(error, -result, "names of frames: %s", strerror(-result));
	return result;
}
