/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses. User code of files has none that holds for all processes: it is at its frame, mapping
 * number << 40 | offset, in a mapping of that range, so addresses of two files never meet. Kernel
 * and generated code are where they were. Behind a call it is the last byte of the call, as pprof
 * wants it.
 *
 * Every mapping claims to have all names already: otherwise pprof looks into files of that path on
 * its own machine, whatever their build id, and puts their names in the place of ours.
 */
#include "pprof_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "export/profile.pb-c.h"
#include "format/json_text.h"
#include "intern.h"

#define ENTRIES 1024 /* to begin with */

struct function {
	struct intern_key key; /* name and file, as strings */
	u64 id;
};

/* Numbers that were there already. */
struct seen {
	bool *numbers;
	u32 room;
};

struct pprof_tables {
	const struct trace_reader *reader;
	struct gzip_stream *to;
	struct text_set strings;
	struct intern functions;
	struct seen locations, mappings;
};

struct gzip_append {
	ProtobufCBuffer base; /* first */
	struct gzip_stream *to;
};

static void append(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
	gzip_stream_write(((struct gzip_append *)buffer)->to, data, bytes);
}

void pprof_put(struct gzip_stream *to, const Pprof__Profile *part)
{
	struct gzip_append buffer = {.base.append = append, .to = to};

	pprof__profile__pack_to_buffer(part, &buffer.base);
}

static int seen_before(struct seen *seen, u64 number, bool *before)
{
	if (array_make_zeroed(seen->numbers, number + 1, seen->room))
		return -ENOMEM;
	*before = seen->numbers[number];
	seen->numbers[number] = true;
	return 0;
}

static int put_string(struct pprof_tables *tables, const char *text)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	json_t *plain = json_text(text);
	char *string;

	if (!plain)
		return -ENOMEM;
	string = (char *)json_string_value(plain);
	part.string_table = &string;
	part.n_string_table = 1;
	pprof_put(tables->to, &part);
	json_decref(plain);
	return 0;
}

int pprof_string(struct pprof_tables *tables, const char *text, s64 *index)
{
	u32 count = tables->strings.count;
	u32 number = text_set_number(&tables->strings, text);

	if (number == HASH_INDEX_NONE || (number == count && put_string(tables, text)))
		return -ENOMEM;
	*index = number;
	return 0;
}

static void put_function(struct pprof_tables *tables, const struct function *function)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Function message = PPROF__FUNCTION__INIT, *messages = &message;

	message.id = function->id;
	message.name = message.system_name = (s64)function->key.word[0];
	message.filename = (s64)function->key.word[1];
	part.function = &messages;
	part.n_function = 1;
	pprof_put(tables->to, &part);
}

static int find_function(struct pprof_tables *tables, const char *name, const char *file, u64 *id)
{
	struct function *function;
	s64 name_index, file_index;

	if (pprof_string(tables, name, &name_index) || pprof_string(tables, file, &file_index))
		return -ENOMEM;
	function = intern_entry(&tables->functions,
				&(struct intern_key){{(u64)name_index, (u64)file_index}});
	if (!function)
		return -ENOMEM;
	if (!function->id) {
		function->id = tables->functions.count;
		put_function(tables, function);
	}
	*id = function->id;
	return 0;
}

static int set_file(struct pprof_tables *tables, const char *path, const u8 *build_id,
		    u32 build_id_bytes, Pprof__Mapping *message)
{
	char text[2 * TRACE_BUILD_ID_MAX + 1] = "";

	for (u32 i = 0; i < build_id_bytes; i++)
		sprintf(&text[2UL * i], "%02x", build_id[i]);
	if (pprof_string(tables, path, &message->filename))
		return -ENOMEM;
	return pprof_string(tables, text, &message->build_id);
}

static int put_mapping(struct pprof_tables *tables, Pprof__Mapping *message)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;

	message->has_functions = true;
	message->has_filenames = true;
	message->has_line_numbers = true;
	message->has_inline_frames = true;
	part.mapping = &message;
	part.n_mapping = 1;
	pprof_put(tables->to, &part);
	return 0;
}

static int put_module(struct pprof_tables *tables, u64 id, const char *object,
		      const struct trace_module *module)
{
	Pprof__Mapping message = PPROF__MAPPING__INIT;

	message.id = id;
	message.memory_start = module->start;
	message.memory_limit = module->end;
	if (set_file(tables, object, module->build_id, module->build_id_bytes, &message))
		return -ENOMEM;
	return put_mapping(tables, &message);
}

static int put_user_mapping(struct pprof_tables *tables, u64 id,
			    const struct trace_mapping *mapping)
{
	Pprof__Mapping message = PPROF__MAPPING__INIT;

	message.id = id;
	message.memory_start =
		mapping->kind == MAPPING_ANON ? mapping->base : FRAME_USER(mapping->number, 0);
	message.memory_limit = message.memory_start + FRAME_OFFSET_MASK + 1;
	if (set_file(tables, mapping->path, mapping->build_id, mapping->build_id_bytes, &message))
		return -ENOMEM;
	return put_mapping(tables, &message);
}

/* The ids of modules come first. */
static int find_module(struct pprof_tables *tables, const struct frame_name *name, u64 *id)
{
	const struct trace_module *modules;
	u32 count = trace_reader_modules(tables->reader, &modules);
	bool before;

	*id = 0;
	for (u32 i = 0; i < count; i++) {
		if (name->frame < modules[i].start || name->frame >= modules[i].end)
			continue;
		*id = i + 1UL;
		if (seen_before(&tables->mappings, *id, &before))
			return -ENOMEM;
		return before ? 0 : put_module(tables, *id, name->object, &modules[i]);
	}
	return 0;
}

static int find_user_mapping(struct pprof_tables *tables, const struct trace_mapping *mapping,
			     u64 *id)
{
	const struct trace_mapping *mappings;
	const struct trace_module *modules;
	bool before;

	*id = 0;
	if (!mapping)
		return 0;
	trace_reader_mappings(tables->reader, &mappings);
	*id = trace_reader_modules(tables->reader, &modules) + (u64)(mapping - mappings) + 1;
	if (seen_before(&tables->mappings, *id, &before))
		return -ENOMEM;
	return before ? 0 : put_user_mapping(tables, *id, mapping);
}

int pprof_mapping(struct pprof_tables *tables, const struct trace_mapping *mapping)
{
	u64 id;

	return find_user_mapping(tables, mapping, &id);
}

static int set_place(struct pprof_tables *tables, const struct frame_name *name,
		     Pprof__Location *message)
{
	const struct trace_mapping *mapping;

	message->address = name->address ? name->address - name->return_address : 0;
	if (FRAME_IS_KERNEL(name->frame)) /* one that is hidden lies in none */
		return name->address ? find_module(tables, name, &message->mapping_id) : 0;
	mapping = trace_reader_mapping(tables->reader, FRAME_MAPPING(name->frame));
	if (mapping && mapping->kind != MAPPING_ANON)
		message->address = name->frame - name->return_address;
	return find_user_mapping(tables, mapping, &message->mapping_id);
}

static int set_line(struct pprof_tables *tables, const char *name, const char *file, u32 line,
		    Pprof__Line *message)
{
	pprof__line__init(message);
	message->line = line;
	return find_function(tables, name, file ?: "", &message->function_id);
}

/* What was inlined comes first. */
static int set_lines(struct pprof_tables *tables, const struct event_frame *frame,
		     Pprof__Line *lines)
{
	const struct frame_name *name = frame->name;
	int err = 0;

	if (!name)
		return set_line(tables, frame->label, NULL, 0, lines);
	for (u32 i = 0; i < name->function_count && !err; i++) {
		const struct frame_function *function = &name->functions[i];

		err = set_line(tables,
			       function->inlined ? function->name ?: "[unknown]" : frame->label,
			       function->file, function->line, &lines[i]);
	}
	return err;
}

/* `lines` and `line` have room for all lines of the message. */
static int put_location_lines(struct pprof_tables *tables, const struct event_frame *frame,
			      Pprof__Location *message, Pprof__Line *lines, Pprof__Line **line)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;

	for (size_t i = 0; i < message->n_line; i++)
		line[i] = &lines[i];
	if (set_lines(tables, frame, lines))
		return -ENOMEM;
	message->line = line;
	part.location = &message;
	part.n_location = 1;
	pprof_put(tables->to, &part);
	return 0;
}

static int put_location(struct pprof_tables *tables, u64 id, const struct event_frame *frame)
{
	u32 count = frame->name ? frame->name->function_count : 1;
	Pprof__Location message = PPROF__LOCATION__INIT;
	Pprof__Line *lines = calloc(count, sizeof(Pprof__Line));
	Pprof__Line **line = calloc(count, sizeof(Pprof__Line *));
	int err = lines && line ? 0 : -ENOMEM;

	message.id = id;
	message.n_line = count;
	if (!err && frame->name)
		err = set_place(tables, frame->name, &message);
	err = err ?: put_location_lines(tables, frame, &message, lines, line);
	free(line);
	free(lines);
	return err;
}

int pprof_location(struct pprof_tables *tables, const struct event_frame *frame, u64 *id)
{
	bool before;

	*id = frame->number + 1UL;
	if (seen_before(&tables->locations, *id, &before))
		return -ENOMEM;
	return before ? 0 : put_location(tables, *id, frame);
}

int pprof_tables_create(const struct trace_reader *reader, struct gzip_stream *to,
			struct pprof_tables **out)
{
	struct pprof_tables *tables = calloc(1, sizeof(*tables));
	s64 empty;

	if (!tables)
		return -ENOMEM;
	tables->reader = reader;
	tables->to = to;
	tables->strings = TEXT_SET;
	tables->functions = INTERN(struct function);
	if (pprof_string(tables, "", &empty)) {
		pprof_tables_free(&tables);
		return -ENOMEM;
	}
	*out = tables;
	return 0;
}

void pprof_tables_free(struct pprof_tables **tables)
{
	struct pprof_tables *old = *tables;

	if (!old)
		return;
	text_set_clear(&old->strings);
	intern_clear(&old->functions);
	free(old->locations.numbers);
	free(old->mappings.numbers);
	free(old);
	*tables = NULL;
}
