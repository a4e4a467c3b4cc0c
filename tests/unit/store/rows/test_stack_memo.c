/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windows in which equal frame numbers have the same or another meaning: the hashes are always
 * those of the recording.
 */
#include "store/rows/window_rows.h"

#include <string.h>
#include <unistd.h>

#include "report/event/stack_hash.h"
#include "store/rows/window_stacks.h"
#include "trace/write/writer.h"
#include "unit_test.h"

#define KERNEL 0xffffffff81000000
#define FILE_NUMBER 1
#define JIT_NUMBER 2

static const char path[] = "stack_memo.data";

/* The meaning of frame numbers in a window. */
struct meaning {
	u8 build_id, module; /* 0: none */
	const char *path, *jit;
	bool is_late;  /* the build id became known in the window */
	bool is_quiet; /* the window has no events */
};

static const struct meaning usual = {
	.build_id = 0x12, .module = 0xaa, .path = "/bin/sh", .jit = "run"};

static void write_places(struct trace_writer *writer, const struct meaning *meaning)
{
	const struct trace_module module = {
		"vmlinux", KERNEL, KERNEL + 0x10000, meaning->module != 0, {meaning->module}};
	const struct trace_mapping file = {
		FILE_NUMBER, MAPPING_FILE, 7, meaning->build_id != 0, {meaning->build_id},
		0,	     meaning->path};
	const struct trace_mapping not_read = {
		.number = FILE_NUMBER, .kind = MAPPING_FILE, .tgid = 7, .path = meaning->path};
	const struct trace_mapping jit = {
		.number = JIT_NUMBER, .kind = MAPPING_ANON, .base = 1ULL << 40, .path = "[anon]"};
	const struct trace_symbol symbol = {JIT_NUMBER, 0x100, 0x100, meaning->jit, 0};

	assert_int_equal(trace_writer_module(writer, &module), 0);
	if (meaning->is_late)
		assert_int_equal(trace_writer_mapping(writer, &not_read), 0);
	assert_int_equal(trace_writer_mapping(writer, &file), 0);
	assert_int_equal(trace_writer_mapping(writer, &jit), 0);
	assert_int_equal(trace_writer_symbol(writer, &symbol), 0);
}

static void write_event(struct trace_writer *writer, u32 id, const u64 *frames, u32 depth)
{
	const u64 kernel[] = {KERNEL + 0x40};
	const struct trace_stack in_kernel = {
		.id = 1, .generation = 1, .depth = 1, .frames = kernel};
	const struct trace_stack in_user = {
		.id = id, .generation = 1, .flags = STACK_USER, .depth = depth, .frames = frames};
	struct trace_event event = {.time = id, .tid = 7};

	assert_int_equal(trace_writer_stack(writer, &in_kernel, &event.kernel), 0);
	assert_int_equal(trace_writer_stack(writer, &in_user, &event.user), 0);
	assert_int_equal(trace_writer_event(writer, &event), 0);
}

/* A recording with one event in a file's code and one in generated code. */
static struct trace_reader *recording(const struct meaning *meaning)
{
	static const u64 of_file[] = {FRAME_USER(FILE_NUMBER, 0x40)};
	static const u64 of_jit[] = {FRAME_USER(JIT_NUMBER, 0x140), FRAME_USER(FILE_NUMBER, 0x50)};
	const struct trace_info info = {.cpus = 1,
					.hostname = "h",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	const struct trace_source source = {"event", 0, ""};
	const struct trace_ledger ledger = {.produced = 2, .recorded = 2};
	struct trace_writer *writer;
	struct trace_reader *reader;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	write_places(writer, meaning);
	if (!meaning->is_quiet) {
		write_event(writer, 2, of_file, 1);
		write_event(writer, 3, of_jit, 2);
	}
	assert_int_equal(trace_writer_ledger(writer, &ledger, NULL, 0), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	unlink(path);
	return reader;
}

/* The cache of a machine over all windows. */
static struct sent_cache sent;
static struct stack_memo memo;
static struct batch batch;

struct checking {
	struct window_stacks *stacks;
	struct stack_hashes *hashes;
};

static int check(void *arg, const struct trace_event *event)
{
	struct checking *checking = arg;
	struct stack_hash wanted = stack_hashes_of_event(checking->hashes, event), found;

	assert_int_equal(window_stacks_add(checking->stacks, event, &found), 0);
	assert_memory_equal(&found, &wanted, sizeof(found));
	return 0;
}

static void begin_memo_of_window(const struct meaning *meaning)
{
	const struct stack_rows rows = {.sent = &sent, .memo = &memo, .batch = &batch};
	struct trace_reader *reader = recording(meaning);
	struct checking checking;

	assert_int_equal(window_stacks_create(reader, &rows, &checking.stacks), 0);
	assert_int_equal(stack_hashes_create(reader, &checking.hashes), 0);
	assert_int_equal(trace_reader_events(reader, check, &checking, NULL), 0);
	stack_hashes_free(&checking.hashes);
	window_stacks_free(&checking.stacks);
	trace_reader_close(&reader);
}

static int begin(void **state)
{
	(void)state;
	sent = (struct sent_cache){.most = 1000};
	memo = (struct stack_memo){.most = 1 << 20};
	return 0;
}

static int end(void **state)
{
	(void)state;
	sent_cache_free(&sent);
	stack_memo_free(&memo);
	batch_clear(&batch);
	return 0;
}

/* Kernel stacks and stacks of files are cached; stacks with generated code are not. */
TEST(unchanged_stacks_are_cached, begin, end)
{
	for (u32 i = 0; i < 3; i++)
		begin_memo_of_window(&usual);
	assert_int_equal(memo.side_count, 2);
	assert_int_equal(memo.stack_count, 1);
	assert_int_equal(batch.row_count[STORE_STACKS], 2);
}

/* A build id that becomes known late also counts for earlier frames. A window without events caches
 * no stack again. */
TEST(a_build_id_that_comes_late_forgets_nothing, begin, end)
{
	struct meaning late = usual, other = usual;

	late.is_late = late.is_quiet = other.is_quiet = true;
	other.build_id = 0x34;
	begin_memo_of_window(&usual);
	begin_memo_of_window(&late);
	assert_int_equal(memo.side_count, 2);
	late.is_quiet = false;
	begin_memo_of_window(&late);
	assert_int_equal(batch.row_count[STORE_STACKS], 2);
	begin_memo_of_window(&other);
	assert_int_equal(memo.side_count, 0);
}

TEST(a_changed_file_is_noticed, begin, end)
{
	struct meaning other = usual, without = usual, moved = usual;

	other.build_id = 0x34;
	without.build_id = moved.build_id = 0;
	moved.path = "/bin/dash";
	begin_memo_of_window(&usual);
	begin_memo_of_window(&other);
	begin_memo_of_window(&without);
	begin_memo_of_window(&moved);
	begin_memo_of_window(&usual);
	assert_int_equal(batch.row_count[STORE_STACKS], 8);
}

TEST(a_changed_kernel_is_noticed, begin, end)
{
	struct meaning other = usual;

	other.module = 0xbb;
	begin_memo_of_window(&usual);
	begin_memo_of_window(&other);
	assert_int_equal(batch.row_count[STORE_STACKS], 4);
}

TEST(generated_code_may_change, begin, end)
{
	struct meaning other = usual;

	other.jit = "compile";
	begin_memo_of_window(&usual);
	begin_memo_of_window(&other);
	assert_int_equal(batch.row_count[STORE_STACKS], 3);
}

/* Hashes stay in the cache; the marks of sent stacks are cleared. */
TEST(stacks_are_sent_again_after_a_reset, begin, end)
{
	begin_memo_of_window(&usual);
	sent_cache_clear(&sent);
	begin_memo_of_window(&usual);
	assert_int_equal(batch.row_count[STORE_STACKS], 4);
}

TEST(a_full_cache_is_emptied, begin, end)
{
	memo.most = 1;
	for (u32 i = 0; i < 3; i++)
		begin_memo_of_window(&usual);
	assert_int_equal(memo.side_count, 2);
	assert_int_equal(batch.row_count[STORE_STACKS], 2);
}
