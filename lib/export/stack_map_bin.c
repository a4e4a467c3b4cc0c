/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All stacks of a recording in the format of the file `stack_map_bin` of a live instance. The
 * reference count of a stack is the number of events that refer to it and pass the filter. Leaf
 * frames belong to events and are left out.
 */
#include <errno.h>
#include <stdlib.h>

#include "error.h"
#include "export_format.h"
#include "stack_map_bin.h"

struct counter {
	const struct trace_reader *reader;
	const struct event_filter *filter;
	u32 *refs; /* by stack index: number of references; saturates, since the format has 32 bits
		    */
};

static void add_events_to_stack_references(u32 *refs, u32 stack, u64 events)
{
	if (stack != TRACE_NO_STACK)
		refs[stack] =
			events < UINT32_MAX - refs[stack] ? refs[stack] + (u32)events : UINT32_MAX;
}

static int count_event(void *arg, const struct trace_event *event)
{
	struct counter *counter = arg;

	if (!event_filter_passes(counter->filter, counter->reader, event))
		return 0;
	add_events_to_stack_references(counter->refs, event->kernel, event_stands_for(event));
	add_events_to_stack_references(counter->refs, event->user, event_stands_for(event));
	return 0;
}

static int stack_map_bin_write(struct trace_reader *reader, const struct export_options *options,
			       FILE *to, struct stackmap_error *error)
{
	const struct trace_stack *stacks;
	u32 count = trace_reader_stacks(reader, &stacks);
	struct stack_map_bin_header header = {
		.magic = STACK_MAP_BIN_MAGIC,
		.version = STACK_MAP_BIN_VERSION,
		.count = count,
	};
	bool address_shown = trace_reader_info(reader)->address_shown;
	struct counter counter = {.reader = reader, .filter = &options->filter};
	int err;

	counter.refs = calloc(count + 1UL, sizeof(u32));
	if (!counter.refs)
		return error_set(error, ENOMEM, "stack_map_bin: not enough memory");
	err = trace_reader_events(reader, count_event, &counter, error);
	if (!err)
		fwrite(&header, sizeof(header), 1, to);
	for (u32 i = 0; i < count && !err; i++) {
		struct stack_map_bin_record record = {
			.stack_id = stacks[i].id,
			.depth = stacks[i].depth,
			.ref_count = counter.refs[i],
			.flags = stacks[i].flags & STACK_TRUNCATED ? 1 : 0,
		};

		fwrite(&record, sizeof(record), 1, to);
		for (u32 f = 0; f < stacks[i].depth; f++) {
			u64 frame = stacks[i].frames[f];

			/* A live instance writes 0 where kptr_restrict hides a kernel address. */
			if (FRAME_IS_KERNEL(frame) && !address_shown)
				frame = 0;
			fwrite(&frame, sizeof(frame), 1, to);
		}
	}
	free(counter.refs);
	return err;
}

const struct export_format stack_map_bin_format = {
	.name = "stack_map_bin",
	.binary = true,
	.write = stack_map_bin_write,
};
