/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows by their innermost frames, on the small recording. */
#include "report/profile/function_set.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "report/profile/profile.h"
#include "small_recording.h"
#include "unit_test.h"

static char path[] = "/tmp/stackmap-test-leaf-filter-XXXXXX";
static struct trace_reader *reader;
static struct stackmap_error error;

static struct profile *whole_profile(void)
{
	struct profile *profile;

	assert_int_equal(profile_create(reader, &(struct event_filter){}, &(struct frame_naming){},
					&profile, NULL),
			 0);
	return profile;
}

/* Counts the events that the filter should keep, by the public parts of a profile. */
static u64 count_by_hand(bool (*wanted)(const struct profile *profile, u32 label))
{
	struct profile *profile = whole_profile();
	struct whole_stack stack = {};
	u64 count = 0;

	for (u32 i = 0; i < profile->row_count; i++) {
		assert_int_equal(whole_stack_set_labels_of_row(&stack, profile, profile->rows[i]),
				 0);
		if (wanted(profile, stack.labels[0]))
			count += profile->rows[i]->count;
	}
	whole_stack_free(&stack);
	profile_free(&profile);
	return count;
}

static int result;

/* The number of events after the filter. NULL: the list is not given. */
static u64 count_with(const char *objects, const char *functions)
{
	const struct leaf_filter filter = {
		.objects = {&objects, objects != NULL},
		.functions = {&functions, functions != NULL},
	};
	struct profile *profile = whole_profile();
	u64 sum = 0, count;

	result = leaf_filter_apply(&filter, profile, &error);
	for (u32 i = 0; i < profile->row_count; i++)
		sum += profile->rows[i]->count;
	count = profile->count;
	assert_int_equal(sum, count);
	profile_free(&profile);
	return count;
}

static bool is_schedule(const struct profile *profile, u32 label)
{
	return !strcmp(frame_names_label(profile->names, label), "schedule");
}

static bool is_schedule_or_foo(const struct profile *profile, u32 label)
{
	return is_schedule(profile, label) ||
	       !strcmp(frame_names_label(profile->names, label), "foo::bar(int)");
}

static bool is_in_kernel(const struct profile *profile, u32 label)
{
	const char *object = frame_names_label_object(profile->names, label);

	return object && !strcmp(object, "[kernel.kallsyms]");
}

static bool is_in_kernel_or_module(const struct profile *profile, u32 label)
{
	const char *object = frame_names_label_object(profile->names, label);

	return is_in_kernel(profile, label) || (object && !strcmp(object, "[ext4]"));
}

TEST(rows_by_function)
{
	u64 schedule = count_by_hand(is_schedule), both = count_by_hand(is_schedule_or_foo);

	assert_true(0 < schedule && schedule < both && both < SMALL_EVENTS);
	assert_int_equal(count_with(NULL, "schedule"), schedule);
	assert_int_equal(count_with(NULL, "sched*"), schedule);
	assert_int_equal(count_with(NULL, "schedule,foo::bar(int)"), both);
	assert_int_equal(count_with(NULL, "main"), 0);
	assert_int_equal(result, 0);
	assert_int_equal(count_with(NULL, NULL), SMALL_EVENTS);
}

static bool is_in_libc(const struct profile *profile, u32 label)
{
	const char *object = frame_names_label_object(profile->names, label);

	return object && !strcmp(object, "/usr/lib/libc.so.6");
}

TEST(rows_by_file)
{
	static const char *const libc[] = {"/usr/lib/libc.so.6", "libc.so.6", "libc*"};
	u64 kernel = count_by_hand(is_in_kernel), both = count_by_hand(is_in_kernel_or_module);

	assert_true(0 < kernel && kernel < both && both < SMALL_EVENTS);
	assert_int_equal(count_with("[kernel.kallsyms]", NULL), kernel);
	assert_int_equal(count_with("[ext4],[kernel.kallsyms]", NULL), both);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(count_with(libc[i], NULL), count_by_hand(is_in_libc));
	assert_int_equal(count_with("[ext4]", "schedule"), 0);
	assert_int_equal(count_with("[kernel.kallsyms]", "schedule"), count_by_hand(is_schedule));
}

TEST(unknown_functions_and_files_select_no_row)
{
	assert_int_equal(count_with(NULL, "schedule,shedule"), SMALL_EVENTS);
	assert_int_equal(result, -ENOENT);
	assert_non_null(strstr(error.message, "did you mean schedule"));
	count_with("libc.so.7", NULL);
	assert_int_equal(result, -ENOENT);
	assert_non_null(strstr(error.message, "did you mean libc.so.6"));
	count_with(NULL, "schedule,");
	assert_int_equal(result, -ENOENT);
}

TEST(commas_inside_of_names)
{
	count_with(NULL, "schedule,map<int, f(a, b)>::at,main");
	assert_int_equal(result, -ENOENT);
	assert_ptr_equal(strstr(error.message, "map<int, f(a, b)>::at: no such"), error.message);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	return small_recording_write(path) ?: trace_reader_open(path, &reader, NULL);
}

static int teardown(void **state)
{
	(void)state;
	trace_reader_close(&reader);
	return unlink(path);
}

TEST_GROUP(setup, teardown)
