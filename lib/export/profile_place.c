/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile_place.h"

#include <stdio.h>

static void set_build_id(struct profile_range *range, const u8 *build_id, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++)
		sprintf(&range->build_id[2UL * i], "%02x", build_id[i]);
}

void profile_range_of(const struct trace_reader *reader, const struct trace_mapping *mapping,
		      struct profile_range *range)
{
	const struct trace_mapping *mappings;
	const struct trace_module *modules;
	u64 start;

	*range = (struct profile_range){};
	if (!mapping)
		return;
	trace_reader_mappings(reader, &mappings);
	start = mapping->kind == MAPPING_ANON ? mapping->base : FRAME_USER(mapping->number, 0);
	range->number = trace_reader_modules(reader, &modules) + (u32)(mapping - mappings) + 1;
	range->start = start;
	range->end = start + FRAME_OFFSET_MASK + 1;
	range->path = mapping->path;
	set_build_id(range, mapping->build_id, mapping->build_id_bytes);
}

static void set_module(const struct trace_reader *reader, const struct frame_name *name,
		       struct profile_range *range)
{
	const struct trace_module *module = trace_reader_module_of(reader, name->frame);
	const struct trace_module *modules;

	if (!module)
		return;
	trace_reader_modules(reader, &modules);
	range->number = (u32)(module - modules) + 1;
	range->start = module->start;
	range->end = module->end;
	range->path = name->object;
	set_build_id(range, module->build_id, module->build_id_bytes);
}

/* The place of a hidden kernel address is in no range. */
void profile_place_of(const struct trace_reader *reader, const struct frame_name *name,
		      struct profile_place *place)
{
	const struct trace_mapping *mapping;

	*place = (struct profile_place){};
	place->address = name->address ? name->address - name->return_address : 0;
	if (FRAME_IS_KERNEL(name->frame)) {
		if (name->address)
			set_module(reader, name, &place->range);
		return;
	}
	mapping = trace_reader_mapping(reader, FRAME_MAPPING(name->frame));
	if (mapping && mapping->kind != MAPPING_ANON)
		place->address = (name->frame & ~FRAME_GUESSED) - name->return_address;
	profile_range_of(reader, mapping, &place->range);
}

u32 profile_lines_at(const struct event_frame *frame)
{
	return frame->name ? frame->name->function_count : 1;
}

struct profile_line profile_line_at(const struct event_frame *frame, u32 number)
{
	const struct frame_function *function;
	struct profile_line line = {.function = frame->label, .file = ""};

	if (!frame->name)
		return line;
	function = &frame->name->functions[number];
	if (function->inlined)
		line.function = function->name ?: "[unknown]";
	line.file = function->file ?: "";
	line.line = function->line;
	return line;
}
