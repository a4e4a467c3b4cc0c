/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames without a name in the small recording, and the reasons. tests/e2e/symbol/test_symbols.py
 * tests the reasons that concern debug files. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/profile/missing_names.h"
#include "small_recording.h"
#include "unit_test.h"

static char path[] = "/tmp/stackmap-test-missing-XXXXXX";
static struct trace_reader *reader;
static struct profile *profile;
static struct missing_names missing;

static void assert_missing_file(const char *object, enum missing_reason reason, u64 self,
				u64 children)
{
	for (u32 i = 0; i < missing.count; i++) {
		const struct missing_file *file = &missing.files[i];

		if (strcmp(file->object, object))
			continue;
		assert_int_equal(file->reason, reason);
		assert_int_equal(file->self, self);
		assert_int_equal(file->children, children);
		assert_int_equal(file->places, 1);
		return;
	}
	fail_msg("%s has all names", object);
}

TEST(each_file_has_its_reason)
{
	assert_int_equal(missing_names_find(reader, profile, NULL, &missing), 0);
	assert_int_equal(missing.count, 4);
	assert_int_equal(missing.events, SMALL_EVENTS);
	assert_int_equal(missing.self, 1);
	assert_missing_file("[kernel.kallsyms]", MISSING_KERNEL, 1, 1);
	assert_missing_file("/usr/lib/libc.so.6", MISSING_NO_ID, 0, 1);
	assert_missing_file("[anon]", MISSING_GENERATED, 0, 1);
	assert_missing_file("[unknown]", MISSING_UNKNOWN, 0, 1);
	assert_string_equal(missing.files[0].object, "[kernel.kallsyms]");
	missing_names_free(&missing);
	assert_int_equal(missing.count, 0);
}

TEST(reasons_have_words)
{
	for (int reason = 0; reason < MISSING_REASON_COUNT; reason++) {
		assert_true(missing_reason_name(reason)[0] && missing_reason_why(reason)[0]);
		assert_false(missing_wants_debug_file(reason) && missing_reason_fix(reason)[0]);
	}
}

static const char *page; /* man page of report */

TEST(the_page_lists_the_reasons)
{
	char text[65536], word[64];
	FILE *file = fopen(page, "r");
	size_t bytes;

	assert_non_null(file);
	bytes = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[bytes] = 0;
	for (int reason = 0; reason < MISSING_REASON_COUNT; reason++) {
		snprintf(word, sizeof(word), " %s ", missing_reason_name(reason));
		assert_non_null(strstr(text, word));
	}
}

/* A report has a separate message for missing names of the kernel. */
TEST(the_share_is_of_user_code)
{
	assert_true(missing_names_share(profile) == 0);
}

static int setup(void **state)
{
	(void)state;
	close(mkstemp(path));
	unlink(path);
	return small_recording_write(path) || trace_reader_open(path, &reader, NULL) ||
	       profile_create(reader, &(struct event_filter){}, &(struct frame_naming){}, &profile,
			      NULL);
}

static int teardown(void **state)
{
	(void)state;
	profile_free(&profile);
	trace_reader_close(&reader);
	return unlink(path);
}

TEST_GROUP(setup, teardown)

int main(int count, char **arguments)
{
	if (count != 2)
		return 2;
	page = arguments[1];
	return unit_tests_run();
}
