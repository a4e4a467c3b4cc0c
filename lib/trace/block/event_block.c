/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encodes events to columns and decodes them. Insertion sort orders the events: within a CPU only
 * events of interrupted programs are out of order, by a few positions. The dictionary of keys is an
 * open-addressing table, which is emptied by incrementing the encoder's round number.
 */
#include "trace/block/event_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/block/resolution_block.h"
#include "trace/bytes/key_order.h"
#include "trace/bytes/number_column.h"

#define KEY_TABLE_BITS 17 /* log2 of the number of slots, which is twice TRACE_BLOCK_EVENTS_MAX */
#define KEY_TABLE_SLOTS (1U << KEY_TABLE_BITS)

struct event_key {
	u32 tid;
	u32 kind;
	u32 kernel; /* code of the kernel stack: stack_code() */
	u32 user;
};

/* The last numbers of a key: a leaf or a value is coded as the difference to the last leaf or value
 * of the same key. The first leaf of a key is coded as the difference to the last leaf of all keys
 * that have a kernel stack, or of all keys without a kernel stack. This mostly separates kernel pcs
 * from user pcs. */
struct key_memory {
	u64 leaf;
	u64 value;
	u64 context;
	u64 further;
};

struct key_slot {
	u32 round;
	u32 key;
};

struct event_encoder {
	struct block_builder builder;
	struct number_writer time, leaf, value, repeats, context, further;
	struct key_order order;
	u64 last_leaf[2];
	u32 newest; /* the highest stack index in the block so far */
	u32 round;
	u32 keys;
	struct event_key key[TRACE_BLOCK_EVENTS_MAX];
	struct key_memory memory[TRACE_BLOCK_EVENTS_MAX];
	struct key_successors successors[TRACE_BLOCK_EVENTS_MAX];
	struct key_slot table[KEY_TABLE_SLOTS];
};

static void set_columns_of_number_writer(struct number_writer *writer, struct byte_buffer *column)
{
	writer->codes = &column[0];
	writer->bits = &column[1];
}

int event_encoder_create(struct event_encoder **out)
{
	struct event_encoder *encoder = calloc(1, sizeof(*encoder));

	if (!encoder)
		return -ENOMEM;
	encoder->builder.type = TRACE_BLOCK_EVENTS;
	set_columns_of_number_writer(&encoder->time, &encoder->builder.column[EVENT_COLUMN_TIME]);
	set_columns_of_number_writer(&encoder->leaf, &encoder->builder.column[EVENT_COLUMN_LEAF]);
	set_columns_of_number_writer(&encoder->value, &encoder->builder.column[EVENT_COLUMN_VALUE]);
	set_columns_of_number_writer(&encoder->repeats,
				     &encoder->builder.column[EVENT_COLUMN_REPEATS]);
	set_columns_of_number_writer(&encoder->context,
				     &encoder->builder.column[EVENT_COLUMN_CONTEXT]);
	set_columns_of_number_writer(&encoder->further,
				     &encoder->builder.column[EVENT_COLUMN_FURTHER]);
	*out = encoder;
	return 0;
}

void event_encoder_free(struct event_encoder **encoder)
{
	if (!*encoder)
		return;
	block_builder_free(&(*encoder)->builder);
	free(*encoder);
	*encoder = NULL;
}

static void sort_by_time(struct trace_event *events, u32 count)
{
	for (u32 i = 1; i < count; i++) {
		struct trace_event late = events[i];
		u32 place = i;

		for (; place && events[place - 1].time > late.time; place--)
			events[place] = events[place - 1];
		if (place != i)
			events[place] = late;
	}
}

static u32 append_event_key_to_columns(struct event_encoder *encoder, const struct event_key *key)
{
	struct byte_buffer *column = encoder->builder.column;
	u32 index = encoder->keys++, tid_before = index ? encoder->key[index - 1].tid : 0;

	byte_buffer_signed(&column[EVENT_COLUMN_TASKS], (s64)key->tid - tid_before);
	byte_buffer_varint(&column[EVENT_COLUMN_TASKS], key->kind);
	write_stack_code_to_column(&column[EVENT_COLUMN_KERNEL], key->kernel, &encoder->newest);
	write_stack_code_to_column(&column[EVENT_COLUMN_USER], key->user, &encoder->newest);
	encoder->key[index] = *key;
	encoder->memory[index] = (struct key_memory){
		.leaf = encoder->last_leaf[stack_code_has_stack(key->kernel)],
	};
	return index;
}

static u32 find_or_add_key(struct event_encoder *encoder, const struct event_key *key)
{
	u64 hash = ((u64)key->tid << 32 | key->kernel) * 0x9e3779b97f4a7c15ULL;
	u32 at;

	hash ^= ((u64)key->kind << 32 | key->user) * 0xc2b2ae3d27d4eb4fULL;
	at = (u32)((hash * 0x9e3779b97f4a7c15ULL) >> (64 - KEY_TABLE_BITS));
	for (;; at = (at + 1) % KEY_TABLE_SLOTS) {
		struct key_slot *slot = &encoder->table[at];

		if (slot->round != encoder->round) {
			*slot = (struct key_slot){encoder->round,
						  append_event_key_to_columns(encoder, key)};
			return slot->key;
		}
		if (!memcmp(&encoder->key[slot->key], key, sizeof(*key)))
			return slot->key;
	}
}

/* The kinds of numbers that any event of the block has, as bits. */
enum { HAS_LEAF = 1, HAS_VALUE = 2, HAS_REPEATS = 4, HAS_CONTEXT = 8, HAS_FURTHER = 16 };

static void write_difference(struct number_writer *writer, u64 *last, u64 number)
{
	number_writer_put(writer, zigzag((s64)(number - *last)));
	*last = number;
}

static void write_events(struct event_encoder *encoder, const struct trace_event *events, u32 count,
			 u32 numbers)
{
	struct byte_buffer *order = &encoder->builder.column[EVENT_COLUMN_ORDER];
	u64 time = events[0].time;

	for (u32 i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];
		const struct event_key whole = {
			.tid = event->tid,
			.kind = event->kind,
			.kernel = stack_code(event->kernel, event->kernel_reason),
			.user = stack_code(event->user, event->user_reason),
		};
		u32 key = find_or_add_key(encoder, &whole);
		struct key_memory *memory = &encoder->memory[key];

		byte_buffer_varint(order, key_order_encode(&encoder->order, key));
		number_writer_put(&encoder->time, event->time - time);
		time = event->time;
		if (numbers & HAS_LEAF) {
			write_difference(&encoder->leaf, &memory->leaf, event->leaf);
			encoder->last_leaf[stack_code_has_stack(whole.kernel)] = event->leaf;
		}
		if (numbers & HAS_VALUE)
			write_difference(&encoder->value, &memory->value, event->value);
		if (numbers & HAS_REPEATS)
			number_writer_put(&encoder->repeats, event->repeats);
		/* number of the event's context, plus 1; 0: the event has no context */
		if (numbers & HAS_CONTEXT)
			write_difference(&encoder->context, &memory->context,
					 event->has_context ? (u64)event->context + 1 : 0);
		if (numbers & HAS_FURTHER)
			write_difference(&encoder->further, &memory->further, event->further);
	}
}

int event_encoder_run(struct event_encoder *encoder, struct trace_event *events, u32 count,
		      bool has_repeats, const struct block_builder **builder)
{
	u32 numbers = 0; /* kinds of numbers that any event has: HAS_LEAF... */

	for (u32 i = 0; i < count; i++)
		numbers |= (events[i].leaf ? HAS_LEAF : 0) | (events[i].value ? HAS_VALUE : 0) |
			   (event_stands_for(&events[i]) != 1 ? HAS_REPEATS : 0) |
			   (events[i].has_context ? HAS_CONTEXT : 0) |
			   (events[i].further ? HAS_FURTHER : 0);
	if (!count || count > TRACE_BLOCK_EVENTS_MAX)
		return -EINVAL;
	if (numbers & (has_repeats ? HAS_CONTEXT | HAS_FURTHER : HAS_REPEATS))
		return -EINVAL;
	block_builder_clear(&encoder->builder);
	key_order_start(&encoder->order, encoder->successors);
	memset(encoder->last_leaf, 0, sizeof(encoder->last_leaf));
	encoder->keys = 0;
	encoder->newest = 0;
	if (++encoder->round == 0) {
		memset(encoder->table, 0, sizeof(encoder->table));
		encoder->round = 1;
	}
	encoder->builder.columns = numbers & HAS_FURTHER   ? EVENT_COLUMNS_FURTHER
				   : numbers & HAS_CONTEXT ? EVENT_COLUMNS_CONTEXTS
							   : event_block_columns(has_repeats);
	sort_by_time(events, count);
	write_events(encoder, events, count, numbers);
	number_writer_finish(&encoder->time);
	number_writer_finish(&encoder->leaf);
	number_writer_finish(&encoder->value);
	number_writer_finish(&encoder->repeats);
	number_writer_finish(&encoder->context);
	number_writer_finish(&encoder->further);
	encoder->builder.cpu = events[0].cpu;
	encoder->builder.records = count;
	encoder->builder.first_time = events[0].time;
	encoder->builder.last_time = events[count - 1].time;
	*builder = &encoder->builder;
	return 0;
}

struct event_decoder {
	struct block_view *view;
	struct number_reader time, leaf, value, repeats, context, further;
	u32 numbers; /* kinds of numbers that the block's events have: HAS_LEAF... */
	struct key_order order;
	u64 last_leaf[2];
	u32 newest;
	u32 keys;
	struct event_key *key;
	struct key_memory *memory;
	struct key_successors *successors;
};

#define TASK_BYTES_MIN 2 /* bytes of the shortest key in EVENT_COLUMN_TASKS */

static int read_keys(struct event_decoder *decoder, const struct event_limits *limits)
{
	struct byte_cursor *column = decoder->view->column, *tasks = &column[EVENT_COLUMN_TASKS];
	size_t most = byte_cursor_left(tasks) / TASK_BYTES_MIN;
	u32 tid = 0;

	/* each key of the dictionary belongs to at least one event */
	if (most > decoder->view->header.records)
		most = decoder->view->header.records;
	decoder->key = calloc(most + 1, sizeof(*decoder->key));
	decoder->memory = calloc(most + 1, sizeof(*decoder->memory));
	decoder->successors = calloc(most + 1, sizeof(*decoder->successors));
	if (!decoder->key || !decoder->memory || !decoder->successors)
		return -ENOMEM;
	for (; byte_cursor_left(tasks) && decoder->keys < most; decoder->keys++) {
		struct event_key *key = &decoder->key[decoder->keys];

		tid += (u32)byte_cursor_signed(tasks);
		key->tid = tid;
		key->kind = byte_cursor_u32(tasks);
		key->kernel = read_stack_code_from_column(&column[EVENT_COLUMN_KERNEL],
							  limits->stacks, &decoder->newest);
		key->user = read_stack_code_from_column(&column[EVENT_COLUMN_USER], limits->stacks,
							&decoder->newest);
		if (key->kind >= limits->sources)
			tasks->bad = true;
	}
	for (u32 i = EVENT_COLUMN_TASKS; i <= EVENT_COLUMN_USER; i++)
		if (column[i].bad || byte_cursor_left(&column[i]))
			return -EBADMSG;
	return 0;
}

static u64 read_difference(struct number_reader *reader, u64 *last)
{
	*last += (u64)unzigzag(number_reader_get(reader));
	return *last;
}

/* Reads all of an event but its time. */
static bool read_event(struct event_decoder *decoder, u32 contexts, struct trace_event *event)
{
	u32 symbol = byte_cursor_u32(&decoder->view->column[EVENT_COLUMN_ORDER]);
	u32 seen = decoder->order.keys, numbers = decoder->numbers, index;
	const struct event_key *key;
	struct key_memory *memory;
	u64 repeats = 0;

	if (!key_order_decode(&decoder->order, symbol, decoder->keys, &index))
		return false;
	key = &decoder->key[index];
	memory = &decoder->memory[index];
	event->tid = key->tid;
	event->kind = (u16)key->kind;
	event->kernel = stack_code_index(key->kernel);
	event->kernel_reason = stack_code_reason(key->kernel);
	event->user = stack_code_index(key->user);
	event->user_reason = stack_code_reason(key->user);
	event->cpu = decoder->view->header.cpu;
	event->leaf = event->value = event->further = 0;
	if (numbers & HAS_LEAF) {
		u64 *class = &decoder->last_leaf[stack_code_has_stack(key->kernel)];

		if (decoder->order.keys != seen)
			memory->leaf = *class;
		*class = event->leaf = read_difference(&decoder->leaf, &memory->leaf);
	}
	if (numbers & HAS_VALUE)
		event->value = read_difference(&decoder->value, &memory->value);
	if (numbers & HAS_FURTHER)
		event->further = read_difference(&decoder->further, &memory->further);
	if (numbers & HAS_REPEATS)
		repeats = number_reader_get(&decoder->repeats);
	event->repeats = (u32)repeats;
	if (numbers & HAS_CONTEXT) {
		u64 code = read_difference(&decoder->context, &memory->context);

		if (code > contexts)
			return false;
		event->has_context = code != 0;
		event->context = code ? (u32)(code - 1) : 0;
	}
	return repeats <= UINT32_MAX;
}

/* Checks that times lie within the header's range, as the merge of blocks requires. */
static bool read_events(struct event_decoder *decoder, const struct event_limits *limits,
			struct trace_event *events)
{
	const struct trace_block_header *header = &decoder->view->header;
	u64 time = header->first_time;

	if (header->last_time < header->first_time)
		return false;
	for (u32 i = 0; i < header->records; i++) {
		u64 step = number_reader_get(&decoder->time);

		if (step > header->last_time - time ||
		    !read_event(decoder, limits->contexts, &events[i]))
			return false;
		time += step;
		events[i].time = time;
		events[i].is_counted = limits->is_counted;
		if (!stack_resolution_apply(limits->resolution, &events[i]))
			return false;
	}
	return time == header->last_time;
}

static bool is_whole_block_read(const struct event_decoder *decoder)
{
	const struct byte_cursor *order = &decoder->view->column[EVENT_COLUMN_ORDER];

	return !order->bad && !byte_cursor_left(order) && number_reader_done(&decoder->time) &&
	       number_reader_done(&decoder->leaf) && number_reader_done(&decoder->value) &&
	       number_reader_done(&decoder->repeats) && number_reader_done(&decoder->context) &&
	       number_reader_done(&decoder->further);
}

static void number_reader_set_columns(struct number_reader *reader,
				      const struct byte_cursor *column)
{
	reader->codes = column[0];
	reader->bits = column[1];
}

int event_block_decode(struct block_view *view, const struct event_limits *limits,
		       struct trace_event *events)
{
	struct event_decoder decoder = {.view = view};
	int err;

	if (view->header.columns != limits->columns)
		return -EBADMSG;
	number_reader_set_columns(&decoder.time, &view->column[EVENT_COLUMN_TIME]);
	number_reader_set_columns(&decoder.leaf, &view->column[EVENT_COLUMN_LEAF]);
	number_reader_set_columns(&decoder.value, &view->column[EVENT_COLUMN_VALUE]);
	number_reader_set_columns(&decoder.repeats, &view->column[EVENT_COLUMN_REPEATS]);
	number_reader_set_columns(&decoder.context, &view->column[EVENT_COLUMN_CONTEXT]);
	number_reader_set_columns(&decoder.further, &view->column[EVENT_COLUMN_FURTHER]);
	decoder.numbers = (byte_cursor_left(&decoder.leaf.codes) ? HAS_LEAF : 0) |
			  (byte_cursor_left(&decoder.value.codes) ? HAS_VALUE : 0) |
			  (byte_cursor_left(&decoder.repeats.codes) ? HAS_REPEATS : 0) |
			  (byte_cursor_left(&decoder.context.codes) ? HAS_CONTEXT : 0) |
			  (byte_cursor_left(&decoder.further.codes) ? HAS_FURTHER : 0);
	if (decoder.numbers & (HAS_CONTEXT | HAS_FURTHER) && decoder.numbers & HAS_REPEATS)
		return -EBADMSG;
	err = read_keys(&decoder, limits);
	key_order_start(&decoder.order, decoder.successors);
	if (!err && (!read_events(&decoder, limits, events) || !is_whole_block_read(&decoder)))
		err = -EBADMSG;
	free(decoder.key);
	free(decoder.memory);
	free(decoder.successors);
	return err;
}
