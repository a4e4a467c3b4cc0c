/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of a small recording in which everything occurs: the rows add up to the recorded events, and
 * each hash is that of the stack stored under it.
 */
#include "store/rows/window_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/event/stack_hash.h"
#include "small_recording.h"
#include "store/wire/row_binary.h"
#include "trace/write/writer.h"
#include "unit_test.h"

#define TIME 1700000000
#define DAY 86400
#define ROWS_MAX 64
#define FRAMES_MAX 16
#define TEXT_MAX 64

static const char path[] = "window_rows.data";
static struct trace_reader *reader;

static int open_recording(void **state)
{
	(void)state;
	return small_recording_write(path) ?: trace_reader_open(path, &reader, NULL);
}

static int close_recording(void **state)
{
	(void)state;
	trace_reader_close(&reader);
	return unlink(path);
}

static struct task_service service_of(void *arg, const char *cgroup, bool is_kernel_thread)
{
	(void)arg;
	if (is_kernel_thread)
		return (struct task_service){"kernel", ""};
	return (struct task_service){strstr(cgroup, "dd.service") ? "dd" : "other", "1.0"};
}

static struct window_rows *make(u64 memory)
{
	const struct window_rows_options options = {
		.host = "web1", .boot = "boot", .memory = memory, .service_of = service_of};
	struct window_rows *rows;

	assert_int_equal(window_rows_create(&options, &rows), 0);
	return rows;
}

static void add(struct window_rows *rows, u32 time)
{
	const struct window_time when = {time, 10, 0};
	struct stackmap_error error;

	assert_int_equal(window_rows_add(rows, reader, &when, &error), 0);
}

static struct batch take(struct window_rows *rows)
{
	struct batch batch;

	assert_int_equal(window_rows_take(rows, &batch), 0);
	batch.number = 7;
	assert_int_equal(window_rows_window_count(rows), 0);
	return batch;
}

static struct batch batch_of(u32 windows)
{
	struct window_rows *rows = make(1 << 20);
	struct batch batch;

	for (u32 i = 0; i < windows; i++)
		add(rows, TIME + 10 * i);
	batch = take(rows);
	window_rows_free(&rows);
	assert_null(rows);
	return batch;
}

/* --- rows, read back --- */

struct row {
	u32 time;
	char key[8 * TEXT_MAX]; /* the whole key as text */
	u8 stack[16];
	u32 count;
	u64 value;
};

static void read_text(struct byte_cursor *from, char text[TEXT_MAX])
{
	size_t length;
	const char *at = row_get_text(from, &length);

	assert_true(length < TEXT_MAX);
	memcpy(text, at, length);
	text[length] = 0;
}

static struct byte_cursor cursor_of(const struct byte_buffer *body)
{
	return (struct byte_cursor){.at = body->data, .end = body->data + body->used};
}

static void read_row(struct byte_cursor *from, struct row *row)
{
	char *end = row->key;

	row->time = row_get_u32(from);
	end += sprintf(end, "%u", row->time);
	for (u32 i = 0; i < 6; i++) {
		char text[TEXT_MAX];

		read_text(from, text);
		end += sprintf(end, "|%s", text);
	}
	memcpy(row->stack, row_get_bytes(from, 16), 16);
	for (u32 i = 0; i < 16; i++)
		end += sprintf(end, i ? "%02x" : "|%02x", row->stack[i]);
	row->count = row_get_u32(from);
	row->value = row_get_u64(from);
}

static u32 read_events(const struct batch *batch, struct row rows[ROWS_MAX])
{
	struct byte_cursor from = cursor_of(&batch->rows[STORE_EVENTS]);
	u32 count = 0;

	while (byte_cursor_left(&from)) {
		assert_true(count < ROWS_MAX);
		read_row(&from, &rows[count++]);
	}
	assert_false(from.bad);
	assert_int_equal(count, batch->row_count[STORE_EVENTS]);
	return count;
}

struct stored_stack {
	u8 stack[16];
	u16 kernel_depth;
	char kernel_end[TEXT_MAX], user_end[TEXT_MAX];
	u8 leaf;
	u32 depth;
	struct frame_identity frames[FRAMES_MAX];
};

static void read_stack(struct byte_cursor *from, struct stored_stack *stack)
{
	assert_int_equal(row_get_u16(from), TIME / DAY);
	memcpy(stack->stack, row_get_bytes(from, 16), 16);
	stack->kernel_depth = row_get_u16(from);
	read_text(from, stack->kernel_end);
	read_text(from, stack->user_end);
	stack->leaf = row_get_u8(from);
	stack->depth = row_get_count(from);
	assert_true(stack->depth < FRAMES_MAX);
	for (u32 i = 0; i < stack->depth; i++)
		memcpy(stack->frames[i].object, row_get_bytes(from, 16), 16);
	assert_int_equal(row_get_count(from), stack->depth);
	for (u32 i = 0; i < stack->depth; i++)
		stack->frames[i].offset = row_get_u64(from);
}

static u32 read_stacks(const struct batch *batch, struct stored_stack stacks[ROWS_MAX])
{
	struct byte_cursor from = cursor_of(&batch->rows[STORE_STACKS]);
	u32 count = 0;

	while (byte_cursor_left(&from)) {
		assert_true(count < ROWS_MAX);
		read_stack(&from, &stacks[count++]);
	}
	assert_false(from.bad);
	assert_int_equal(count, batch->row_count[STORE_STACKS]);
	return count;
}

/* --- tests --- */

TEST(rows_add_up_to_the_ledger)
{
	struct batch batch = batch_of(1);
	struct row rows[ROWS_MAX];
	u32 count = read_events(&batch, rows);
	u64 events = 0, value = 0;

	for (u32 i = 0; i < count; i++) {
		events += rows[i].count;
		value += rows[i].value;
		assert_int_equal(rows[i].time, TIME);
	}
	assert_int_equal(events, SMALL_EVENTS);
	assert_int_equal(value, 1500);
	assert_int_equal(batch.window_count, 1);
	assert_int_equal(batch.windows[0].recorded, SMALL_EVENTS);
	assert_int_equal(batch.windows[0].produced, SMALL_EVENTS + 3);
	assert_int_equal(batch.windows[0].lost[LOST_RING_FULL], 2);
	assert_int_equal(batch.windows[0].lost[LOST_NESTED], 1);
	batch_clear(&batch);
}

static struct batch batch_of_often(bool is_summary)
{
	struct batch batch;

	trace_reader_close(&reader);
	assert_int_equal(small_recording_write_often(path, 3, is_summary), 0);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	batch = batch_of(1);
	trace_reader_close(&reader);
	assert_int_equal(open_recording(NULL), 0);
	return batch;
}

/* A recording and a summary of the same events make the same rows. */
TEST(an_event_counts_as_many_as_it_stands_for)
{
	struct batch one_by_one = batch_of_often(false), summed = batch_of_often(true);
	const struct byte_buffer *rows = &summed.rows[STORE_EVENTS];

	assert_int_equal(summed.windows[0].recorded, 3 * SMALL_EVENTS);
	assert_int_equal(summed.windows[0].lost[LOST_WRITE_ERROR], 0);
	assert_int_equal(rows->used, one_by_one.rows[STORE_EVENTS].used);
	assert_memory_equal(rows->data, one_by_one.rows[STORE_EVENTS].data, rows->used);
	batch_clear(&one_by_one);
	batch_clear(&summed);
}

/* Task 100 has two cgroup records of one path, and three samples hit one function. */
TEST(no_two_rows_have_one_key)
{
	struct batch batch = batch_of(2);
	struct row rows[ROWS_MAX];
	u32 count = read_events(&batch, rows), most = 0;

	for (u32 i = 0; i < count; i++) {
		most = rows[i].count > most ? rows[i].count : most;
		for (u32 j = 0; j < i; j++)
			assert_string_not_equal(rows[i].key, rows[j].key);
	}
	assert_int_equal(most, 3);
	batch_clear(&batch);
}

TEST(a_row_has_task_and_source)
{
	struct batch batch = batch_of(1);
	struct row rows[ROWS_MAX];
	u32 count = read_events(&batch, rows), found = 0;
	const char *wanted = "1700000000|web1|dd|1.0|/system.slice/dd.service|dd|cpu-clock|";

	for (u32 i = 0; i < count; i++)
		found += !strncmp(rows[i].key, wanted, strlen(wanted)) && rows[i].count == 3;
	assert_int_equal(found, 1);
	batch_clear(&batch);
}

TEST(the_same_windows_make_the_same_bytes)
{
	struct batch one = batch_of(3), other = batch_of(3);

	for (u32 i = 0; i < STORE_TABLE_COUNT; i++) {
		assert_int_equal(one.rows[i].used, other.rows[i].used);
		if (one.rows[i].used)
			assert_memory_equal(one.rows[i].data, other.rows[i].data, one.rows[i].used);
	}
	batch_clear(&one);
	batch_clear(&other);
}

static bool is_stored(const u8 hash[16], const struct stored_stack *stacks, u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (!memcmp(stacks[i].stack, hash, 16))
			return true;
	return false;
}

TEST(each_row_has_its_stack)
{
	struct batch batch = batch_of(2);
	struct row rows[ROWS_MAX];
	struct stored_stack stacks[ROWS_MAX];
	u32 count = read_events(&batch, rows), stored = read_stacks(&batch, stacks);

	for (u32 i = 0; i < count; i++)
		assert_true(is_stored(rows[i].stack, stacks, stored));
	batch_clear(&batch);
}

static struct stack_hash compute_hash_of_stored_stack(const struct stored_stack *stack)
{
	const struct frame_identity *kernel = stack->frames, *user = kernel + stack->kernel_depth;
	u32 kernel_depth = stack->kernel_depth, user_depth = stack->depth - kernel_depth;
	bool in_kernel = stack->leaf == STACK_LEAF_KERNEL, in_user = stack->leaf == STACK_LEAF_USER;
	const struct stack_hash_part kernel_side = {
		stack->kernel_end, stack_hash_frames(kernel + in_kernel, kernel_depth - in_kernel)};
	const struct stack_hash_part user_side = {
		stack->user_end, stack_hash_frames(user + in_user, user_depth - in_user)};

	return stack_hash_join(stack->leaf, in_user ? user : kernel, &kernel_side, &user_side);
}

TEST(a_stored_stack_has_the_hash_of_its_key)
{
	struct batch batch = batch_of(1);
	struct stored_stack stacks[ROWS_MAX];
	u32 count = read_stacks(&batch, stacks), leaves[3] = {};

	assert_true(count > 0);
	for (u32 i = 0; i < count; i++) {
		struct stack_hash hash = compute_hash_of_stored_stack(&stacks[i]);

		assert_memory_equal(hash.byte, stacks[i].stack, 16);
		leaves[stacks[i].leaf]++;
	}
	for (u32 i = 0; i < 3; i++)
		assert_true(leaves[i] > 0);
	batch_clear(&batch);
}

/* A placeholder without a resolution also has a reason. */
TEST(a_missing_stack_has_its_reason)
{
	static const char *const ends[] = {"root",	 "no_rule",    "changed",
					   "unanswered", "unreadable", "no_frames"};
	struct batch batch = batch_of(1);
	struct stored_stack stacks[ROWS_MAX];
	u32 count = read_stacks(&batch, stacks);

	for (u32 i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		u32 found = 0;

		for (u32 j = 0; j < count; j++)
			found += !strcmp(stacks[j].user_end, ends[i]);
		assert_true(found > 0);
	}
	batch_clear(&batch);
}

TEST(frames_have_bounds_and_names)
{
	struct batch batch = batch_of(1);
	struct byte_cursor from = cursor_of(&batch.rows[STORE_FRAMES]);
	u32 named = 0, unnamed = 0;

	for (u32 i = 0; i < batch.row_count[STORE_FRAMES]; i++) {
		char name[TEXT_MAX] = "";
		u64 offset, start, size, functions;

		row_get_u16(&from);
		row_get_bytes(&from, 16);
		offset = row_get_u64(&from);
		start = row_get_u64(&from);
		size = row_get_u64(&from);
		functions = row_get_count(&from);
		if (functions)
			read_text(&from, name);
		assert_int_equal(row_get_count(&from), 0);
		assert_int_equal(row_get_count(&from), 0);
		assert_int_equal(row_get_u8(&from), functions);
		assert_int_equal(functions, size > 0);
		assert_true(!size || (offset >= start && offset < start + size));
		named += !strcmp(name, "_ZN3foo3barEi");
		unnamed += !functions;
	}
	assert_int_equal(byte_cursor_left(&from), 0);
	assert_int_equal(named, 3); /* named as a caller, as executed code, and as a leaf */
	assert_true(unnamed > 0);
	batch_clear(&batch);
}

/* A recording of one event with a time and seven that are counted only. Its ledger counts more of
 * the latter than it has. */
static void write_counted(const char *to, u64 missing)
{
	const struct trace_info info = {.cpus = 1,
					.has_counted = 1,
					.hostname = "h",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	const struct trace_source source = {"event", 0, ""};
	const struct trace_ledger ledger = {
		.produced = 8 + missing, .recorded = 1, .counted = 7 + missing};
	struct trace_event event = {
		.time = 1, .tid = 7, .kernel = TRACE_NO_STACK, .user = TRACE_NO_STACK};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(to, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	assert_int_equal(trace_writer_event(writer, &event), 0);
	event.is_counted = 1;
	event.repeats = 6;
	assert_int_equal(trace_writer_event(writer, &event), 0);
	assert_int_equal(trace_writer_ledger(writer, &ledger, NULL, 0), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

TEST(events_that_are_counted_only_are_recorded_or_lost)
{
	static const char other[] = "counted.data";
	struct trace_reader *small = reader;

	for (u64 missing = 0; missing < 4; missing += 3) {
		struct batch batch;

		write_counted(other, missing);
		assert_int_equal(trace_reader_open(other, &reader, NULL), 0);
		batch = batch_of(1);
		assert_int_equal(batch.windows[0].recorded, 8);
		assert_int_equal(batch.windows[0].lost[LOST_WRITE_ERROR], missing);
		assert_int_equal(batch.windows[0].produced, 8 + missing);
		batch_clear(&batch);
		trace_reader_close(&reader);
		unlink(other);
	}
	reader = small;
}

/* A user stack whose outer frame was interrupted at the first instruction of a function. `stop`:
 * the stop reason in the ledger. */
static void write_interrupted(const char *to, enum stop_reason stop)
{
	static const u64 frames[] = {FRAME_USER(1, 0x100), FRAME_USER(1, 0x41)};
	static const struct trace_mapping mapping = {
		.number = 1, .kind = MAPPING_FILE, .path = "/bin/program"};
	static const struct trace_symbol before = {
		.mapping = 1, .start = 0x20, .size = 0x20, .name = "before"};
	static const struct trace_symbol interrupted = {
		.mapping = 1, .start = 0x40, .size = 0x20, .name = "interrupted"};
	const struct trace_stack stack = {
		.id = 1, .generation = 1, .flags = STACK_USER, .depth = 2, .frames = frames};
	const struct trace_info info = {.cpus = 1,
					.hostname = "h",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	const struct trace_source source = {"event", 0, ""};
	struct trace_ledger ledger = {.produced = 1, .recorded = 1};
	struct trace_event event = {.time = 1, .tid = 7, .kernel = TRACE_NO_STACK};
	struct trace_writer *writer;

	ledger.user_stops[stop] = 1;
	assert_int_equal(trace_writer_create(to, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	assert_int_equal(trace_writer_mapping(writer, &mapping), 0);
	assert_int_equal(trace_writer_stack(writer, &stack, &event.user), 0);
	assert_int_equal(trace_writer_event(writer, &event), 0);
	assert_int_equal(trace_writer_symbol(writer, &before), 0);
	assert_int_equal(trace_writer_symbol(writer, &interrupted), 0);
	assert_int_equal(trace_writer_ledger(writer, &ledger, NULL, 0), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

/* The rows of write_interrupted(). */
static struct batch batch_of_interrupted(enum stop_reason stop)
{
	static const char other[] = "interrupted.data";
	struct trace_reader *small = reader;
	struct batch batch;

	write_interrupted(other, stop);
	assert_int_equal(trace_reader_open(other, &reader, NULL), 0);
	batch = batch_of(1);
	trace_reader_close(&reader);
	unlink(other);
	reader = small;
	return batch;
}

TEST(a_stack_by_frame_pointers_alone_does_not_count_as_complete)
{
	static const enum stop_reason stops[] = {STOP_ROOT, STOP_NONE};
	static const char *const ends[] = {"root", "none"};

	for (u32 i = 0; i < 2; i++) {
		struct batch batch = batch_of_interrupted(stops[i]);
		struct stored_stack stacks[ROWS_MAX];

		assert_int_equal(read_stacks(&batch, stacks), 1);
		assert_string_equal(stacks[0].user_end, ends[i]);
		batch_clear(&batch);
	}
}

TEST(interrupted_code_has_its_own_name)
{
	struct batch batch = batch_of_interrupted(STOP_ROOT);
	struct byte_cursor from;
	u32 found = 0;

	from = cursor_of(&batch.rows[STORE_FRAMES]);
	for (u32 i = 0; i < batch.row_count[STORE_FRAMES]; i++) {
		char name[TEXT_MAX] = "";
		u64 offset, start;

		row_get_u16(&from);
		row_get_bytes(&from, 16);
		offset = row_get_u64(&from);
		start = row_get_u64(&from);
		row_get_u64(&from);
		if (row_get_count(&from))
			read_text(&from, name);
		row_get_count(&from);
		row_get_count(&from);
		row_get_u8(&from);
		if (offset != 0x40 && offset != 0x41)
			continue;
		assert_string_equal(name, "interrupted");
		assert_int_equal(start, 0x40);
		found++;
	}
	assert_int_equal(found, 1);
	batch_clear(&batch);
}

TEST(stacks_go_out_once_a_day)
{
	struct window_rows *rows = make(1 << 20);
	struct batch first, again, next_day, forgotten;

	add(rows, TIME);
	first = take(rows);
	add(rows, TIME + 10);
	again = take(rows);
	add(rows, TIME + DAY);
	next_day = take(rows);
	window_rows_clear_sent_cache(rows);
	add(rows, TIME + DAY + 10);
	forgotten = take(rows);
	for (u32 table = STORE_HOSTS; table < STORE_EVENTS; table++) {
		assert_true(first.row_count[table] > 0);
		assert_int_equal(again.row_count[table], 0);
		assert_int_equal(next_day.row_count[table], first.row_count[table]);
		assert_int_equal(forgotten.row_count[table], first.row_count[table]);
	}
	assert_int_equal(again.row_count[STORE_EVENTS], first.row_count[STORE_EVENTS]);
	batch_clear(&first);
	batch_clear(&again);
	batch_clear(&next_day);
	batch_clear(&forgotten);
	window_rows_free(&rows);
}

TEST(a_small_cache_sends_more_stacks)
{
	struct window_rows *rows = make(1);
	struct batch batch, whole = batch_of(2);
	struct row kept[ROWS_MAX], all[ROWS_MAX];

	add(rows, TIME);
	add(rows, TIME + 10);
	batch = take(rows);
	assert_true(batch.row_count[STORE_STACKS] > whole.row_count[STORE_STACKS]);
	assert_int_equal(read_events(&batch, kept), read_events(&whole, all));
	batch_clear(&batch);
	batch_clear(&whole);
	window_rows_free(&rows);
}

TEST(labels_are_sent_when_they_change)
{
	const char *const labels[] = {"rack=7"};
	struct window_rows *rows = make(1 << 20);
	struct batch batch;

	add(rows, TIME);
	assert_int_equal(window_rows_set_labels(rows, labels, 1), 0);
	add(rows, TIME + 10);
	batch = take(rows);
	assert_int_equal(batch.row_count[STORE_HOSTS], 2);
	assert_memory_equal(batch.rows[STORE_HOSTS].data + batch.rows[STORE_HOSTS].used - 7,
			    "\6rack=7", 7);
	batch_clear(&batch);
	window_rows_free(&rows);
}

static u64 read_ledger(const struct batch *batch, const char *lost_as, char causes[TEXT_MAX])
{
	struct byte_buffer body = {};
	struct byte_cursor from;
	u64 produced, recorded, count, sum = 0;
	char text[TEXT_MAX];

	assert_int_equal(batch_append_ledger_rows(batch, lost_as, &body), 0);
	from = cursor_of(&body);
	assert_int_equal(row_get_u32(&from), TIME);
	read_text(&from, text);
	assert_string_equal(text, "web1");
	read_text(&from, text);
	assert_string_equal(text, "boot");
	assert_int_equal(row_get_u64(&from), 7);
	assert_int_equal(row_get_u16(&from), 10);
	produced = row_get_u64(&from);
	recorded = row_get_u64(&from);
	causes[0] = 0;
	count = row_get_count(&from);
	for (u64 i = 0; i < count; i++) {
		read_text(&from, text);
		strcat(strcat(causes, text), " ");
	}
	assert_int_equal(row_get_count(&from), count);
	for (u64 i = 0; i < count; i++)
		sum += row_get_u64(&from);
	assert_int_equal(produced, recorded + sum);
	assert_int_equal(row_get_u32(&from), 0);
	assert_int_equal(row_get_u8(&from), lost_as ? 1 : 0);
	assert_int_equal(byte_cursor_left(&from), 0);
	byte_buffer_free(&body);
	return recorded;
}

TEST(a_ledger_balances_also_when_all_is_lost)
{
	struct batch batch = batch_of(1);
	char causes[TEXT_MAX];

	assert_int_equal(read_ledger(&batch, NULL, causes), SMALL_EVENTS);
	assert_string_equal(causes, "ring_full nested ");
	assert_int_equal(read_ledger(&batch, "spool_full", causes), 0);
	assert_string_equal(causes, "ring_full nested spool_full ");
	batch_clear(&batch);
}

/* Rows that could not be stored are in the ledger of the next batch, and their stacks are sent
 * again. */
TEST(lost_rows_leave_their_ledger)
{
	struct window_rows *rows = make(1 << 20);
	struct batch lost, batch;
	struct row kept[ROWS_MAX];

	add(rows, TIME);
	window_rows_count_batch_as_lost(rows);
	add(rows, TIME + 10);
	lost = take(rows);
	window_rows_add_lost_windows(rows, &lost);
	add(rows, TIME + 20);
	batch = take(rows);
	assert_int_equal(batch.window_count, 3);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(batch.windows[i].time, TIME + 10 * i);
		assert_int_equal(batch.windows[i].produced, SMALL_EVENTS + 3);
		assert_int_equal(batch.windows[i].recorded, i < 2 ? 0 : SMALL_EVENTS);
		assert_int_equal(batch.windows[i].lost[LOST_WRITE_ERROR], i < 2 ? SMALL_EVENTS : 0);
	}
	assert_int_equal(batch.row_count[STORE_STACKS], lost.row_count[STORE_STACKS]);
	for (u32 i = 0, count = read_events(&batch, kept); i < count; i++)
		assert_int_equal(kept[i].time, TIME + 20);
	batch_clear(&lost);
	batch_clear(&batch);
	window_rows_free(&rows);
}

TEST_GROUP(open_recording, close_recording)
