/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profile and call tree of the small recording, compared with known counts. */
#include "report/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/profile/calltree.h"
#include "small_recording.h"
#include "trace/write/memory_recording.h"
#include "unit_test.h"

static char path[] = "/tmp/stackmap-profile-XXXXXX";
static struct trace_reader *reader;
static const struct event_filter all = {};

static struct profile *profile_of(const struct event_filter *filter)
{
	struct profile *profile;

	assert_int_equal(profile_create(reader, filter, &(struct frame_naming){}, &profile, NULL),
			 0);
	return profile;
}

/* "a b c", innermost first */
static const char *text_of(const struct profile *profile, const struct profile_path *frames)
{
	static char text[512];

	text[0] = '\0';
	for (u32 i = 0; i < frames->depth; i++) {
		strcat(text, i ? " " : "");
		strcat(text, frame_names_label(profile->names, frames->labels[i]));
	}
	return text;
}

static const struct profile_row *row_of(const struct profile *profile, u32 kind, const char *comm)
{
	for (u32 i = 0; i < profile->row_count; i++)
		if (profile->rows[i]->kind == kind && strcmp(profile->rows[i]->comm, comm) == 0)
			return profile->rows[i];
	fail();
	return NULL;
}

TEST(every_event_is_in_a_row)
{
	struct profile *profile = profile_of(&all);
	u64 sum = 0;

	for (u32 i = 0; i < profile->row_count; i++)
		sum += profile->rows[i]->count;
	assert_int_equal(sum, SMALL_EVENTS);
	assert_int_equal(profile->count, SMALL_EVENTS);
	assert_int_equal(profile->last - profile->first, 12000000000);
	profile_free(&profile);
	assert_null(profile);
}

TEST(rows_are_hottest_first)
{
	struct profile *profile = profile_of(&all);

	for (u32 i = 1; i < profile->row_count; i++)
		assert_true(profile->rows[i - 1]->count >= profile->rows[i]->count);
	profile_free(&profile);
}

/* Three pcs in one function, one row. */
TEST(leaves_join_by_function)
{
	struct profile *profile = profile_of(&all);
	const struct profile_row *row = profile->rows[0];

	assert_int_equal(row->count, 3);
	assert_string_equal(row->comm, "dd");
	assert_string_equal(text_of(profile, row->kernel), "do_syscall_64 entry_SYSCALL_64");
	assert_string_equal(text_of(profile, row->user), "foo::bar(int) main");
	profile_free(&profile);
}

TEST(user_leaf_joins_the_user_stack)
{
	struct profile *profile = profile_of(&all);
	const struct profile_row *row = row_of(profile, 0, "sh");

	assert_int_equal(row->kernel->depth, 0);
	assert_null(profile_path_marker(row->kernel));
	assert_string_equal(text_of(profile, row->user), "foo::bar(int) foo::bar(int) main");
	profile_free(&profile);
}

TEST(labels_without_symbol)
{
	struct profile *profile = profile_of(&all);
	const struct profile_row *row = row_of(profile, 1, "dd");

	assert_string_equal(text_of(profile, row->user),
			    "main libc.so.6+0x9999 0x7f0000000123 [unknown]");
	profile_free(&profile);
}

TEST(markers)
{
	struct profile *profile = profile_of(&all);
	const struct profile_row *cut = row_of(profile, 1, "dd");
	const struct profile_row *lost = row_of(profile, 0, "dd;\033[31m");

	assert_string_equal(profile_path_marker(cut->kernel), "[truncated]");
	assert_null(profile_path_marker(cut->user));
	assert_string_equal(profile_path_marker(lost->kernel), "[no_room]");
	assert_string_equal(text_of(profile, lost->kernel), "vmlinux+0x500000");
	assert_string_equal(profile_path_marker(lost->user), "[unreadable]");
	profile_free(&profile);
}

static const struct profile_row *row_that_ends(const struct profile *profile, const char *marker)
{
	for (u32 i = 0; i < profile->row_count; i++) {
		const char *end = profile_path_marker(profile->rows[i]->user);

		if (end && strcmp(end, marker) == 0)
			return profile->rows[i];
	}
	fail();
	return NULL;
}

TEST(user_stacks_that_end_early)
{
	struct profile *profile = profile_of(&all);
	const struct profile_row *stopped = row_that_ends(profile, "[no_rule]");

	assert_string_equal(text_of(profile, stopped->user), "foo::bar(int)");
	assert_int_equal(row_that_ends(profile, "[changed]")->user->depth, 0);
	assert_int_equal(row_that_ends(profile, "[unanswered]")->user->depth, 0);
	profile_free(&profile);
}

/* The leaf of the deferred stack is the innermost user frame, below a kernel stack. */
TEST(deferred_stack_with_its_leaf)
{
	struct event_filter filter = all;
	struct profile *profile;

	filter.from = filter.to = 111000000000;
	profile = profile_of(&filter);
	assert_int_equal(profile->row_count, 1);
	assert_string_equal(text_of(profile, profile->rows[0]->kernel),
			    "schedule do_syscall_64 entry_SYSCALL_64");
	assert_string_equal(text_of(profile, profile->rows[0]->user),
			    "foo::bar(int) foo::bar(int) main");
	profile_free(&profile);
}

static u64 sum_of(const struct profile *profile)
{
	u64 sum = 0;

	for (u32 i = 0; i < profile->row_count; i++)
		sum += profile->rows[i]->count;
	return sum;
}

TEST(rows_are_split)
{
	struct profile *profile;

	assert_int_equal(profile_create_split(reader, &all, &(struct frame_naming){},
					      EVENTS_BY_PID | EVENTS_BY_TID | EVENTS_BY_CPU, NULL,
					      &profile, NULL),
			 0);
	assert_int_equal(sum_of(profile), SMALL_EVENTS);
	assert_int_equal(row_of(profile, 0, "dd")->cpu, 1);
	assert_int_equal(row_of(profile, 0, "dd;\033[31m")->tid, 201);
	assert_int_equal(row_of(profile, 0, "dd;\033[31m")->pid, 200);
	assert_int_equal(row_of(profile, 1, "")->tid, 999);
	assert_int_equal(row_of(profile, 1, "")->pid, 0);
	profile_free(&profile);
}

TEST(objects_of_labels)
{
	struct profile *profile = profile_of(&all);
	const struct profile_row *row = row_of(profile, 1, "dd");

	assert_string_equal(frame_names_label_object(profile->names, row->kernel->labels[0]),
			    "[ext4]");
	assert_string_equal(frame_names_label_object(profile->names, row->kernel->labels[1]),
			    "[kernel.kallsyms]");
	assert_string_equal(frame_names_label_object(profile->names, row->user->labels[1]),
			    "/usr/lib/libc.so.6");
	assert_string_equal(frame_names_label_object(profile->names, row->user->labels[2]),
			    "[anon]");
	profile_free(&profile);
}

TEST(names_as_in_the_symbol_table)
{
	struct profile *profile;

	assert_int_equal(profile_create(reader, &all, &(struct frame_naming){.mangled = true},
					&profile, NULL),
			 0);
	assert_string_equal(text_of(profile, profile->rows[0]->user), "_ZN3foo3barEi main");
	profile_free(&profile);
}

static u64 count_with(struct event_filter filter)
{
	struct profile *profile = profile_of(&filter);
	u64 count = profile->count;

	profile_free(&profile);
	return count;
}

/* The number of events that pass a filter whose member has these items. */
#define STRINGS(...)                                                                               \
	{                                                                                          \
		.items = (const char *[]){__VA_ARGS__},                                            \
		.count = sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)                    \
	}
#define NUMBERS(...)                                                                               \
	{                                                                                          \
		.ranges = (struct number_range[]){__VA_ARGS__},                                    \
		.count =                                                                           \
			sizeof((struct number_range[]){__VA_ARGS__}) / sizeof(struct number_range) \
	}
#define COUNT_WITH(...) count_with((struct event_filter){__VA_ARGS__})

TEST(filters)
{
	assert_int_equal(COUNT_WITH(), SMALL_EVENTS);
	assert_int_equal(COUNT_WITH(.pids = NUMBERS({200, 200})), 5);
	assert_int_equal(COUNT_WITH(.pids = NUMBERS({200, 200}), .tids = NUMBERS({201, 201})), 1);
	assert_int_equal(COUNT_WITH(.cpus = NUMBERS({1, 1})), 4);
	assert_int_equal(COUNT_WITH(.cpus = NUMBERS({1, 1}), .events = STRINGS("sched:*")), 1);
	assert_int_equal(COUNT_WITH(.comms = STRINGS("s?")), 7);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("/user.slice/")), 7);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("/sys/fs/cgroup/user.slice")), 7);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("/sys/fs/cgroup/unified/user.slice")), 7);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("/user.slice/sh.scope")), 5);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("/")), 11);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("/sys/fs/cgroup")), 11);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("/user")), 0);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("[cgroup 4711]")), 1);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("[unknown]")), 1);
	assert_int_equal(COUNT_WITH(.from = 102000000000, .to = 105000000000), 4);
}

TEST(any_item_of_a_list_selects_an_event)
{
	assert_int_equal(COUNT_WITH(.comms = STRINGS("none", "s?", "dd")), 7 + 4);
	assert_int_equal(COUNT_WITH(.events = STRINGS("cpu-clock", "sched:*")), SMALL_EVENTS);
	assert_int_equal(COUNT_WITH(.pids = NUMBERS({100, 100}, {200, 200})), 7 + 5);
	assert_int_equal(COUNT_WITH(.tids = NUMBERS({1, 1}, {200, 201})), 5);
	assert_int_equal(COUNT_WITH(.cpus = NUMBERS({0, 0}, {1, 1})), SMALL_EVENTS);
	assert_int_equal(COUNT_WITH(.cgroups = STRINGS("/user.slice", "[cgroup 4711]")), 7 + 1);
}

TEST(event_must_exist)
{
	struct event_filter filter = all;
	struct stackmap_error error;

	assert_int_equal(event_filter_check(&filter, reader, &error), 0);
	filter.events = (struct string_list)STRINGS("cpu-*", "sched:*");
	assert_int_equal(event_filter_check(&filter, reader, &error), 0);
	filter.events = (struct string_list)STRINGS("sched:*", "cpu-clok");
	assert_int_equal(event_filter_check(&filter, reader, &error), -ENOENT);
	assert_non_null(strstr(error.message, "cpu-clock"));
}

TEST(no_cgroups)
{
	const struct trace_info info = {.cpus = 1};
	struct event_filter filter = all;
	struct memory_recording recording;
	struct trace_reader *empty;
	struct stackmap_error error;

	assert_int_equal(memory_recording_begin(&recording, "empty", &info, NULL), 0);
	assert_int_equal(memory_recording_end(&recording, &empty, NULL), 0);
	assert_int_equal(event_filter_check(&filter, empty, &error), 0);
	filter.cgroups = (struct string_list)STRINGS("/user.slice");
	assert_int_equal(event_filter_check(&filter, empty, &error), -ENOENT);
	assert_non_null(strstr(error.message, "/user.slice"));
	assert_int_equal(event_filter_check(&filter, reader, &error), 0);
	trace_reader_close(&empty);
}

static void check_node(const struct calltree_node *node)
{
	u64 sum = node->self;

	for (const struct calltree_node *child = node->first_child; child; child = child->next) {
		assert_true(!child->next || child->count >= child->next->count);
		check_node(child);
		sum += child->count;
	}
	assert_int_equal(node->count, sum);
}

TEST(calltree_sums_up)
{
	struct profile *profile = profile_of(&all);
	struct calltree_node *root;

	for (u32 kind = 0; kind < 2; kind++) {
		assert_int_equal(
			calltree_create(profile, &(struct calltree_options){.kind = kind}, &root),
			0);
		assert_int_equal(root->count, kind ? 8 : 5);
		check_node(root);
		calltree_free(&root);
		assert_null(root);
	}
	profile_free(&profile);
}

TEST(calltree_shares_callers)
{
	struct profile *profile = profile_of(&all);
	const struct calltree_node *node;
	struct calltree_node *root;

	assert_int_equal(calltree_create(profile, &(struct calltree_options){}, &root), 0);
	node = root->first_child;
	assert_string_equal(node->name, "main");
	assert_int_equal(node->count, 4);
	node = node->first_child;
	assert_string_equal(node->name, "foo::bar(int)");
	assert_string_equal(node->first_child->name, "entry_SYSCALL_64");
	assert_int_equal(node->first_child->count, 3);
	assert_string_equal(node->first_child->next->name, "foo::bar(int)");
	assert_int_equal(node->first_child->next->self, 1);
	calltree_free(&root);
	profile_free(&profile);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	if (small_recording_write(path))
		return -1;
	return trace_reader_open(path, &reader, NULL);
}

static int teardown(void **state)
{
	(void)state;
	trace_reader_close(&reader);
	return unlink(path);
}

TEST_GROUP(setup, teardown)
