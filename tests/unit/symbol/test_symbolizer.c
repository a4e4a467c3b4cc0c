/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of this very process, as the BPF programs would give them, against the names of its
 * functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_record.h"
#include "symbol/kallsyms.h"
#include "symbol/mapped_file.h"
#include "symbol/symbolizer.h"
#include "symbol/whole_file.h"

static struct symbolizer *symbolizer;

static int setup(void **state)
{
	(void)state;
	return symbolizer_create(&symbolizer, NULL);
}

static int teardown(void **state)
{
	(void)state;
	symbolizer_free(&symbolizer);
	assert_null(symbolizer);
	return 0;
}

__attribute__((noinline)) static int nothing_else_has_this_name(int x)
{
	return x * 7;
}

/* Makes the mapping of an address known as `number`; returns the address as a frame of it. */
static u64 make_known(u32 number, const void *address)
{
	char path[MAPPING_PATH_BYTES + 1];
	struct mapping_record record;
	struct trace_mapping mapping;

	assert_true(sample_record_mapped(&record, address));
	mapped_file_identify(number, &record, &mapping, path, sizeof(path));
	assert_int_equal(symbolizer_mapping(symbolizer, &mapping, &record), 0);
	memset(path, 0, sizeof(path));
	return FRAME_USER(number, (uintptr_t)address - record.start + record.offset);
}

static void expect(u64 frame, bool return_address, const char *name, u64 start)
{
	struct trace_symbol symbol;

	assert_int_equal(symbolizer_find(symbolizer, frame, return_address, &symbol), 0);
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.start, start);
	assert_int_equal(symbol.mapping, FRAME_IS_KERNEL(frame) ? 0 : FRAME_MAPPING(frame));
	assert_int_not_equal(symbol.size, 0);
}

static void a_function_of_this_program(void **state)
{
	u64 frame = make_known(3, nothing_else_has_this_name);

	(void)state;
	expect(frame, false, "nothing_else_has_this_name", FRAME_OFFSET(frame));
	expect(frame + 1, true, "nothing_else_has_this_name", FRAME_OFFSET(frame));
}

static void a_return_address_is_looked_up_one_byte_before(void **state)
{
	u64 frame = make_known(3, nothing_else_has_this_name);
	struct trace_symbol symbol;

	(void)state;
	assert_int_equal(symbolizer_find(symbolizer, frame, false, &symbol), 0);
	expect(frame + symbol.size, true, "nothing_else_has_this_name", FRAME_OFFSET(frame));
	if (!symbolizer_find(symbolizer, frame, true, &symbol))
		assert_string_not_equal(symbol.name, "nothing_else_has_this_name");
	assert_int_equal(symbolizer_find(symbolizer, FRAME_USER(3, 0), true, &symbol), -ENOENT);
}

static void a_function_of_libc(void **state)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *address = libc ? dlsym(libc, "strerror") : NULL;
	u64 frame;

	(void)state;
	if (!address)
		skip();
	frame = make_known(4, address);
	expect(frame, false, "strerror", FRAME_OFFSET(frame));
	dlclose(libc);
}

static void a_function_of_the_vdso(void **state)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *address = vdso ? dlsym(vdso, "__vdso_getcpu") : NULL;
	struct trace_symbol symbol;
	u64 frame;

	(void)state;
	if (!address)
		skip();
	frame = make_known(5, address);
	assert_int_equal(symbolizer_find(symbolizer, frame, false, &symbol), 0);
	assert_non_null(strstr(symbol.name, "getcpu"));
	assert_int_equal(symbol.start, FRAME_OFFSET(frame));
	dlclose(vdso);
}

static void another_build_id_gives_no_name(void **state)
{
	char path[MAPPING_PATH_BYTES + 1];
	struct mapping_record record;
	struct trace_mapping mapping;
	struct trace_symbol symbol;
	u64 offset;

	(void)state;
	assert_true(sample_record_mapped(&record, nothing_else_has_this_name));
	offset = (uintptr_t)nothing_else_has_this_name - record.start + record.offset;
	mapped_file_identify(1, &record, &mapping, path, sizeof(path));
	if (!mapping.build_id_bytes)
		skip();
	mapping.build_id[0] ^= 1;
	assert_int_equal(symbolizer_mapping(symbolizer, &mapping, &record), 0);
	mapping.number = 2;
	mapping.build_id[0] ^= 1;
	record.key.inode++;
	assert_int_equal(symbolizer_mapping(symbolizer, &mapping, &record), 0);
	for (u32 number = 1; number <= 2; number++)
		assert_int_equal(
			symbolizer_find(symbolizer, FRAME_USER(number, offset), false, &symbol),
			-ENOENT);
}

static void numbers_are_checked(void **state)
{
	struct trace_mapping mapping = {.path = ""};
	struct mapping_record record = {.key = {.kind = MAPPING_ANON}};
	struct trace_symbol symbol;

	(void)state;
	assert_int_equal(symbolizer_mapping(symbolizer, &mapping, &record), -EINVAL);
	mapping.number = MAPPINGS_MAX;
	assert_int_equal(symbolizer_mapping(symbolizer, &mapping, &record), -EINVAL);
	mapping.number = MAPPINGS_MAX - 1;
	assert_int_equal(symbolizer_mapping(symbolizer, &mapping, &record), 0);
	assert_int_equal(symbolizer_mapping(symbolizer, &mapping, &record), -EEXIST);
	assert_int_equal(
		symbolizer_find(symbolizer, FRAME_USER(MAPPINGS_MAX - 1, 4), false, &symbol),
		-ENOENT);
	assert_int_equal(symbolizer_find(symbolizer, FRAME_USER(77, 4), false, &symbol), -ENOENT);
	assert_int_equal(symbolizer_find(symbolizer, FRAME_USER(MAPPING_UNKNOWN, 4), true, &symbol),
			 -ENOENT);
}

static int find_schedule(void *arg, const struct kallsyms_line *line)
{
	u64 *address = arg;

	if (line->name_bytes != strlen("schedule") || memcmp(line->name, "schedule", 8))
		return 0;
	*address = line->address;
	return 1;
}

static void a_function_of_the_kernel(void **state)
{
	u64 address = 0;
	size_t bytes;
	char *text;

	(void)state;
	if (whole_file_read("/proc/kallsyms", &text, &bytes))
		skip();
	kallsyms_each(text, bytes, find_schedule, &address);
	free(text);
	if (!address)
		skip(); /* kptr_restrict */
	expect(address, false, "schedule", address);
	expect(address + 5, true, "schedule", address);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_function_of_this_program, setup, teardown),
		cmocka_unit_test_setup_teardown(a_return_address_is_looked_up_one_byte_before,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_function_of_libc, setup, teardown),
		cmocka_unit_test_setup_teardown(a_function_of_the_vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(another_build_id_gives_no_name, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(a_function_of_the_kernel, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
