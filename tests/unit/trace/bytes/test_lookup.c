/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Look-ups in a recording, compared with a linear search, and difficult cases. */

#include <stdint.h>
#include <string.h>

#include "recording.h"
#include "trace/bytes/lookup.h"
#include "unit_test.h"

#define SYMBOLS 400
#define ADDRESSES 3000

static bool does_symbol_cover_address(const struct trace_symbol *symbol, u32 mapping, u64 address)
{
	return symbol->mapping == mapping && symbol->start <= address &&
	       address - symbol->start < symbol->size;
}

/* Finds the innermost symbol: the one with the latest start, then the smallest one. */
static const struct trace_symbol *search(const struct trace_symbol *symbols, u32 mapping,
					 u64 address)
{
	const struct trace_symbol *best = NULL;

	for (u32 i = 0; i < SYMBOLS; i++) {
		const struct trace_symbol *symbol = &symbols[i];

		if (!does_symbol_cover_address(symbol, mapping, address))
			continue;
		if (!best || symbol->start > best->start ||
		    (symbol->start == best->start && symbol->size <= best->size))
			best = symbol;
	}
	return best;
}

TEST(symbols_that_overlap)
{
	struct trace_symbol symbols[SYMBOLS];
	struct random random = {.state = 9};
	struct lookup lookup;

	for (u32 i = 0; i < SYMBOLS; i++)
		symbols[i] = (struct trace_symbol){
			.mapping = (u32)random_below(&random, 3),
			.start = random_below(&random, 2000),
			.size = 1 + random_below(&random, random_below(&random, 10) ? 8 : 500),
			.name = "name",
		};
	assert_int_equal(lookup_build(&lookup, NULL, 0, NULL, 0, symbols, SYMBOLS), 0);
	for (u32 mapping = 0; mapping < 4; mapping++)
		for (u64 address = 0; address < ADDRESSES; address++) {
			const struct trace_symbol *wanted = search(symbols, mapping, address);
			const struct trace_symbol *got = lookup_symbol(&lookup, mapping, address);

			assert_int_equal(!got, !wanted);
			if (got)
				assert_true(got->start == wanted->start &&
					    got->size == wanted->size);
		}
	lookup_free(&lookup);
}

TEST(symbol_at_the_end_of_the_address_space)
{
	struct trace_symbol symbol = {.start = UINT64_MAX - 9, .size = UINT64_MAX, .name = "last"};
	struct lookup lookup;

	assert_int_equal(lookup_build(&lookup, NULL, 0, NULL, 0, &symbol, 1), 0);
	assert_non_null(lookup_symbol(&lookup, 0, UINT64_MAX - 1));
	assert_null(lookup_symbol(&lookup, 0, UINT64_MAX - 10));
	lookup_free(&lookup);
}

TEST(a_name_is_better_than_bounds)
{
	struct trace_symbol symbols[] = {
		{.start = 100, .size = 50, .name = ""},
		{.start = 100, .size = 60, .name = "outer"},
		{.start = 120, .size = 10, .name = ""},
		{.start = 200, .size = 20, .name = ""},
	};
	struct lookup lookup;

	assert_int_equal(lookup_build(&lookup, NULL, 0, NULL, 0, symbols, 4), 0);
	assert_string_equal(lookup_symbol(&lookup, 0, 100)->name, "outer");
	assert_string_equal(lookup_symbol(&lookup, 0, 125)->name, "outer");
	assert_int_equal(lookup_symbol(&lookup, 0, 219)->start, 200);
	assert_null(lookup_symbol(&lookup, 0, 220));
	lookup_free(&lookup);
}

TEST(task_is_the_one_of_the_time)
{
	static const struct trace_task tasks[] = {
		{.tid = 5, .time = 100, .comm = "exec"},
		{.tid = 5, .time = 0, .comm = "fork"},
		{.tid = 7, .time = 50, .comm = "late"},
		{.tid = 5, .time = 100, .comm = "again"},
	};
	struct lookup lookup;

	assert_int_equal(lookup_build(&lookup, NULL, 0, tasks, 4, NULL, 0), 0);
	assert_string_equal(lookup_task(&lookup, 5, 0)->comm, "fork");
	assert_string_equal(lookup_task(&lookup, 5, 99)->comm, "fork");
	assert_string_equal(lookup_task(&lookup, 5, 100)->comm, "again");
	assert_null(lookup_task(&lookup, 7, 49));
	assert_string_equal(lookup_task(&lookup, 7, UINT64_MAX)->comm, "late");
	assert_null(lookup_task(&lookup, 6, 100));
	assert_null(lookup_task(&lookup, 8, 100));
	lookup_free(&lookup);
}

TEST(last_record_of_a_mapping_counts)
{
	static const struct trace_mapping mappings[] = {
		{.number = 3, .path = "a"},
		{.number = 1, .path = "b"},
		{.number = 3, .path = "c"},
	};
	struct lookup lookup;

	assert_int_equal(lookup_build(&lookup, mappings, 3, NULL, 0, NULL, 0), 0);
	assert_string_equal(lookup_mapping(&lookup, 3)->path, "c");
	assert_string_equal(lookup_mapping(&lookup, 1)->path, "b");
	assert_null(lookup_mapping(&lookup, 0));
	assert_null(lookup_mapping(&lookup, 2));
	lookup_free(&lookup);
}

TEST(an_empty_recording_has_no_entries)
{
	struct lookup lookup;

	assert_int_equal(lookup_build(&lookup, NULL, 0, NULL, 0, NULL, 0), 0);
	assert_null(lookup_symbol(&lookup, 0, 1));
	assert_null(lookup_task(&lookup, 1, 1));
	assert_null(lookup_mapping(&lookup, 1));
	lookup_free(&lookup);
}
