/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stack is a path of locations from the outermost location. Stacks with the same outer locations
 * share nodes of a tree, so a stack only adds nodes for its inner part, and equal stacks end in the
 * same node.
 */
#include "otlp_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "event_stack.h"
#include "export/otlp.pb-c.h"
#include "format/json_text.h"
#include "intern.h"

struct stack_node {
	struct intern_key key; /* word 0: `number` of the caller's node; word 1: location */
	u32 number;	       /* index of the node, from 1 on */
	s32 stack;	       /* index of the stack that ends at this node; 0: none */
};

/* The index in the dictionary of each location, mapping or link, by its number in the recording. */
struct indexes {
	s32 *of; /* index in the dictionary, by number; 0: not in the dictionary yet */
	u32 room;
	s32 count; /* number of entries in the dictionary; the first index is 1 */
};

struct otlp_tables {
	const struct trace_reader *reader;
	struct byte_buffer encoded;
	struct text_set strings;
	/* entries: struct intern_number, indexes of attributes; key: string index of the
	 * attribute's key, type of the value, value
	 */
	struct intern attributes;
	struct intern functions; /* entries: struct intern_number, indexes of functions; key: string
				    indexes of name and file */
	struct intern nodes;
	struct indexes locations, mappings, links;
	s32 stacks;
	s32 *path; /* locations of the stack that is being added, innermost first */
	u32 room;
};

struct buffer_append {
	ProtobufCBuffer base; /* first member: protobuf-c gets its address */
	struct byte_buffer *to;
};

static void append_to_buffer(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
	byte_buffer_append(((struct buffer_append *)buffer)->to, data, bytes);
}

void otlp_encode(struct byte_buffer *to, const struct ProtobufCMessage *message)
{
	struct buffer_append buffer = {.base.append = append_to_buffer, .to = to};

	protobuf_c_message_pack_to_buffer(message, &buffer.base);
}

static void append_dictionary_part(struct otlp_tables *tables, const Otlp__Dictionary *part)
{
	otlp_encode(&tables->encoded, &part->base);
}

/* Returns a pointer to the dictionary index for this number, which is 0 if the number is new; NULL
 * without memory. */
static s32 *find_dictionary_index(struct indexes *indexes, u64 number)
{
	if (array_make_zeroed(indexes->of, number + 1, indexes->room))
		return NULL;
	return &indexes->of[number];
}

int otlp_string(struct otlp_tables *tables, const char *text, s32 *index)
{
	u32 count = tables->strings.count;
	u32 number = text_set_find_or_add_number(&tables->strings, text);

	if (number == HASH_INDEX_NONE)
		return -ENOMEM;
	if (number == count) {
		Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
		json_t *plain = json_text(text);
		char *string = plain ? (char *)json_string_value(plain) : NULL;

		if (!plain)
			return -ENOMEM;
		part.string_table = &string;
		part.n_string_table = 1;
		append_dictionary_part(tables, &part);
		json_decref(plain);
	}
	*index = (s32)number;
	return 0;
}

/* Finds or adds an attribute. `identity` is a number that is equal for equal values of the same
 * type. */
static int find_or_add_otlp_attribute(struct otlp_tables *tables, const char *key,
				      Otlp__AnyValue *value, u64 identity, s32 *index)
{
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	Otlp__Attribute message = OTLP__ATTRIBUTE__INIT, *messages = &message;
	struct intern_number *attribute;

	if (otlp_string(tables, key, &message.key_strindex))
		return -ENOMEM;
	attribute = intern_find_or_add_entry(
		&tables->attributes,
		&(struct intern_key){{(u64)message.key_strindex, value->value_case, identity}});
	if (!attribute)
		return -ENOMEM;
	if (!attribute->number) {
		attribute->number = tables->attributes.count;
		message.value = value;
		part.attribute_table = &messages;
		part.n_attribute_table = 1;
		append_dictionary_part(tables, &part);
	}
	*index = (s32)attribute->number;
	return 0;
}

/* The text is interned as a string, too. Its string index is the identity of the value. */
int otlp_text_attribute(struct otlp_tables *tables, const char *key, const char *text, s32 *index)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	json_t *plain = json_text(text);
	s32 number;
	int err = plain ? 0 : -ENOMEM;

	value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value.string_value = plain ? (char *)json_string_value(plain) : NULL;
	err = err ?: otlp_string(tables, text, &number);
	err = err ?: find_or_add_otlp_attribute(tables, key, &value, (u64)number, index);
	json_decref(plain);
	return err;
}

int otlp_number_attribute(struct otlp_tables *tables, const char *key, s64 number, s32 *index)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;

	value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value.int_value = number;
	return find_or_add_otlp_attribute(tables, key, &value, (u64)number, index);
}

int otlp_link(struct otlp_tables *tables, u32 number, s32 *index)
{
	const struct trace_context *contexts;
	u32 count = trace_reader_contexts(tables->reader, &contexts);
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	Otlp__Link message = OTLP__LINK__INIT, *messages = &message;
	s32 *known = number < count ? find_dictionary_index(&tables->links, number) : NULL;

	if (!known)
		return -ENOMEM;
	if (!*known) {
		*known = ++tables->links.count;
		message.trace_id.data = (u8 *)contexts[number].trace;
		message.trace_id.len = sizeof(contexts[number].trace);
		message.span_id.data = (u8 *)contexts[number].span;
		message.span_id.len = sizeof(contexts[number].span);
		part.link_table = &messages;
		part.n_link_table = 1;
		append_dictionary_part(tables, &part);
	}
	*index = *known;
	return 0;
}

static int find_or_add_function(struct otlp_tables *tables, const char *name, const char *file,
				s32 *index)
{
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	Otlp__Function message = OTLP__FUNCTION__INIT, *messages = &message;
	struct intern_number *function;
	s32 name_index, file_index;

	if (otlp_string(tables, name, &name_index) || otlp_string(tables, file, &file_index))
		return -ENOMEM;
	function = intern_find_or_add_entry(
		&tables->functions, &(struct intern_key){{(u64)name_index, (u64)file_index}});
	if (!function)
		return -ENOMEM;
	if (!function->number) {
		function->number = tables->functions.count;
		message.name_strindex = message.system_name_strindex = name_index;
		message.filename_strindex = file_index;
		part.function_table = &messages;
		part.n_function_table = 1;
		append_dictionary_part(tables, &part);
	}
	*index = (s32)function->number;
	return 0;
}

static int put_mapping(struct otlp_tables *tables, const struct profile_range *range)
{
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	Otlp__Mapping message = OTLP__MAPPING__INIT, *messages = &message;
	bool has_build_id = range->build_id[0];
	s32 attribute = 0;

	message.memory_start = range->start;
	message.memory_limit = range->end;
	if (has_build_id && otlp_text_attribute(tables, "process.executable.build_id.gnu",
						range->build_id, &attribute))
		return -ENOMEM;
	if (otlp_string(tables, range->path, &message.filename_strindex))
		return -ENOMEM;
	message.attribute_indices = &attribute;
	message.n_attribute_indices = has_build_id;
	part.mapping_table = &messages;
	part.n_mapping_table = 1;
	append_dictionary_part(tables, &part);
	return 0;
}

static int find_or_add_mapping(struct otlp_tables *tables, const struct profile_range *range,
			       s32 *index)
{
	s32 *known;

	*index = 0;
	if (!range->number)
		return 0;
	known = find_dictionary_index(&tables->mappings, range->number);
	if (!known || (!*known && put_mapping(tables, range)))
		return -ENOMEM;
	if (!*known)
		*known = ++tables->mappings.count;
	*index = *known;
	return 0;
}

/* Appends the location of a frame to the dictionary. `lines` and `line` have room for
 * message->n_lines elements. */
static int put_location(struct otlp_tables *tables, const struct event_frame *frame,
			Otlp__Location *message, Otlp__Line *lines, Otlp__Line **line)
{
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	struct profile_place place;
	s32 type;
	int err = 0;

	if (frame->name) {
		profile_place_of_frame(tables->reader, frame->name, &place);
		message->address = place.address;
		err = find_or_add_mapping(tables, &place.range, &message->mapping_index);
	}
	for (u32 i = 0; i < message->n_lines && !err; i++) {
		struct profile_line at = profile_line_of_frame(frame, i);

		line[i] = &lines[i];
		otlp__line__init(&lines[i]);
		lines[i].line = at.line;
		err = find_or_add_function(tables, at.function, at.file, &lines[i].function_index);
	}
	err = err
		      ?: otlp_text_attribute(tables, "profile.frame.type",
					     frame->in_kernel ? "kernel" : "native", &type);
	if (err)
		return err;
	message->lines = line;
	message->attribute_indices = &type;
	message->n_attribute_indices = frame->name ? 1 : 0;
	part.location_table = &message;
	part.n_location_table = 1;
	append_dictionary_part(tables, &part);
	return 0;
}

static int find_or_add_location(struct otlp_tables *tables, const struct event_frame *frame,
				s32 *index)
{
	s32 *known = find_dictionary_index(&tables->locations, frame->number);
	Otlp__Location message = OTLP__LOCATION__INIT;

	if (!known)
		return -ENOMEM;
	if (!*known) {
		u32 count = profile_count_functions_of_frame(frame);
		Otlp__Line *lines = calloc(count, sizeof(Otlp__Line));
		Otlp__Line **line = calloc(count, sizeof(Otlp__Line *));
		int err = lines && line ? 0 : -ENOMEM;

		message.n_lines = count;
		err = err ?: put_location(tables, frame, &message, lines, line);
		free(line);
		free(lines);
		if (err)
			return err;
		*known = ++tables->locations.count;
	}
	*index = *known;
	return 0;
}

/* The node of the stack whose locations are in tables->path; `depth` is at least 1. NULL without
 * memory. */
static struct stack_node *find_or_add_stack_node(struct otlp_tables *tables, size_t depth)
{
	struct stack_node *node = NULL;

	for (size_t i = depth; i-- > 0;) {
		node = intern_find_or_add_entry(
			&tables->nodes,
			&(struct intern_key){{node ? node->number : 0, (u64)tables->path[i]}});
		if (!node)
			return NULL;
		node->number = node->number ?: tables->nodes.count;
	}
	return node;
}

int otlp_stack(struct otlp_tables *tables, const struct event_stack *stack, s32 *index)
{
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	Otlp__Stack message = OTLP__STACK__INIT, *messages = &message;
	struct stack_node *node;
	size_t depth = 0;

	*index = 0;
	if (array_make_rooms(tables->path, stack->depth, tables->room))
		return -ENOMEM;
	/* Inlined functions are in the location of their frame. */
	for (u32 i = 0; i < stack->depth; i++)
		if (!stack->frames[i].inlined &&
		    find_or_add_location(tables, &stack->frames[i], &tables->path[depth++]))
			return -ENOMEM;
	if (!depth)
		return 0;
	node = find_or_add_stack_node(tables, depth);
	if (!node)
		return -ENOMEM;
	if (!node->stack) {
		node->stack = ++tables->stacks;
		message.location_indices = tables->path;
		message.n_location_indices = depth;
		part.stack_table = &messages;
		part.n_stack_table = 1;
		append_dictionary_part(tables, &part);
	}
	*index = node->stack;
	return 0;
}

const struct byte_buffer *otlp_dictionary(const struct otlp_tables *tables)
{
	return &tables->encoded;
}

/* Writes the empty first entry of each table, since index 0 means that there is no entry. */
static int write_empty_first_table_entries(struct otlp_tables *tables)
{
	Otlp__Dictionary part = OTLP__DICTIONARY__INIT;
	Otlp__Mapping mapping = OTLP__MAPPING__INIT, *mappings = &mapping;
	Otlp__Location location = OTLP__LOCATION__INIT, *locations = &location;
	Otlp__Function function = OTLP__FUNCTION__INIT, *functions = &function;
	Otlp__Link link = OTLP__LINK__INIT, *links = &link;
	Otlp__Attribute attribute = OTLP__ATTRIBUTE__INIT, *attributes = &attribute;
	Otlp__Stack stack = OTLP__STACK__INIT, *stacks = &stack;
	s32 empty;

	part.mapping_table = &mappings;
	part.location_table = &locations;
	part.function_table = &functions;
	part.link_table = &links;
	part.attribute_table = &attributes;
	part.stack_table = &stacks;
	part.n_mapping_table = part.n_location_table = part.n_function_table = 1;
	part.n_link_table = part.n_attribute_table = part.n_stack_table = 1;
	append_dictionary_part(tables, &part);
	return otlp_string(tables, "", &empty);
}

int otlp_tables_create(const struct trace_reader *reader, struct otlp_tables **out)
{
	struct otlp_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return -ENOMEM;
	tables->reader = reader;
	tables->strings = TEXT_SET;
	tables->attributes = INTERN(struct intern_number);
	tables->functions = INTERN(struct intern_number);
	tables->nodes = INTERN(struct stack_node);
	if (write_empty_first_table_entries(tables)) {
		otlp_tables_free(&tables);
		return -ENOMEM;
	}
	*out = tables;
	return 0;
}

void otlp_tables_free(struct otlp_tables **tables)
{
	struct otlp_tables *old = *tables;

	if (!old)
		return;
	byte_buffer_free(&old->encoded);
	text_set_clear(&old->strings);
	intern_clear(&old->attributes);
	intern_clear(&old->functions);
	intern_clear(&old->nodes);
	free(old->locations.of);
	free(old->mappings.of);
	free(old->links.of);
	free(old->path);
	free(old);
	*tables = NULL;
}
