/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dumps that are being written, damaged, or malicious. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "jitdump_writer.h"
#include "unit_test.h"

/* Puts a record of each kind; `ends` gets the offset of each end. */
static u32 put_every_kind(size_t ends[])
{
	u32 count = 0;

	put_header();
	ends[count++] = ftell(out);
	put_load(0x1000, 0x20, 0, "first");
	ends[count++] = ftell(out);
	put_debug_info(0x1000);
	put_unwinding_info();
	put_load(0x2000, 0x20, 1, "second");
	ends[count++] = ftell(out);
	put_move(0x1000, 0x3000, 0x20, 0);
	ends[count++] = ftell(out);
	put_record(3, 16);
	fflush(out);
	return count;
}

/* The dump is being written: whole records count. */
TEST(cut_off_anywhere, setup, teardown)
{
	static const struct {
		u64 start;
		const char *name;
	} functions[] = {{0x1000, "first"}, {0x2000, "second"}, {0x3000, "first"}};
	size_t ends[8];
	u32 count = put_every_kind(ends);

	for (size_t bytes = 0; bytes <= dump_bytes; bytes++) {
		struct generated_code code = {};
		struct symbol_table *table;

		assert_int_equal(read_bytes(dump, bytes, &code),
				 bytes < HEADER_BYTES ? -ENOEXEC : 0);
		table = table_of(&code);
		for (u32 i = 1; i < count; i++)
			if (bytes >= ends[i])
				assert_name(table, functions[i - 1].start, functions[i - 1].start,
					    functions[i - 1].name);
			else
				assert_nameless(table, functions[i - 1].start);
		symbol_table_free(&table);
	}
}

/* The record has its name, but not its code. */
TEST(cut_off_in_large_code, setup, teardown)
{
	struct load load = load_of(0x1000, 0x100000, 0, "f");
	struct symbol_table *table;

	put_header();
	load.code_there--;
	put_load_of(&load);
	table = read_dump();
	assert_nameless(table, 0x1000);
	symbol_table_free(&table);
}

/* Any bytes give a valid table. */
static void check_any(const char *bytes, size_t count)
{
	struct generated_code code = {};
	struct symbol_table *table;
	struct symbol symbol;
	int result = read_bytes(bytes, count, &code);

	assert_true(!result || result == -ENOEXEC);
	table = table_of(&code);
	for (u32 i = 0; symbol_table_at_index(table, i, &symbol); i++) {
		assert_true(symbol.size && symbol.size <= UINT64_MAX - symbol.start);
		assert_true(symbol.name_bytes && strlen(symbol.name) == symbol.name_bytes);
	}
	symbol_table_free(&table);
}

TEST(flipped_bytes, setup, teardown)
{
	static const u8 flips[] = {0x01, 0x10, 0x80, 0xff};
	size_t ends[8];

	put_every_kind(ends);
	for (size_t at = 0; at < dump_bytes; at++)
		for (size_t i = 0; i < sizeof(flips); i++) {
			dump[at] ^= flips[i];
			check_any(dump, dump_bytes);
			dump[at] ^= flips[i];
		}
}

/* Reading ends at a record whose size is smaller than its head, or larger than the file. */
TEST(hostile_record_sizes, setup, teardown)
{
	static const u32 bad[] = {0, 1, 15, UINT32_MAX, UINT32_MAX - 40, 1000};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct symbol_table *table;

		put_header();
		put_load(0x1000, 0x20, 0, "f");
		put_record(4, bad[i]);
		put_load(0x2000, 0x20, 1, "g");
		table = read_dump();
		assert_name(table, 0x1000, 0x1000, "f");
		assert_nameless(table, 0x2000);
		symbol_table_free(&table);
		teardown(state);
		setup(state);
	}
}

/* The load has no name: it may overwrite earlier code, and later records count. */
static void assert_nameless_load(void **state, const struct load *load, bool overwrites)
{
	struct symbol_table *table;

	put_header();
	put_load(0x1000, 0x20, 0, "before");
	put_load_of(load);
	put_load(0x2000, 0x20, 1, "after");
	table = read_dump();
	if (overwrites)
		assert_nameless(table, 0x1000);
	else
		assert_name(table, 0x1010, 0x1000, "before");
	assert_name(table, 0x2000, 0x2000, "after");
	symbol_table_free(&table);
	teardown(state);
	setup(state);
}

TEST(hostile_loads, setup, teardown)
{
	struct load load = load_of(0x1000, 0x20, 2, "");

	assert_nameless_load(state, &load, true);
	load = load_of(0x1000, 0x20, 2, "more code than there is");
	load.code_bytes++;
	assert_nameless_load(state, &load, true);
	load.code_bytes = UINT64_MAX - 0x1000;
	load.name = "all of the memory";
	load.name_bytes = strlen(load.name);
	load.bytes = 56 + load.name_bytes + load.code_there;
	put_header();
	put_load_of(&load);
	symbol_table_free(&(struct symbol_table *){read_dump()});
	teardown(state);
	setup(state);
	load = load_of(0x1010, UINT64_MAX, 2, "wraps");
	load.bytes = 56 + load.name_bytes;
	load.code_there = 0;
	assert_nameless_load(state, &load, false);
	load = load_of(0x1000, 0, 2, "without code");
	assert_nameless_load(state, &load, false);
	load = load_of(0x1000, 0x20, 2, "a name without an end");
	load.name_bytes--;
	load.code_there = 0;
	load.bytes = 56 + load.name_bytes;
	assert_nameless_load(state, &load, true);
}

TEST(loads_and_moves_too_short_for_themselves, setup, teardown)
{
	struct symbol_table *table;

	put_header();
	put_load(0x1000, 0x20, 0, "f");
	for (u32 id = 0; id < 5; id++) {
		put_record(id, 20);
		put32(PID);
	}
	put_load(0x2000, 0x20, 1, "g");
	table = read_dump();
	assert_name(table, 0x1000, 0x1000, "f");
	assert_name(table, 0x2000, 0x2000, "g");
	symbol_table_free(&table);
}
