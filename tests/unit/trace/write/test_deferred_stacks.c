/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deferred stacks in the file: resolved before and after their events were written, never resolved,
 * and wrongly resolved. Files with wrong resolutions consist of otherwise valid blocks.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data_folder.h"
#include "recording.h"
#include "trace/block/event_block.h"
#include "trace/block/resolution_block.h"
#include "trace/block/stack_block.h"
#include "trace/read/reader.h"
#include "unit_test.h"

#define USER(offset) FRAME_USER(1, offset)

static const struct trace_info info = {.cpus = 1};
static const struct trace_source source = {.name = "cpu-clock"};
static const u64 frames[] = {USER(0x10), USER(0x20), USER(0x30)};
static const struct trace_resolution refused = {.stack = TRACE_NO_STACK, .reason = REASON_REFUSED};

static struct trace_writer *create(void)
{
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_publish(writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	return writer;
}

static u32 add_stack(struct trace_writer *writer, u32 id, u32 depth, u32 flags)
{
	struct trace_stack stack = {.id = id,
				    .generation = 1,
				    .flags = STACK_USER | flags,
				    .depth = depth,
				    .frames = frames};
	u32 index;

	assert_int_equal(trace_writer_stack(writer, &stack, &index), 0);
	return index;
}

static u32 add_placeholder(struct trace_writer *writer)
{
	u32 name;

	assert_int_equal(trace_writer_placeholder(writer, &name), 0);
	return name;
}

static int add_event(struct trace_writer *writer, u64 time, u64 leaf, u32 user)
{
	struct trace_event event = {
		.time = time, .leaf = leaf, .kernel = TRACE_NO_STACK, .user = user};

	return trace_writer_event(writer, &event);
}

struct events {
	struct trace_event event[16];
	u32 count;
};

static int keep_event(void *arg, const struct trace_event *event)
{
	struct events *events = arg;

	assert_true(events->count < 16);
	events->event[events->count++] = *event;
	return 0;
}

static struct trace_reader *open_reader(void)
{
	struct trace_reader *reader;

	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	return reader;
}

static void read_back(struct trace_reader *reader, struct events *events)
{
	*events = (struct events){0};
	assert_int_equal(trace_reader_events(reader, keep_event, events, NULL), 0);
}

static u32 blocks_of(enum trace_block_type type)
{
	u64 offset = sizeof(struct trace_file_header);
	struct trace_block_header header;
	u32 count = 0;
	size_t bytes;
	u8 *data = file_read(path, &bytes);

	for (; offset < bytes; offset += sizeof(header) + header.stored_bytes) {
		memcpy(&header, data + offset, sizeof(header));
		count += header.type == type;
	}
	free(data);
	return count;
}

static void check_resolved(const struct events *events, struct trace_reader *reader)
{
	const struct trace_stack *stacks;

	assert_int_equal(trace_reader_stacks(reader, &stacks), 2);
	assert_int_equal(events->count, 4);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(events->event[i].user, 1);
	assert_int_equal(stacks[1].id, 8);
	assert_int_equal(stacks[1].depth, 3);
	assert_int_equal(STACK_STOP(stacks[1].flags), STOP_NO_RULE);
	assert_int_equal(events->event[0].leaf, USER(0x99));
	assert_int_equal(events->event[1].leaf, FRAME_NARROW_TOP | 5);
	assert_int_equal(events->event[2].leaf, USER(0x99));
	assert_int_equal(events->event[3].leaf, USER(0x99));
}

/* Events before the flush are written with the placeholder, later events with its resolution. */
static void resolve_with_flush_before(u32 event)
{
	struct trace_writer *writer = create();
	u32 placeholder = add_placeholder(writer);
	struct trace_resolution resolution = {.leaf = USER(0x99)};
	static const u64 leaves[] = {0, FRAME_NARROW_TOP | 5, 0, USER(0x98)};
	struct events events;
	struct trace_reader *reader;

	add_stack(writer, 7, 2, 0);
	for (u32 i = 0; i < 4; i++) {
		if (i == event)
			assert_int_equal(trace_writer_flush(writer), 0);
		assert_int_equal(add_event(writer, i, leaves[i], placeholder), 0);
	}
	resolution.stack = add_stack(writer, 8, 3, STOP_NO_RULE << STACK_STOP_SHIFT);
	assert_int_equal(trace_writer_resolve(writer, placeholder, &resolution), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
	reader = open_reader();
	assert_null(trace_reader_damage(reader));
	read_back(reader, &events);
	check_resolved(&events, reader);
	assert_int_equal(blocks_of(TRACE_BLOCK_RESOLUTIONS), event > 0);
	trace_reader_close(&reader);
}

TEST(resolution_after_some_events_went_out, NULL, remove_files)
{
	for (u32 event = 0; event < 4; event++)
		resolve_with_flush_before(event);
}

TEST(resolution_that_is_a_reason, NULL, remove_files)
{
	struct trace_writer *writer = create();
	u32 early = add_placeholder(writer), late = add_placeholder(writer),
	    never = add_placeholder(writer);
	struct events events;
	struct trace_reader *reader;

	assert_int_equal(add_event(writer, 1, USER(0x98), late), 0);
	assert_int_equal(trace_writer_flush(writer), 0);
	assert_int_equal(add_event(writer, 2, USER(0x98), early), 0);
	assert_int_equal(add_event(writer, 3, 0, never), 0);
	assert_int_equal(trace_writer_resolve(writer, late, &refused), 0);
	assert_int_equal(trace_writer_resolve(writer, early, &refused), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
	reader = open_reader();
	read_back(reader, &events);
	assert_int_equal(events.count, 3);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(events.event[i].user, TRACE_NO_STACK);
	assert_int_equal(events.event[0].leaf, USER(0x98));
	assert_int_equal(events.event[1].leaf, USER(0x98));
	assert_int_equal(events.event[0].user_reason, REASON_REFUSED);
	assert_int_equal(events.event[1].user_reason, REASON_REFUSED);
	assert_int_equal(events.event[2].user_reason, REASON_UNANSWERED);
	trace_reader_close(&reader);
}

static int keep_frame(void *arg, u64 frame, bool return_address)
{
	assert_false(return_address);
	*(u64 *)arg = frame;
	return 0;
}

TEST(leaf_of_a_resolution_is_a_frame_to_be_named, NULL, remove_files)
{
	struct trace_writer *writer = create();
	struct trace_resolution resolution = refused;
	u64 frame = 0;

	resolution.leaf = USER(0x99);
	assert_int_equal(trace_writer_resolve(writer, add_placeholder(writer), &resolution), 0);
	assert_int_equal(trace_writer_each_frame(writer, keep_frame, &frame), 0);
	assert_int_equal(frame, USER(0x99));
	assert_int_equal(trace_writer_close(&writer), 0);
}

TEST(invalid_calls_are_refused, NULL, remove_files)
{
	struct trace_writer *writer = create();
	u32 stack = add_stack(writer, 7, 2, 0), placeholder = add_placeholder(writer);
	struct trace_resolution chain = {.stack = add_placeholder(writer)};
	struct trace_resolution kernel_leaf = {.stack = stack, .leaf = FRAME_NARROW_TOP};
	struct trace_resolution no_reason = {.stack = TRACE_NO_STACK, .reason = REASON_COUNT};
	struct trace_event in_kernel = {.kernel = placeholder, .user = TRACE_NO_STACK};

	assert_int_equal(trace_writer_event(writer, &in_kernel), -EINVAL);
	assert_int_equal(trace_writer_resolve(writer, stack, &refused), -EINVAL);
	assert_int_equal(trace_writer_resolve(writer, chain.stack + 1, &refused), -EINVAL);
	assert_int_equal(trace_writer_resolve(writer, TRACE_NO_STACK, &refused), -EINVAL);
	assert_int_equal(trace_writer_resolve(writer, placeholder, &chain), -EINVAL);
	assert_int_equal(trace_writer_resolve(writer, placeholder, &kernel_leaf), -EINVAL);
	assert_int_equal(trace_writer_resolve(writer, placeholder, &no_reason), -EINVAL);
	assert_int_equal(add_event(writer, 1, 0, placeholder), 0);
	assert_int_equal(trace_writer_resolve(writer, placeholder, &refused), 0);
	assert_int_equal(trace_writer_resolve(writer, placeholder, &refused), -EINVAL);
	assert_int_equal(add_event(writer, 2, 0, placeholder), -EINVAL);
	assert_int_equal(trace_writer_flush(writer), 0);
	assert_int_equal(add_event(writer, 2, 0, placeholder), -EINVAL);
	assert_int_equal(trace_writer_close(&writer), 0);
}

/* True if the event has the form that an unfinished file gives to an event whose resolution is
 * lost. */
static bool is_unanswered(const struct trace_event *got, const struct recording *recording, u32 i)
{
	const struct trace_event *wanted = &recording->events[i];

	return got->user == TRACE_NO_STACK && got->user_reason == REASON_UNANSWERED &&
	       got->time == wanted->time && got->leaf == recording_leaf_in_file(recording, i) &&
	       got->kernel == wanted->kernel && got->tid == wanted->tid;
}

static int check_cut_event(void *arg, const struct trace_event *event)
{
	const struct recording *recording = arg;
	u32 i = 0;

	while (i < recording->shape.events && recording->events[i].time != event->time)
		i++;
	assert_true(i < recording->shape.events);
	if (event->user != recording->events[i].user)
		assert_true(recording->placeholder_of[i] != NO_PLACEHOLDER &&
			    is_unanswered(event, recording, i));
	return 0;
}

TEST(file_cut_off_at_every_byte, NULL, remove_files)
{
	static const struct recording_shape shape = {
		.seed = 21,
		.cpus = 1,
		.sources = 4,
		.stacks = 12,
		.events = 120,
		.flush_every = 25,
		.placeholders = 20,
	};
	struct recording *recording = recording_create(&shape);
	struct trace_reader *reader;
	size_t bytes;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	assert_true(blocks_of(TRACE_BLOCK_RESOLUTIONS) > 1);
	free(file_read(path, &bytes));
	while (bytes-- > sizeof(struct trace_file_header)) {
		assert_int_equal(truncate(path, (off_t)bytes), 0);
		reader = open_reader();
		assert_int_equal(trace_reader_events(reader, check_cut_event, recording, NULL), 0);
		trace_reader_close(&reader);
	}
	recording_free(&recording);
}

/* Indexes of the stacks in the file. */
enum { REAL, PLACEHOLDER, OTHER_PLACEHOLDER, INDEXES };

/* Begins a file with info, sources and these stacks, but without an end. */
#define SEQUENCE_NEXT 3

static void write_stacks(void)
{
	struct trace_writer *writer = create();

	assert_int_equal(add_stack(writer, 7, 2, 0), REAL);
	add_placeholder(writer);
	add_placeholder(writer);
	assert_int_equal(trace_writer_flush(writer), 0);
	trace_writer_discard(&writer);
}

static u64 append_block(const struct block_builder *builder, u32 sequence)
{
	struct block_sealer *sealer;
	const u8 *block;
	size_t bytes, block_bytes;
	u8 *data = file_read(path, &bytes), *longer;

	assert_int_equal(block_sealer_create(&sealer), 0);
	assert_int_equal(block_seal(sealer, builder, sequence, &block, &block_bytes), 0);
	longer = malloc(bytes + block_bytes);
	assert_non_null(longer);
	memcpy(longer, data, bytes);
	memcpy(longer + bytes, block, block_bytes);
	file_write(path, longer, bytes + block_bytes);
	block_sealer_free(&sealer);
	free(longer);
	free(data);
	return bytes;
}

struct resolved {
	u32 placeholder;
	struct trace_resolution resolution;
};

static u64 append_resolutions(const struct resolved *resolutions, u32 count, u32 sequence)
{
	struct resolution_encoder encoder;
	u64 offset;

	resolution_encoder_init(&encoder);
	for (u32 i = 0; i < count; i++)
		resolution_encoder_add(&encoder, resolutions[i].placeholder,
				       &resolutions[i].resolution);
	offset = append_block(resolution_encoder_finish(&encoder), sequence);
	resolution_encoder_free(&encoder);
	return offset;
}

static u64 damage_of_file(void)
{
	struct trace_reader *reader = open_reader();
	u64 offset;

	assert_non_null(trace_reader_damage(reader));
	offset = trace_reader_damage(reader)->offset;
	trace_reader_close(&reader);
	return offset;
}

/* Appends a block with one event, in the form that the file has. */
static u64 append_event(struct trace_event event, u32 sequence)
{
	const struct block_builder *builder;
	struct event_encoder *encoder;
	u64 offset;

	assert_int_equal(event_encoder_create(&encoder), 0);
	assert_int_equal(event_encoder_run(encoder, &event, 1, false, &builder), 0);
	offset = append_block(builder, sequence);
	event_encoder_free(&encoder);
	return offset;
}

/* A block with a wrong resolution is ignored as a whole, with the right resolutions before the
 * wrong one. */
static void check_damage(const struct resolved *resolutions, u32 count)
{
	const struct trace_event event = {.kernel = TRACE_NO_STACK, .user = PLACEHOLDER};
	struct trace_reader *reader;
	struct events events;
	u64 offset;

	write_stacks();
	append_event(event, SEQUENCE_NEXT);
	offset = append_resolutions(resolutions, count, SEQUENCE_NEXT + 1);
	assert_int_equal(damage_of_file(), offset);
	reader = open_reader();
	read_back(reader, &events);
	assert_int_equal(events.count, 1);
	assert_int_equal(events.event[0].user, TRACE_NO_STACK);
	assert_int_equal(events.event[0].user_reason, REASON_UNANSWERED);
	trace_reader_close(&reader);
}

TEST(wrong_resolutions_are_damage, NULL, remove_files)
{
	static const struct resolved cases[][2] = {
		{{PLACEHOLDER, {.stack = REAL}}, {PLACEHOLDER, {.stack = REAL}}},
		{{PLACEHOLDER, {.stack = REAL}}, {REAL, {.stack = REAL}}},
		{{PLACEHOLDER, {.stack = REAL}}, {INDEXES, {.stack = REAL}}},
		{{PLACEHOLDER, {.stack = REAL}}, {1U << 31, {.stack = REAL}}},
		{{PLACEHOLDER, {.stack = REAL}}, {OTHER_PLACEHOLDER, {.stack = PLACEHOLDER}}},
		{{PLACEHOLDER, {.stack = REAL}}, {OTHER_PLACEHOLDER, {.stack = OTHER_PLACEHOLDER}}},
		{{PLACEHOLDER, {.stack = REAL}}, {OTHER_PLACEHOLDER, {.stack = INDEXES}}},
		{{PLACEHOLDER, {.stack = REAL}}, {OTHER_PLACEHOLDER, {.leaf = FRAME_NARROW_TOP}}},
		{{PLACEHOLDER, {.stack = REAL}},
		 {OTHER_PLACEHOLDER, {.stack = TRACE_NO_STACK, .reason = REASON_COUNT}}},
	};

	for (u32 i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_damage(cases[i], 2);
}

/* The same blocks without an error: only the end of the file is missing. */
TEST(right_resolutions_are_no_damage, NULL, remove_files)
{
	static const struct resolved right[] = {
		{PLACEHOLDER, {.stack = REAL}},
		{OTHER_PLACEHOLDER, {.stack = TRACE_NO_STACK, .reason = REASON_CHANGED}},
	};
	u64 offset;

	write_stacks();
	offset = append_resolutions(right, 2, SEQUENCE_NEXT);
	assert_true(damage_of_file() > offset);
	offset = append_resolutions(right, 1, SEQUENCE_NEXT + 1);
	assert_int_equal(damage_of_file(), offset);
}

TEST(kernel_stack_that_is_a_placeholder, NULL, remove_files)
{
	const struct trace_event event = {.kernel = PLACEHOLDER, .user = TRACE_NO_STACK};
	struct trace_reader *reader;
	struct stackmap_error error;
	struct events events = {0};
	u64 offset;

	write_stacks();
	offset = append_event(event, SEQUENCE_NEXT);
	reader = open_reader();
	assert_int_equal(trace_reader_events(reader, keep_event, &events, &error), -EBADMSG);
	assert_int_equal(error.offset, offset);
	assert_int_equal(events.count, 0);
	trace_reader_close(&reader);
}

/* Every byte of a placeholder must be 0, and a stop reason must be a known one. */
TEST(wrong_shapes_are_damage, NULL, remove_files)
{
	struct stack_encoder encoder;

	for (u32 i = 0; i < 5; i++) {
		struct byte_buffer *shapes = &encoder.builder.column[STACK_COLUMN_SHAPES];
		struct byte_buffer *ids = &encoder.builder.column[STACK_COLUMN_IDS];
		u64 offset;

		write_stacks();
		assert_int_equal(stack_encoder_init(&encoder), 0);
		stack_encoder_add_placeholder(&encoder);
		*(i < 4 ? &shapes->data[i] : &ids->data[0]) = 2;
		offset = append_block(&encoder.builder, SEQUENCE_NEXT);
		assert_int_equal(damage_of_file(), offset);
		stack_encoder_free(&encoder);
	}
}

TEST(stop_must_be_known, NULL, remove_files)
{
	struct trace_stack stack = {.id = 9, .depth = 2, .frames = frames};
	struct trace_writer *writer;
	struct stack_encoder encoder;
	u32 index;
	u64 offset;

	stack.flags = STACK_USER | STOP_COUNT << STACK_STOP_SHIFT;
	writer = create();
	assert_int_equal(trace_writer_stack(writer, &stack, &index), -EINVAL);
	assert_int_equal(trace_writer_close(&writer), 0);
	write_stacks();
	assert_int_equal(stack_encoder_init(&encoder), 0);
	assert_int_equal(stack_encoder_add(&encoder, &stack), 0);
	offset = append_block(&encoder.builder, SEQUENCE_NEXT);
	stack_encoder_free(&encoder);
	assert_int_equal(damage_of_file(), offset);
}

TEST_GROUP(make_directory, remove_directory)
