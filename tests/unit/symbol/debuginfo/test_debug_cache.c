/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was kept comes back as it was, or not at all: of files that are cut off at any length, or
 * have any bit flipped. Where the checksum is right all the same, nothing is believed blindly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "symbol/debuginfo/debug_cache.h"

#define CHECKSUM_AT 8
#define VERSION_AT 4
#define NAME "0102030405060708090a0b0c0d0e0f1011121314"

static const u8 build_id[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
			      11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
static const struct debug_cache_key user = {build_id, sizeof(build_id), 0};
static const struct debug_source source = {1000, 2000, 3000, 4000};

static char place[] = "/tmp/stackmap-debug-XXXXXX";
static int folder;

/* A question about `count` places from `first` on: the even ones are in f(), inlined into g(). */
static struct debug_names *answer_of(u64 first, u32 count, bool is_kernel)
{
	static const char texts[] = "\0s\0f\0g\0a.c";
	struct debug_answer answer = {.text_bytes = sizeof(texts)};
	u64 *places = calloc(count, sizeof(*places));
	struct debug_names *names;
	size_t bytes;
	char *data;
	FILE *out = open_memstream(&data, &bytes);

	fwrite(texts, sizeof(texts), 1, out);
	for (u32 i = 0; i < count; i++) {
		const struct debug_item item = {.place = i,
						.functions = 2,
						.symbol_start = is_kernel ? 0 : first,
						.symbol_size = is_kernel ? 0 : count,
						.symbol = is_kernel ? 0 : 1};
		const struct debug_function inner = {.line = i, .inlined = 1, .name = 3};
		const struct debug_function outer = {.line = 7, .name = 5, .file = 7};

		places[i] = first + i;
		if (places[i] % 2)
			continue;
		answer.items++;
		fwrite(&item, sizeof(item), 1, out);
		fwrite(&inner, sizeof(inner), 1, out);
		fwrite(&outer, sizeof(outer), 1, out);
	}
	fclose(out);
	answer.bytes = bytes;
	assert_int_equal(debug_items_take(data, &answer, places, count, is_kernel, &names), 0);
	free(places);
	return names;
}

static void check_name(const struct debug_name *name, u32 line)
{
	assert_non_null(name);
	assert_int_equal(name->count, 2);
	assert_string_equal(name->functions[0].function, "f");
	assert_null(name->functions[0].file);
	assert_int_equal(name->functions[0].line, line);
	assert_true(name->functions[0].inlined);
	assert_string_equal(name->functions[1].function, "g");
	assert_string_equal(name->functions[1].file, "a.c");
	assert_int_equal(name->functions[1].line, 7);
}

static void check_names(const struct debug_names *names, u64 first, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		assert_true(debug_items_asked(names, first + i));
		if ((first + i) % 2)
			assert_null(debug_names_at(names, first + i));
		else
			check_name(debug_names_at(names, first + i), i);
	}
}

static int read_back(const struct debug_cache_key *key, struct debug_names **names)
{
	struct debug_source read;
	int result = debug_cache_read(folder, key, &read, names);

	if (!result)
		assert_memory_equal(&read, &source, sizeof(source));
	return result;
}

static bool is_there(const struct debug_cache_key *key)
{
	struct debug_names *names = NULL;
	int result = read_back(key, &names);

	assert_true(result == 0 || result == -ENOENT);
	assert_true(!result == !!names);
	debug_names_free(&names);
	return !result;
}

static void write_two(void)
{
	struct debug_names *names = answer_of(100, 4, false);

	names->next = answer_of(200, 3, false);
	debug_cache_write(folder, &user, &source, names);
	debug_names_free(&names);
	assert_null(names);
}

static void what_was_kept_comes_back(void **state)
{
	struct debug_names *names;

	(void)state;
	assert_false(is_there(&user));
	write_two();
	assert_int_equal(read_back(&user, &names), 0);
	check_names(names, 100, 4);
	check_names(names, 200, 3);
	assert_string_equal(debug_names_at(names, 202)->symbol, "s");
	assert_int_equal(debug_names_at(names, 202)->symbol_start, 200);
	assert_int_equal(debug_names_at(names, 202)->symbol_size, 3);
	assert_false(debug_items_asked(names, 99) || debug_items_asked(names, 104));
	assert_false(debug_items_asked(NULL, 100));
	debug_names_free(&names);
}

static void a_kernel_may_have_moved(void **state)
{
	const struct debug_cache_key here = {build_id, sizeof(build_id), 0xffffffff81000000};
	const struct debug_cache_key there = {build_id, sizeof(build_id), 0xffffffff9a000000};
	struct debug_names *names = answer_of(here.stext + 100, 4, true);

	(void)state;
	debug_cache_write(folder, &here, &source, names);
	debug_names_free(&names);
	assert_int_equal(read_back(&there, &names), 0);
	check_names(names, there.stext + 100, 4);
	assert_false(debug_items_asked(names, here.stext + 100));
	debug_names_free(&names);
	assert_false(is_there(&user));
}

static void it_is_of_one_build_id(void **state)
{
	u8 other_id[sizeof(build_id)];
	const struct debug_cache_key other = {other_id, sizeof(other_id), 0};
	const struct debug_cache_key shorter = {build_id, sizeof(build_id) - 1, 0};

	(void)state;
	memcpy(other_id, build_id, sizeof(build_id));
	other_id[19]++;
	write_two();
	assert_false(is_there(&other) || is_there(&shorter));
	assert_int_equal(
		linkat(folder, NAME, folder, "0102030405060708090a0b0c0d0e0f1011121315", 0), 0);
	assert_false(is_there(&other));
	assert_true(is_there(&user));
}

static void sources_are_told_apart(void **state)
{
	const struct debug_source without_code = {1000, 2000, 3000, 0};
	const struct debug_source others[] = {{1001, 2000, 3000, 4000},
					      {1000, 2001, 3000, 4000},
					      {1000, 2000, 3001, 4000},
					      {1000, 2000, 3000, 4001}};

	(void)state;
	assert_true(debug_source_equal(&source, &source));
	assert_true(debug_source_equal(&source, &without_code));
	assert_true(debug_source_equal(&without_code, &source));
	for (u32 i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(debug_source_equal(&source, &others[i]));
}

static u32 count_parts(const struct debug_names *names)
{
	u32 count = 0;

	for (; names; names = names->next)
		count++;
	return count;
}

static void the_last_of_too_many_are_left_out(void **state)
{
	struct debug_names *names = NULL, **last = &names;

	(void)state;
	for (u32 i = 0; i < 100; i++, last = &(*last)->next)
		*last = answer_of(1000 + 10 * i, 5, false);
	debug_cache_write(folder, &user, &source, names);
	debug_names_free(&names);
	assert_int_equal(read_back(&user, &names), 0);
	assert_in_range(count_parts(names), 50, 99);
	check_names(names, 1000, 5);
	debug_names_free(&names);
}

static u8 whole[4096];
static size_t whole_bytes;

static void read_file(void)
{
	int file = openat(folder, NAME, O_RDONLY);
	ssize_t got = read(file, whole, sizeof(whole));

	assert_in_range(got, 100, sizeof(whole) - 1);
	whole_bytes = got;
	close(file);
}

static void write_file(const u8 *data, size_t bytes)
{
	int file = openat(folder, NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(file, data, bytes), bytes);
	close(file);
}

static void set_checksum(u8 *data, size_t bytes)
{
	u32 sum;

	memset(data + CHECKSUM_AT, 0, sizeof(sum));
	sum = crc32_z(0, data, bytes);
	memcpy(data + CHECKSUM_AT, &sum, sizeof(sum));
}

static void cut_at_any_length_it_is_not_there(void **state)
{
	static u8 data[sizeof(whole)];

	(void)state;
	write_two();
	read_file();
	for (size_t bytes = 0; bytes < whole_bytes; bytes++) {
		write_file(whole, bytes);
		assert_false(is_there(&user));
		memcpy(data, whole, bytes);
		if (bytes >= CHECKSUM_AT + sizeof(u32))
			set_checksum(data, bytes);
		write_file(data, bytes);
		assert_false(is_there(&user));
	}
	memcpy(data, whole, whole_bytes);
	set_checksum(data, whole_bytes + 1);
	write_file(data, whole_bytes + 1);
	assert_false(is_there(&user));
	write_file(whole, whole_bytes);
	assert_true(is_there(&user));
}

static void with_any_bit_flipped_it_is_not_there(void **state)
{
	(void)state;
	write_two();
	read_file();
	for (size_t bit = 0; bit < whole_bytes * 8; bit++) {
		whole[bit / 8] ^= 1 << bit % 8;
		write_file(whole, whole_bytes);
		assert_false(is_there(&user));
		whole[bit / 8] ^= 1 << bit % 8;
	}
}

static void another_version_is_not_there(void **state)
{
	(void)state;
	write_two();
	read_file();
	whole[VERSION_AT]++;
	set_checksum(whole, whole_bytes);
	write_file(whole, whole_bytes);
	assert_false(is_there(&user));
	whole[VERSION_AT]--;
	set_checksum(whole, whole_bytes);
	write_file(whole, whole_bytes);
	assert_true(is_there(&user));
}

static void check_order(const struct debug_names *names)
{
	for (; names; names = names->next)
		for (u32 i = 1; i < names->asked_count; i++)
			assert_true(names->asked[i - 1] < names->asked[i]);
}

/* Under sanitizers: whatever it says, it is either not there or can be gone through. */
static void what_makes_no_sense_is_not_there(void **state)
{
	static const u8 flips[] = {0x01, 0x80, 0xff};
	u32 refused = 0;

	(void)state;
	write_two();
	read_file();
	for (size_t i = 0; i < whole_bytes * sizeof(flips); i++) {
		u8 *byte = &whole[i / sizeof(flips)], before = *byte;
		struct debug_names *names = NULL;
		struct debug_source read;

		*byte ^= flips[i % sizeof(flips)];
		set_checksum(whole, whole_bytes);
		write_file(whole, whole_bytes);
		refused += debug_cache_read(folder, &user, &read, &names) != 0;
		check_order(names);
		for (u64 at = 0; at < 300; at++)
			debug_names_at(names, at);
		debug_names_free(&names);
		*byte = before;
	}
	assert_true(refused > whole_bytes);
}

static int setup(void **state)
{
	(void)state;
	strcpy(strrchr(place, '-'), "-XXXXXX");
	if (!mkdtemp(place))
		return -1;
	folder = open(place, O_RDONLY | O_DIRECTORY);
	return folder < 0;
}

static int teardown(void **state)
{
	char command[sizeof(place) + 16];

	(void)state;
	close(folder);
	snprintf(command, sizeof(command), "rm -rf '%s'", place);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_kept_comes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kernel_may_have_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(it_is_of_one_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(sources_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(the_last_of_too_many_are_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(cut_at_any_length_it_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(with_any_bit_flipped_it_is_not_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(another_version_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(what_makes_no_sense_is_not_there, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
