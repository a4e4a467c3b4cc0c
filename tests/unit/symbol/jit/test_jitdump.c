/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>

#include "jitdump_writer.h"
#include "unit_test.h"

TEST(functions, setup, teardown)
{
	struct symbol_table *table;

	put_header();
	put_load(0x1000, 0x20, 0, "JS:*f /a b.js:1:1 \xc3\xa9");
	put_load(0x7f0000001020, 0x13, 1, "g");
	table = read_dump();
	assert_name(table, 0x1000, 0x1000, "JS:*f /a b.js:1:1 \xc3\xa9");
	assert_name(table, 0x101f, 0x1000, "JS:*f /a b.js:1:1 \xc3\xa9");
	assert_nameless(table, 0x1020);
	assert_name(table, 0x7f0000001032, 0x7f0000001020, "g");
	assert_nameless(table, 0x7f0000001033);
	symbol_table_free(&table);
}

TEST(where_the_code_runs, setup, teardown)
{
	struct load load = load_of(0x1000, 0x20, 0, "f");
	struct symbol_table *table;

	put_header();
	load.address = 0x5000;
	put_load_of(&load);
	table = read_dump();
	assert_name(table, 0x1000, 0x1000, "f");
	assert_nameless(table, 0x5000);
	symbol_table_free(&table);
}

TEST(records_without_functions_are_skipped, setup, teardown)
{
	struct symbol_table *table;

	put_header_of(MAGIC, 1, HEADER_BYTES, 1);
	put_debug_info(0x1000);
	put_unwinding_info();
	put_load(0x1000, 0x20, 0, "f");
	put_record(77, 16);
	put_record(0xffffffff, 16 + 3);
	put_code(3);
	put_load(0x2000, 0x20, 1, "g");
	put_record(3, 16);
	put_load(0x3000, 0x20, 2, "of another run-time system");
	table = read_dump();
	assert_name(table, 0x1000, 0x1000, "f");
	assert_name(table, 0x2000, 0x2000, "g");
	assert_name(table, 0x3000, 0x3000, "of another run-time system");
	symbol_table_free(&table);
}

TEST(the_newer_wins, setup, teardown)
{
	struct symbol_table *table;

	put_header();
	put_load(0x1000, 0x100, 0, "old");
	put_load(0x2000, 0x100, 1, "same place");
	put_load(0x1080, 0x10, 2, "new");
	put_load(0x2000, 0x100, 3, "same place again");
	table = read_dump();
	assert_nameless(table, 0x1000);
	assert_name(table, 0x1080, 0x1080, "new");
	assert_nameless(table, 0x1090);
	assert_name(table, 0x2000, 0x2000, "same place again");
	symbol_table_free(&table);
}

TEST(moves, setup, teardown)
{
	struct symbol_table *table;

	put_header();
	put_load(0x1000, 0x20, 9, "far");
	put_load(0x2000, 0x20, 7, "near");
	put_load(0x3000, 0x20, 8, "twice");
	put_move(0x1000, 0x5000, 0x20, 9);
	put_move(0x2000, 0x2010, 0x20, 7);
	put_move(0x3000, 0x6000, 0x20, 8);
	put_move(0x6000, 0x7000, 0x20, 8);
	put_load(0x3000, 0x10, 10, "in its place");
	table = read_dump();
	assert_name(table, 0x1000, 0x1000, "far");
	assert_name(table, 0x501f, 0x5000, "far");
	assert_nameless(table, 0x5020);
	assert_nameless(table, 0x2000);
	assert_name(table, 0x2020, 0x2010, "near");
	assert_name(table, 0x3000, 0x3000, "in its place");
	assert_nameless(table, 0x3010);
	assert_name(table, 0x6000, 0x6000, "twice");
	assert_name(table, 0x7000, 0x7000, "twice");
	symbol_table_free(&table);
}

/* A move concerns the last function before it that has its index. */
TEST(moves_by_index, setup, teardown)
{
	struct symbol_table *table;

	put_header();
	put_load(0x9000, 0x20, 2, "overwritten by what is not known");
	put_move(0x8000, 0x9010, 0x20, 1);
	put_load(0x1000, 0x20, 1, "first");
	put_move(0x1000, 0x2000, 0x20, 1);
	put_load(0x3000, 0x20, 1, "second");
	put_move(0x3000, 0x4000, 0x20, 1);
	put_move(0x3000, 0x5000, 0x20, 3);
	table = read_dump();
	assert_nameless(table, 0x9000);
	assert_nameless(table, 0x9010);
	assert_name(table, 0x2000, 0x2000, "first");
	assert_name(table, 0x4000, 0x4000, "second");
	assert_nameless(table, 0x5000);
	symbol_table_free(&table);
}

/* A child of fork() has inherited the open file, and has other memory. */
TEST(records_of_another_process, setup, teardown)
{
	struct load load = load_of(0x1000, 0x20, 1, "of the child");
	struct symbol_table *table;

	put_header();
	put_load(0x1000, 0x20, 0, "f");
	load.pid = PID + 1;
	put_load_of(&load);
	put_move_of(PID + 1, 0x2000, 0x1010, 0x20, 0);
	table = read_dump();
	assert_name(table, 0x1000, 0x1000, "f");
	assert_nameless(table, 0x1020);
	symbol_table_free(&table);
}

static void assert_refused(void)
{
	struct generated_code code = {};

	fflush(out);
	assert_int_equal(read_bytes(dump, dump_bytes, &code), -ENOEXEC);
	assert_int_equal(code.count, 0);
}

TEST(headers_that_are_refused, setup, teardown)
{
	static const struct {
		u32 magic;
		u32 version;
		u32 bytes;
	} bad[] = {
		{0x4454694a, 0x01000000, 0x28000000}, /* the other byte order */
		{MAGIC + 1, 1, HEADER_BYTES},
		{MAGIC, 0, HEADER_BYTES},
		{MAGIC, 2, HEADER_BYTES},
		{MAGIC, 1, HEADER_BYTES - 1},
		{MAGIC, 1, 0},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put_header_of(bad[i].magic, bad[i].version, bad[i].bytes, 0);
		put_load(0x1000, 0x20, 0, "f");
		assert_refused();
		teardown(state);
		setup(state);
	}
	assert_refused(); /* an empty file */
}

TEST(a_longer_header, setup, teardown)
{
	struct symbol_table *table;

	put_header_of(MAGIC, 1, HEADER_BYTES + 8, 0);
	put64(UINT64_MAX);
	put_load(0x1000, 0x20, 0, "f");
	table = read_dump();
	assert_name(table, 0x1000, 0x1000, "f");
	symbol_table_free(&table);
}

TEST(a_header_beyond_the_end, setup, teardown)
{
	struct symbol_table *table;

	put_header_of(MAGIC, 1, UINT32_MAX, 0);
	table = read_dump();
	assert_nameless(table, 0x1000);
	symbol_table_free(&table);
}

TEST(long_names, setup, teardown)
{
	char *name = malloc(1 << 20);
	struct symbol_table *table;

	assert_non_null(name);
	memset(name, 'n', 1 << 20);
	put_header();
	name[JITDUMP_NAME_BYTES_MAX] = 0;
	put_load(0x1000, 0x20, 0, name);
	name[JITDUMP_NAME_BYTES_MAX] = 'n';
	name[(1 << 20) - 1] = 0;
	put_load(0x2000, 0x20, 1, name);
	put_load(0x3000, 0x20, 2, "short");
	table = read_dump();
	name[JITDUMP_NAME_BYTES_MAX] = 0;
	assert_name(table, 0x1000, 0x1000, name);
	assert_nameless(table, 0x2000);
	assert_name(table, 0x3000, 0x3000, "short");
	symbol_table_free(&table);
	free(name);
}

/* The dump is larger than the read buffer, with small and large records. */
TEST(a_long_dump, setup, teardown)
{
	enum { FUNCTIONS = 20000 };
	struct symbol_table *table;
	char name[32];

	put_header();
	for (u32 i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "function %u", i);
		put_load(0x100000 + i * 0x200000ULL, i % 5000 ? i % 97 + 1 : 0x100000, i, name);
	}
	table = read_dump();
	for (u32 i = 0; i < FUNCTIONS; i++) {
		u64 start = 0x100000 + i * 0x200000ULL;

		snprintf(name, sizeof(name), "function %u", i);
		assert_name(table, start, start, name);
	}
	symbol_table_free(&table);
}

TEST(functions_of_a_dump_are_newer_than_known_ones, setup, teardown)
{
	struct generated_code code = {};
	struct symbol_table *table;

	put_header();
	put_load(0x1000, 0x20, 0, "f");
	put_move(0x1000, 0x3000, 0x20, 0);
	fflush(out);
	assert_int_equal(generated_code_add(&code, 0x1000, 0x20, "older", 5), 0);
	assert_int_equal(generated_code_add(&code, 0x2000, 0x20, "elsewhere", 9), 0);
	assert_int_equal(read_bytes(dump, dump_bytes, &code), 0);
	table = table_of(&code);
	assert_name(table, 0x1000, 0x1000, "f");
	assert_name(table, 0x2000, 0x2000, "elsewhere");
	assert_name(table, 0x3000, 0x3000, "f");
	symbol_table_free(&table);
}

TEST(an_unreadable_dump_is_an_error, setup, teardown)
{
	struct generated_code code = {};
	int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	assert_int_equal(jitdump_read_open(-1, &code), -EBADF);
	assert_int_equal(jitdump_read_open(file, &code), -ENOEXEC); /* a mapping of 0 bytes */
	close(file);
	file = open("/", O_RDONLY | O_CLOEXEC);
	assert_int_equal(jitdump_read_open(file, &code), -EISDIR);
	close(file);
}
