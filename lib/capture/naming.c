/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a file become addresses, sorted, so that those of one mapping stand together and
 * each mapping is one question. The kernel's come last: bit 63.
 *
 * All that is known of files is asked for beside (symbol/symbolizer/symbolizers.h). What a drain
 * takes of it has come by then: it waits for nobody.
 */
#include "capture/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/assisted.h"
#include "capture/capture.h"
#include "capture/instance.h"
#include "capture/load/skeleton.h"
#include "clock.h"
#include "error.h"
#include "interrupt.h"
#include "own_processes.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/symbolizer/symbolizers.h"

#define PATH_BYTES_MAX 4096
#define HURRY_MS 1500
#define LATE_MS 100 /* for what was met since it was named ahead */
#define LOOK_MS 100 /* a signal that is blocked ends no poll() */
#define DRAIN_MS 2

int capture_prepare_naming(struct capture *capture)
{
	return symbolizers_create(&capture->symbolizers);
}

bool capture_tell_trouble(struct capture *capture, struct symbolizers_trouble *trouble)
{
	return symbolizers_tell(capture->symbolizers, trouble);
}

bool capture_addresses_shown(const struct capture *capture)
{
	return kernel_image_shown(symbolizers_kernel_files(capture->symbolizers));
}

/* Each stands in the slot of its id, or the next one: where the programs look for it. */
static void put_process(u32 *slots, u32 pid)
{
	u32 *slot = &slots[pid % OWN_PROCESSES], *next = &slots[(pid + 1) % OWN_PROCESSES];

	*(*slot ? next : slot) = pid;
}

/* They may be others than before. */
static void leave_out_processes(const struct capture *capture)
{
	u32 pids[SYMBOLIZER_PROCESSES_MAX + ASSIST_PROCESSES_MAX], slots[OWN_PROCESSES] = {}, count,
								   i;
	u32 *own;

	if (capture->foreign)
		return;
	own = capture_programs(capture)->bss->own_processes;
	count = symbolizers_processes(capture->symbolizers, pids);
	if (capture->assisted)
		count += assisted_processes(capture->assisted, pids + count);
	for (i = 0; i < count; i++)
		put_process(slots, pids[i]);
	for (i = 0; i < OWN_PROCESSES; i++)
		if (own[i] != slots[i])
			__atomic_store_n(&own[i], slots[i], __ATOMIC_RELAXED);
}

struct names_writer {
	struct capture *capture;
	struct trace_writer *writer;
};

static int write_mapping(struct capture *capture, struct trace_writer *writer, u32 number)
{
	char path[PATH_BYTES_MAX];
	struct trace_mapping mapping;

	symbolizers_identify(capture->symbolizers, number, capture_mapping(capture, number),
			     &mapping, path, sizeof(path));
	return trace_writer_mapping(writer, &mapping);
}

int capture_write_mapping(struct capture *capture, struct trace_writer *writer, u32 number)
{
	if (number >= MAPPINGS_MAX || capture->mapping_written[number])
		return 0;
	capture->mapping_written[number] = 1;
	capture->code_met++;
	return write_mapping(capture, writer, number);
}

/* Of several records for a mapping the last counts. */
static int write_identified(void *arg, u32 number)
{
	const struct names_writer *names = arg;

	if (!names->capture->mapping_written[number])
		return 0;
	return write_mapping(names->capture, names->writer, number);
}

static int write_symbol(void *arg, const struct trace_symbol *symbol)
{
	const struct names_writer *names = arg;

	return trace_writer_symbol(names->writer, symbol);
}

int capture_take_names(struct capture *capture, struct trace_writer *writer)
{
	struct names_writer names = {.capture = capture, .writer = writer};
	const struct symbolizers_sink sink = {
		.arg = &names,
		.identified = write_identified,
		.symbol = write_symbol,
	};
	int result = symbolizers_visit(capture->symbolizers, &sink);

	leave_out_processes(capture);
	return result;
}

/* A return address is looked up one byte before: a call may be a function's last instruction. */
static int add_address(void *arg, u64 frame, bool return_address)
{
	struct addresses *addresses = arg;

	if (return_address && !FRAME_OFFSET(frame))
		return 0;
	if (addresses->count == addresses->room) {
		u32 room = addresses->room ? 2 * addresses->room : 1024;
		u64 *grown = reallocarray(addresses->items, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		addresses->items = grown;
		addresses->room = room;
	}
	addresses->items[addresses->count++] = frame - return_address;
	return 0;
}

static int by_address(const void *left, const void *right)
{
	const u64 *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void sort_addresses(struct addresses *addresses)
{
	u32 i, kept = 0;

	if (addresses->count)
		qsort(addresses->items, addresses->count, sizeof(*addresses->items), by_address);
	for (i = 0; i < addresses->count; i++)
		if (!kept || addresses->items[kept - 1] != addresses->items[i])
			addresses->items[kept++] = addresses->items[i];
	addresses->count = kept;
}

static bool is_same_mapping(u64 frame, u64 other)
{
	if (FRAME_IS_KERNEL(frame) || FRAME_IS_KERNEL(other))
		return FRAME_IS_KERNEL(frame) && FRAME_IS_KERNEL(other);
	return FRAME_MAPPING(frame) == FRAME_MAPPING(other);
}

/* User frames as file offsets: `run` of one mapping. */
static int ask_run(struct capture *capture, u64 *run, u32 count)
{
	bool kernel = FRAME_IS_KERNEL(run[0]);
	u32 number = kernel ? 0 : FRAME_MAPPING(run[0]), i;
	struct symbolizers_query query = {.number = number, .addresses = run, .count = count};

	if (number >= MAPPINGS_MAX || (!kernel && !capture->mapping_written[number]))
		return 0;
	for (i = 0; i < count && !kernel; i++)
		run[i] = FRAME_OFFSET(run[i]);
	if (!kernel)
		query.record = capture_mapping(capture, number);
	return symbolizers_ask(capture->symbolizers, &query);
}

/* From the last one on: the kernel's come first. */
static int ask_all(struct capture *capture, const struct addresses *addresses)
{
	u32 first, end = addresses->count;
	int result = 0;

	for (; end && !result; end = first) {
		for (first = end - 1;
		     first && is_same_mapping(addresses->items[first - 1], addresses->items[first]);
		     first--)
			;
		result = ask_run(capture, addresses->items + first, end - first);
	}
	return result;
}

/* What `all` has and `known` has not. -ENOMEM. */
static int addresses_without(const struct addresses *all, const struct addresses *known,
			     struct addresses *fresh)
{
	u32 i, k = 0;

	fresh->items = calloc(all->count + 1, sizeof(*fresh->items));
	if (!fresh->items)
		return -ENOMEM;
	for (i = 0; i < all->count; i++) {
		while (k < known->count && known->items[k] < all->items[i])
			k++;
		if (k == known->count || known->items[k] != all->items[i])
			fresh->items[fresh->count++] = all->items[i];
	}
	return 0;
}

/* Each frame that went into the file is asked for once. */
static int ask_new(struct capture *capture, struct trace_writer *writer)
{
	struct addresses all = {}, fresh = {};
	int result = trace_writer_frames(writer, add_address, &all);

	sort_addresses(&all);
	result = result ?: addresses_without(&all, &capture->named, &fresh);
	if (!result) {
		result = ask_all(capture, &fresh);
		free(capture->named.items);
		capture->named = all;
		all = (struct addresses){};
	}
	free(all.items);
	free(fresh.items);
	return result;
}

void capture_forget_names(struct capture *capture)
{
	free(capture->named.items);
	capture->named = (struct addresses){};
	capture->named_ahead = false;
}

static bool are_awaited(const struct capture *capture, bool all)
{
	return symbolizers_are_busy(capture->symbolizers,
				    all ? SYMBOLIZERS_ANY : SYMBOLIZERS_TRUSTED);
}

int capture_name_ahead(struct capture *capture, struct trace_writer *writer, u32 patience_ms)
{
	u64 end = clock_ms() + patience_ms, next = clock_ms() + LOOK_MS;
	int result = ask_new(capture, writer);

	while (!result && !interrupt_end_asked() && are_awaited(capture, clock_ms() < end)) {
		symbolizers_wait(capture->symbolizers, DRAIN_MS);
		result = capture_drain(capture, writer, NULL);
		if (!result && clock_ms() >= next && clock_ms() < end) {
			result = ask_new(capture, writer);
			next = clock_ms() + LOOK_MS;
		}
	}
	capture->named_ahead = !interrupt_end_asked();
	return result;
}

/* Root's names and our own are waited for as long as each may take, those of others less, and less
 * still once the end was asked for; when nobody waits any longer, none. */
static u64 end_of_patience(const struct capture *capture, u64 began)
{
	u64 longest = began + (capture->named_ahead ? LATE_MS : CAPTURE_PATIENCE_MS);
	u64 hurried = clock_ms() + HURRY_MS;

	return interrupt_end_asked() && hurried < longest ? hurried : longest;
}

static int await_names(struct capture *capture, struct trace_writer *writer)
{
	bool hurries = interrupt_end_asked();
	u64 began = clock_ms(), end = end_of_patience(capture, began);
	int result = capture_take_names(capture, writer);

	while (!result && !interrupted()) {
		if (!are_awaited(capture, clock_ms() < end))
			break;
		symbolizers_wait(capture->symbolizers, LOOK_MS);
		if (!hurries && interrupt_end_asked()) {
			hurries = true;
			end = end_of_patience(capture, began);
		}
		result = capture_take_names(capture, writer);
	}
	symbolizers_drop(capture->symbolizers);
	return result;
}

int capture_name_frames(struct capture *capture, struct trace_writer *writer,
			struct stackmap_error *error)
{
	int result = ask_new(capture, writer);

	result = await_names(capture, writer) ?: result;
	capture->written.notes[NOTE_UNREAD_FILES] += symbolizers_failures(capture->symbolizers);
	if (result)
		error_set(error, -result, "names of frames: %s", strerror(-result));
	return result;
}

u64 capture_code_met(const struct capture *capture)
{
	return capture->code_met;
}
