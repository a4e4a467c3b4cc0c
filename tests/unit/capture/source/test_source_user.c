/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User functions by -e u: and ur:, on a library made for it. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/source/source.h"
#include "capture/source/source_question.h"
#include "unit_test.h"

static struct source_list list;
static struct stackmap_error error;

static int clear(void **state)
{
	(void)state;
	source_list_clear(&list);
	memset(&error, 0, sizeof(error));
	return 0;
}

static int add(const char *prefix, const char *function)
{
	char word[1024];

	snprintf(word, sizeof(word), "%s:%s:%s", prefix, PROBE_TARGET, function);
	return source_list_add(&list, word, 0, &error);
}

TEST(a_function_is_a_file_and_an_offset, NULL, clear)
{
	assert_int_equal(add("u", "probe_target_two"), 0);
	assert_int_equal(add("ur", "probe_target_two"), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.sources[0].type, SOURCE_USER);
	assert_string_equal(list.sources[0].target, PROBE_TARGET);
	assert_string_equal(list.sources[0].name, "u:" PROBE_TARGET ":probe_target_two");
	assert_false(list.sources[0].on_return);
	assert_true(list.sources[1].on_return);
	assert_int_equal(list.sources[0].offset, list.sources[1].offset);
}

TEST(offsets_are_added, NULL, clear)
{
	char offset[32];

	assert_int_equal(add("u", "probe_target_two"), 0);
	assert_int_equal(add("u", "probe_target_two+0x4"), 0);
	assert_int_equal(list.sources[1].offset, list.sources[0].offset + 4);
	assert_string_equal(list.sources[1].name, "u:" PROBE_TARGET ":probe_target_two+0x4");
	snprintf(offset, sizeof(offset), "0x%llx", (unsigned long long)list.sources[0].offset);
	assert_int_equal(add("u", offset), 0);
	assert_int_equal(list.sources[2].offset, list.sources[0].offset);
}

TEST(names_of_one_place_are_one_source, NULL, clear)
{
	assert_int_equal(add("u", "probe_target_*"), 0);
	assert_int_equal(list.count, 4); /* one, two, old, hidden; no alias, no IFUNC */
}

TEST(an_ifunc_is_refused, NULL, clear)
{
	assert_int_equal(add("u", "probe_target_chosen"), -EOPNOTSUPP);
	assert_non_null(strstr(error.message, "IFUNC"));
}

TEST(the_nearest_function_is_named, NULL, clear)
{
	assert_int_equal(add("u", "probe_target_tow"), -ENOENT);
	assert_non_null(strstr(error.message, "no such function; did you mean u:" PROBE_TARGET
					      ":probe_target_two?"));
}

TEST(an_offset_after_the_end_of_the_code_is_refused, NULL, clear)
{
	assert_int_equal(add("u", "0x10000000"), -ERANGE);
	assert_int_equal(add("u", "probe_target_two+0x10000000"), -ERANGE);
	assert_int_equal(add("u", "probe_target_two+0xffffffffffffffff"), -ERANGE);
	assert_int_equal(list.count, 0);
}

TEST(a_return_probe_belongs_at_the_start, NULL, clear)
{
	assert_int_equal(add("ur", "probe_target_two+4"), -EINVAL);
}

TEST(files_that_are_no_programs_are_refused, NULL, clear)
{
	char fifo[] = "/tmp/stackmap-fifo-XXXXXX", word[128];

	assert_int_equal(source_list_add(&list, "u:/proc/self/status:main", 0, &error), -ENOEXEC);
	assert_int_equal(source_list_add(&list, "u:/nosuch/file:main", 0, &error), -ENOENT);
	assert_int_equal(source_list_add(&list, "u:/tmp:main", 0, &error), -ENOEXEC);
	assert_non_null(mkdtemp(fifo));
	assert_int_equal(rmdir(fifo), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	snprintf(word, sizeof(word), "u:%s:main", fifo);
	assert_int_equal(source_list_add(&list, word, 0, &error), -ENOEXEC);
	unlink(fifo);
}

TEST(a_bare_name_is_looked_for, NULL, clear)
{
	assert_int_equal(source_list_add(&list, "u:libc.so.6:malloc", 0, &error), 0);
	assert_int_equal(list.sources[0].target[0], '/');
	assert_int_equal(source_list_add(&list, "u:no-such-program:main", 0, &error), -ENOENT);
}

TEST(an_argument_without_debug_information_is_refused, NULL, clear)
{
	assert_int_equal(add("u", "probe_target_two/value=arg1/"), 0);
	assert_int_equal(list.sources[0].question.value.bytes, 8);
	assert_int_equal(source_list_add(&list, "u:/bin/true:0x0/value=size/", 0, &error), -ENOENT);
	assert_non_null(strstr(error.message, "no number size; the entry of a function has arg1 to "
					      "arg6; names of arguments need debug information"));
}

TEST(an_argument_has_the_bytes_and_sign_of_its_type, NULL, clear)
{
	const struct event_number *number;

	assert_int_equal(add("u", "probe_argument/value=taken,if=taken<0/"), 0);
	number = &list.sources[0].question.value;
	assert_int_equal(number->bytes, 4);
	assert_int_equal(number->is_signed, 1);
	assert_int_equal(number->place, NUMBER_IN_EVENT);
	assert_int_equal(number->offset, question_argument_offset(0));
}
