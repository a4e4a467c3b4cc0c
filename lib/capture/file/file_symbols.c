/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a recording file are collected as sorted addresses, so that the addresses of each
 * mapping are adjacent and become one request. Kernel addresses have bit 63 set and come last.
 *
 * Workers answer the requests (symbol/symbolizer/symbolizers.h). A drain takes only answers that
 * have arrived already, and never waits.
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

/* Longest wait for symbols after the user has asked to end, for all files together. */
#define HURRY_MS 1200
/* After HURRY_MS have passed, the longest wait for the symbols of one file. */
#define HURRY_MS_LEAST 200
/* Longest wait for symbols of code that appeared after recording_request_symbols_ahead(). */
#define LATE_MS 100
/* Longest wait for symbols of such code in files of root and of our own user. */
#define LATE_OWN_MS 500
#define LOOK_MS                                                                                    \
	100 /* interval of checks for signals, since a blocked signal does not end poll()          \
	     */

static bool are_frames_of_same_mapping(u64 frame, u64 other)
{
	if (FRAME_IS_KERNEL(frame) || FRAME_IS_KERNEL(other))
		return FRAME_IS_KERNEL(frame) && FRAME_IS_KERNEL(other);
	return FRAME_MAPPING(frame) == FRAME_MAPPING(other);
}

/* Requests the symbols of frames of one mapping, or of the kernel; user frames in `run` are changed
 * to file offsets. */
static int request_mapping_symbols(struct recording *recording, u64 *run, u32 count)
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
	return symbolizers_request_symbols(recording->symbolizers, number, record, run, count);
}

/* Requests the symbols of all addresses, beginning at the end of the list, so that the kernel's
 * symbols are requested first. */
static int request_all_symbols(struct recording *recording, const struct frame_addresses *addresses)
{
	u32 first, end = addresses->count;
	int result = 0;

	for (; end && !result; end = first) {
		for (first = end - 1;
		     first && are_frames_of_same_mapping(addresses->items[first - 1],
							 addresses->items[first]);
		     first--)
			;
		result = request_mapping_symbols(recording, addresses->items + first, end - first);
	}
	return result;
}

/* Sets *fresh to the addresses of `all` that `known` does not have. -ENOMEM. */
static int list_addresses_not_yet_known(const struct frame_addresses *all,
					const struct frame_addresses *known,
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

static void drop_addresses_outside_files(const struct recording *recording,
					 struct frame_addresses *addresses)
{
	u32 kept = 0;

	for (u32 i = 0; i < addresses->count; i++) {
		u64 frame = addresses->items[i];
		u32 number = FRAME_MAPPING(frame);

		if (!FRAME_IS_KERNEL(frame) && number < MAPPINGS_MAX &&
		    loaded_mapping_record(recording->loaded, number)->key.kind == MAPPING_FILE)
			addresses->items[kept++] = frame;
	}
	addresses->count = kept;
}

/* The symbol of each frame is requested once in a recording file. */
int file_symbols_request(struct recording *recording, bool lasting)
{
	struct frame_addresses all = {}, fresh = {};
	int result = frame_addresses_collect(recording->writer, &all);

	if (!result && lasting)
		drop_addresses_outside_files(recording, &all);
	result = result ?: list_addresses_not_yet_known(&all, &recording->named, &fresh);
	if (!result) {
		result = request_all_symbols(recording, &fresh);
		free(recording->named.items);
		recording->named = all;
		all = (struct frame_addresses){};
	}
	free(all.items);
	free(fresh.items);
	return result;
}

bool file_symbols_wait_is_over(const struct recording *recording)
{
	return recording->names_until && clock_ms() >= recording->names_until;
}

/* The times at which the waits for symbols end. The wait for the kernel's symbols is as long as one
 * request may take. */
struct patience {
	u64 others, own; /* clock_ms() at which the wait for symbols ends: for files of other users;
			    for files of root and our own user */
};

static u64 earlier_time(u64 a, u64 b)
{
	return a < b ? a : b;
}

static struct patience compute_symbol_wait_deadlines(struct recording *recording, u64 began)
{
	bool few = recording->named_ahead;
	struct patience patience = {
		.others = began + (few ? LATE_MS : FILE_SYMBOLS_PATIENCE_MS),
		.own = began + (few ? LATE_OWN_MS : FILE_SYMBOLS_PATIENCE_OWN_MS),
	};

	if (is_end_requested()) {
		u64 end, least = clock_ms() + HURRY_MS_LEAST;

		/* When the user has asked to end, all files share one wait for symbols: the window
		 * that is being closed and the last window. */
		if (!recording->hurries_until)
			recording->hurries_until = clock_ms() + HURRY_MS;
		end = recording->hurries_until > least ? recording->hurries_until : least;
		patience.others = earlier_time(patience.others, end);
		patience.own = earlier_time(patience.own, end);
	}
	return patience;
}

/* Waits for symbols. When the user asks to end, the wait becomes shorter;
 * interrupt_request_immediate_end() ends the wait. */
static int wait_for_requested_symbols(struct recording *recording)
{
	bool hurries = is_end_requested();
	u64 began = clock_ms();
	struct patience patience = compute_symbol_wait_deadlines(recording, began);
	int result = symbols_visit_symbolizers(recording);

	while (!result && !interrupted() && !file_symbols_wait_is_over(recording)) {
		if (!symbolizers_have_pending_symbols(
			    recording->symbolizers,
			    choose_symbols_to_wait_for(clock_ms(), patience.others, patience.own)))
			break;
		symbolizers_wait(recording->symbolizers, LOOK_MS);
		if (!hurries && is_end_requested()) {
			hurries = true;
			patience = compute_symbol_wait_deadlines(recording, began);
		}
		result = symbols_visit_symbolizers(recording);
	}
	symbolizers_drop_symbol_requests(recording->symbolizers);
	return result;
}

int file_symbols_finish(struct recording *recording, struct stackmap_error *error)
{
	int result = file_symbols_request(recording, false);

	result = wait_for_requested_symbols(recording) ?: result;
	recording->written.notes[NOTE_UNREAD_FILES] +=
		symbolizers_take_failures(recording->symbolizers);
	if (result)
		error_set(error, -result, "names of frames: %s", strerror(-result));
	return result;
}
