/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a file become addresses, sorted, so that those of one mapping stand together and
 * each mapping is one question. The kernel's come last: bit 63.
 */
#include "capture/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/instance.h"
#include "capture/skeleton.h"
#include "error.h"
#include "symbol/kernel_image.h"
#include "symbol/naming.h"

int capture_prepare_naming(struct capture *capture)
{
	return naming_create(&capture->naming);
}

bool capture_addresses_shown(const struct capture *capture)
{
	return kernel_image_shown(naming_kernel_files(capture->naming));
}

/* It may be another one than before. */
static void leave_out_sandbox(const struct capture *capture)
{
	if (!capture->foreign)
		capture_programs(capture)->bss->own_sandbox = naming_pid(capture->naming);
}

void capture_identify_mapping(struct capture *capture, u32 number, struct trace_mapping *mapping,
			      char *path, size_t path_bytes)
{
	leave_out_sandbox(capture);
	naming_identify(capture->naming, number, capture_mapping(capture, number), mapping, path,
			path_bytes);
}

struct addresses {
	u64 *items; /* as frames: kernel address, or mapping and offset */
	u32 count;
	u32 room;
};

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

static int write_symbol(void *writer, const struct trace_symbol *symbol)
{
	return trace_writer_symbol(writer, symbol);
}

static bool is_same_mapping(u64 frame, u64 other)
{
	if (FRAME_IS_KERNEL(frame) || FRAME_IS_KERNEL(other))
		return FRAME_IS_KERNEL(frame) && FRAME_IS_KERNEL(other);
	return FRAME_MAPPING(frame) == FRAME_MAPPING(other);
}

/* User frames as file offsets: `run` of one mapping. */
static int name_run(struct capture *capture, struct trace_writer *writer, u64 *run, u32 count)
{
	bool kernel = FRAME_IS_KERNEL(run[0]);
	u32 number = kernel ? 0 : FRAME_MAPPING(run[0]), i;
	struct naming_query query = {
		.number = number,
		.addresses = run,
		.count = count,
		.each = write_symbol,
		.arg = writer,
	};

	if (number >= MAPPINGS_MAX || (!kernel && !capture->mapping_written[number]))
		return 0;
	for (i = 0; i < count && !kernel; i++)
		run[i] = FRAME_OFFSET(run[i]);
	if (!kernel)
		query.record = capture_mapping(capture, number);
	return naming_symbols(capture->naming, &query);
}

static int name_all(struct capture *capture, struct trace_writer *writer,
		    const struct addresses *addresses)
{
	u32 first = 0, next;
	int result = 0;

	for (; first < addresses->count && !result; first = next) {
		for (next = first + 1;
		     next < addresses->count &&
		     is_same_mapping(addresses->items[first], addresses->items[next]);
		     next++)
			;
		result = name_run(capture, writer, addresses->items + first, next - first);
	}
	return result;
}

int capture_name_frames(struct capture *capture, struct trace_writer *writer,
			struct stackmap_error *error)
{
	struct addresses addresses = {};
	int result = trace_writer_frames(writer, add_address, &addresses);

	leave_out_sandbox(capture);
	sort_addresses(&addresses);
	result = result ?: name_all(capture, writer, &addresses);
	free(addresses.items);
	capture->written.notes[NOTE_UNREAD_FILES] += naming_failures(capture->naming);
	if (result)
		error_set(error, -result, "names of frames: %s", strerror(-result));
	return result;
}

u64 capture_code_met(const struct capture *capture)
{
	return capture->code_met;
}
