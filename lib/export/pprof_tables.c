/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every mapping claims to have all names already: otherwise pprof looks into files of that path on
 * its own machine, whatever their build id, and puts their names in the place of ours.
 */
#include "pprof_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "export/profile.pb-c.h"
#include "format/json_text.h"
#include "intern.h"
#include "profile_place.h"

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

static int put_mapping(struct pprof_tables *tables, const struct profile_range *range)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Mapping message = PPROF__MAPPING__INIT, *messages = &message;

	message.id = range->number;
	message.memory_start = range->start;
	message.memory_limit = range->end;
	message.has_functions = true;
	message.has_filenames = true;
	message.has_line_numbers = true;
	message.has_inline_frames = true;
	if (pprof_string(tables, range->path, &message.filename) ||
	    pprof_string(tables, range->build_id, &message.build_id))
		return -ENOMEM;
	part.mapping = &messages;
	part.n_mapping = 1;
	pprof_put(tables->to, &part);
	return 0;
}

static int find_mapping(struct pprof_tables *tables, const struct profile_range *range)
{
	bool before;

	if (!range->number)
		return 0;
	if (seen_before(&tables->mappings, range->number, &before))
		return -ENOMEM;
	return before ? 0 : put_mapping(tables, range);
}

int pprof_mapping(struct pprof_tables *tables, const struct trace_mapping *mapping)
{
	struct profile_range range;

	profile_range_of(tables->reader, mapping, &range);
	return find_mapping(tables, &range);
}

static int set_place(struct pprof_tables *tables, const struct frame_name *name,
		     Pprof__Location *message)
{
	struct profile_place place;

	profile_place_of(tables->reader, name, &place);
	message->address = place.address;
	message->mapping_id = place.range.number;
	return find_mapping(tables, &place.range);
}

static int set_lines(struct pprof_tables *tables, const struct event_frame *frame,
		     Pprof__Line *lines)
{
	u32 count = profile_lines_at(frame);
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		struct profile_line line = profile_line_at(frame, i);

		pprof__line__init(&lines[i]);
		lines[i].line = line.line;
		err = find_function(tables, line.function, line.file, &lines[i].function_id);
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
	u32 count = profile_lines_at(frame);
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
