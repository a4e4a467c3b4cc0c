/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each server gets three queries, with the keys that no earlier server has answered: stacks by
 * their hashes, frames by object and offset, objects by their ids. Keys are sent as external
 * tables, which servers look up by their primary keys, so the queries need no joins.
 *
 * A host sends the rows of a stack on the day of the stack's events. After a correction of the
 * host's clock, these rows may have the day before that day. The queries therefore begin one day
 * before the first event.
 */
#include "store/read/code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "hex.h"
#include "store/wire/row_binary.h"

#define DAY_SECONDS 86400
#define MEMORY_MAX (4ULL << 30)
#define FUNCTIONS_MAX                                                                              \
	256 /* limit for the number of functions of a frame: its function, and those               \
	       inlined there */
#define KEYS "wanted"

struct reading {
	struct shards *shards;
	struct store_counts *counts;
	struct store_code *code;
	char days[96];
};

/* Copies a text of the answer into the arena, with a NUL at its end. NULL if memory is short. */
static const char *copy_text_of_answer(struct store_code *code, struct byte_cursor *row)
{
	size_t length;
	const char *text = row_get_text(row, &length);
	size_t used = strnlen(text, length);
	char *copy = arena_alloc(&code->arena, used + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, used);
	copy[used] = '\0';
	return copy;
}

/* --- interning --- */

static struct store_object *intern_object(struct store_code *code, const u8 *id)
{
	struct intern_key key = {};
	struct store_object *object;

	memcpy(key.word, id, STORE_HASH_BYTES);
	object = intern_find_or_add_entry(&code->objects, &key);
	if (object && !object->number) {
		object->number = code->objects.count;
		object->path = "";
	}
	return object;
}

static struct store_frame *intern_frame(struct store_code *code, const u8 *id, u64 offset)
{
	struct store_object *object = intern_object(code, id);
	struct intern_key key = {.word = {0, 0, offset}};
	struct store_frame *frame;

	memcpy(key.word, id, STORE_HASH_BYTES);
	frame = object ? intern_find_or_add_entry(&code->frames, &key) : NULL;
	if (frame && !frame->number) {
		frame->number = code->frames.count;
		frame->object = object;
	}
	return frame;
}

/* --- stacks --- */

static int set_stack_frames(struct store_code *code, struct store_stack *stack, const u8 *objects,
			    const u8 *offsets)
{
	stack->places = arena_alloc(&code->arena, (stack->depth + 1UL) * sizeof(*stack->places));
	if (!stack->places)
		return -ENOMEM;
	for (u32 i = 0; i < stack->depth; i++) {
		/* The first frame of a kernel part or user part is a program counter, all others
		 * are return addresses. */
		bool executed = i == 0 || i == stack->kernel_depth;
		u64 offset;

		memcpy(&offset, offsets + 8UL * i, sizeof(offset));
		stack->places[i].is_executed = executed || !offset;
		stack->places[i].frame = intern_frame(code, objects + (size_t)STORE_HASH_BYTES * i,
						      executed || !offset ? offset : offset - 1);
		if (!stack->places[i].frame)
			return -ENOMEM;
	}
	return 0;
}

static int read_stack_row(void *arg, u32 shard, struct byte_cursor *row,
			  struct stackmap_error *error)
{
	struct reading *reading = arg;
	struct store_code *code = reading->code;
	const u8 *hash = row_get_bytes(row, STORE_HASH_BYTES), *objects, *offsets;
	struct store_stack stack = {.is_known = true};
	const struct intern_number *entry;
	struct intern_key key = {};

	(void)shard;
	stack.kernel_depth = row_get_u16(row);
	stack.kernel_end = copy_text_of_answer(code, row);
	stack.user_end = copy_text_of_answer(code, row);
	stack.leaf = row_get_u8(row);
	stack.depth = row_get_count(row);
	objects = row_get_bytes(row, (size_t)stack.depth * STORE_HASH_BYTES);
	if (row_get_count(row) != stack.depth || stack.depth > STORE_DEPTH_MAX ||
	    stack.kernel_depth > stack.depth)
		row->bad = true;
	offsets = row_get_bytes(row, 8UL * stack.depth);
	if (row->bad)
		return 0;
	memcpy(key.word, hash, STORE_HASH_BYTES);
	/* A hash that the program has not asked for is added, which only costs memory. */
	entry = intern_find_or_add_entry(&reading->counts->stacks, &key);
	if (!stack.kernel_end || !stack.user_end || !entry || !entry->number)
		return error_set_errno(error, ENOMEM, "store");
	if (entry->number > code->stack_count || code->stacks[entry->number - 1].is_known)
		return 0;
	if (set_stack_frames(code, &stack, objects, offsets))
		return error_set_errno(error, ENOMEM, "store");
	code->stacks[entry->number - 1] = stack;
	return 0;
}

static void append_stack_keys(const struct reading *reading, struct byte_buffer *keys)
{
	for (u32 i = STORE_STACK_REST + 1; i < reading->code->stack_count; i++) {
		const struct intern_number *entry = reading->counts->stacks.entries[i];

		if (!reading->code->stacks[i].is_known)
			row_put_bytes(keys, entry->key.word, STORE_HASH_BYTES);
	}
}

/* --- frames --- */

static int read_function_names_of_frame(struct store_code *code, struct byte_cursor *row,
					struct store_frame *frame)
{
	u64 count = row_get_count(row);
	const char **functions;

	if (count > FUNCTIONS_MAX)
		row->bad = true;
	functions = arena_alloc(&code->arena, (row->bad ? 1 : count + 1) * sizeof(*functions));
	for (u64 i = 0; functions && !row->bad && i < count; i++) {
		functions[i] = copy_text_of_answer(code, row);
		if (!functions[i])
			return -ENOMEM;
	}
	if (!functions || row->bad)
		return functions ? 0 : -ENOMEM;
	frame->functions = functions;
	frame->function_count = count;
	return 0;
}

static int read_frame_row(void *arg, u32 shard, struct byte_cursor *row,
			  struct stackmap_error *error)
{
	struct reading *reading = arg;
	static const u8 none[STORE_HASH_BYTES];
	const u8 *object = row_get_bytes(row, STORE_HASH_BYTES);
	struct store_frame *frame = intern_frame(reading->code, object ?: none, row_get_u64(row));

	(void)shard;
	if (!frame)
		return error_set_errno(error, ENOMEM, "store");
	frame->start = row_get_u64(row);
	frame->size = row_get_u64(row);
	return read_function_names_of_frame(reading->code, row, frame)
		       ? error_set_errno(error, ENOMEM, "store")
		       : 0;
}

static void append_frame_keys(const struct reading *reading, struct byte_buffer *keys)
{
	for (u32 i = 0; i < reading->code->frames.count; i++) {
		const struct store_frame *frame = reading->code->frames.entries[i];

		if (frame->function_count)
			continue;
		row_put_bytes(keys, frame->key.word, STORE_HASH_BYTES);
		row_put_u64(keys, frame->key.word[2]);
	}
}

/* --- objects --- */

static int read_object_row(void *arg, u32 shard, struct byte_cursor *row,
			   struct stackmap_error *error)
{
	struct reading *reading = arg;
	static const u8 none[STORE_HASH_BYTES];
	const u8 *id = row_get_bytes(row, STORE_HASH_BYTES);
	struct store_object *object = intern_object(reading->code, id ?: none);
	size_t length;
	const char *build_id;

	(void)shard;
	if (!object)
		return error_set_errno(error, ENOMEM, "store");
	object->kind = row_get_u8(row);
	build_id = row_get_text(row, &length);
	/* An invalid text leaves the object without a build id. */
	if (length % 2 == 0 && length / 2 <= sizeof(object->build_id) &&
	    hex_bytes(build_id, object->build_id, length / 2) == length / 2)
		object->build_id_bytes = length / 2;
	object->path = copy_text_of_answer(reading->code, row);
	object->is_kernel = row_get_u8(row);
	object->is_known = true;
	return object->path ? 0 : error_set_errno(error, ENOMEM, "store");
}

static void append_object_keys(const struct reading *reading, struct byte_buffer *keys)
{
	for (u32 i = 0; i < reading->code->objects.count; i++) {
		const struct store_object *object = reading->code->objects.entries[i];

		if (!object->is_known)
			row_put_bytes(keys, object->key.word, STORE_HASH_BYTES);
	}
}

/* --- the three queries --- */

/* With PREWHERE the server reads the arrays in the wanted rows only. */
static const struct part {
	const char *select, *rest, *structure;
	void (*put)(const struct reading *reading, struct byte_buffer *keys);
	shard_row take;
} parts[] = {
	{"SELECT stack, kernel_depth, kernel_end, user_end, leaf, object, offset FROM stacks "
	 "PREWHERE stack IN " KEYS " WHERE ",
	 " LIMIT 1 BY stack", "stack FixedString(16)", append_stack_keys, read_stack_row},
	/* The row of highest rank is chosen. Among equal ranks a row with the function's bounds is
	   preferred. */
	{"SELECT object, offset, start, size, functions FROM frames "
	 "PREWHERE (object, offset) IN " KEYS " WHERE ",
	 " ORDER BY rank DESC, size > 0 DESC LIMIT 1 BY object, offset",
	 "object FixedString(16), offset UInt64", append_frame_keys, read_frame_row},
	{"SELECT object, kind, build_id, path, kernel FROM objects PREWHERE object IN " KEYS
	 " WHERE ",
	 " LIMIT 1 BY object", "object FixedString(16)", append_object_keys, read_object_row},
};

static int query_rows_of_missing_keys(struct reading *reading, const struct part *part,
				      struct stackmap_error *error)
{
	struct clickhouse_table table = {.name = KEYS, .structure = part->structure};
	char sql[512];
	const struct shard_query query = {.sql = sql, .tables = &table, .table_count = 1};
	struct byte_buffer keys = {};
	int err = 0;

	snprintf(sql, sizeof(sql), "%s%s%s", part->select, reading->days, part->rest);
	for (u32 i = 0; i < shards_count(reading->shards) && !err; i++) {
		if (reason_shard_is_missing(reading->shards, i))
			continue;
		byte_buffer_clear(&keys);
		part->put(reading, &keys);
		table.rows = keys.data;
		table.bytes = keys.used;
		if (keys.failed)
			err = error_set_errno(error, ENOMEM, "store");
		else if (keys.used)
			err = shards_query_one_server(reading->shards, i, &query, part->take,
						      reading, error);
	}
	byte_buffer_free(&keys);
	return err;
}

int store_code_read(struct shards *shards, const struct store_question *question,
		    struct store_counts *counts, struct store_code *out,
		    struct stackmap_error *error)
{
	struct store_code code = {
		.arena.limit = MEMORY_MAX,
		.frames = INTERN(struct store_frame),
		.objects = INTERN(struct store_object),
	};
	struct reading reading = {.shards = shards, .counts = counts, .code = &code};
	u64 first = question->from / DAY_SECONDS;
	int err;

	snprintf(reading.days, sizeof(reading.days), "day >= toDate(%llu) AND day <= toDate(%llu)",
		 (unsigned long long)(first ? first - 1 : 0),
		 (unsigned long long)(question->to / DAY_SECONDS));
	code.stack_count = counts->stacks.count;
	code.stacks = calloc(code.stack_count + 1UL, sizeof(*code.stacks));
	err = code.stacks ? 0 : error_set_errno(error, ENOMEM, "store");
	for (u32 i = 0; i < sizeof(parts) / sizeof(*parts) && !err; i++)
		err = query_rows_of_missing_keys(&reading, &parts[i], error);
	if (err)
		store_code_clear(&code);
	else
		*out = code;
	return err;
}

void store_code_clear(struct store_code *code)
{
	arena_free(&code->arena);
	free(code->stacks);
	intern_clear(&code->frames);
	intern_clear(&code->objects);
	*code = (struct store_code){};
}
