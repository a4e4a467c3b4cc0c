/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options that exclude each other, and the results of the others. */
#include "session/session_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

static const char *one_item[] = {"cpu-clock"};
static const struct string_list one = {.items = one_item, .count = 1};

static int choose(const struct session_options *options, struct stackmap_error *error)
{
	struct session_target target = {};
	int result = session_target_choose(options, &target, error);

	session_target_clear(&target);
	return result;
}

/* Asserts an error with these words. */
static void assert_refused(const struct session_options *options, const char *words)
{
	struct stackmap_error error = {};

	assert_int_equal(choose(options, &error), -EINVAL);
	if (!strstr(error.message, words))
		fail_msg("\"%s\" does not say \"%s\"", error.message, words);
}

TEST(events_of_an_instance_are_chosen_at_its_start)
{
	static const struct session_options options[] = {
		{.has_command = true}, {.events = one},	      {.frequency = 99},
		{.all = true},	       {.pids = one},	      {.comms = one},
		{.cgroup = "/"},       {.cpus = "0"},	      {.flight = 4096},
		{.ring = 4096},	       {.bits = 10},	      {.pool = 4096},
		{.no_dedup = true},    {.no_kernel = true},   {.no_user = true},
		{.max_depth = 5},      {.user_unwind = "fp"}, {.user_at_syscall = true},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		struct session_options of_instance = options[i];

		of_instance.instance = "x";
		assert_refused(&of_instance, "--instance x: it records already; ");
	}
}

TEST(an_instance_takes_options_of_files)
{
	const struct session_options options = {
		.instance = "x", .user_unwind = "auto", .output = "f", .rotate = "1s", .keep = 3};
	const struct session_options triggers = {
		.instance = "x", .stop_when = one, .snapshot_when = one, .after = "1s"};

	assert_int_equal(choose(&options, NULL), 0);
	assert_int_equal(choose(&triggers, NULL), 0);
}

TEST(options_that_exclude_each_other_are_refused)
{
	const struct {
		struct session_options options;
		const char *words;
	} cases[] = {
		{{.all = true, .pids = one}, "-a and -p"},
		{{.events = one}, "nothing to record"},
		{{.all = true, .flight = 4096, .ring = 4096}, "--flight and --ring"},
		{{.all = true, .user_at_syscall = true, .user_unwind = "fp"}, "--user-at-syscall"},
		{{.all = true, .user_at_syscall = true, .user_unwind = "none"},
		 "--user-at-syscall"},
		{{.all = true, .user_at_syscall = true, .no_user = true}, "--user-at-syscall"},
		{{.all = true, .keep = 3}, "--keep"},
		{{.all = true, .rotate = "1s", .output = "-"}, "standard output"},
		{{.all = true, .output = "f", .rotate = "1s", .flight = 4096},
		 "a flight recorder writes one file"},
		{{.all = true, .snapshot_when = one, .output = "f"}, "it goes with --flight"},
		{{.all = true, .has_files = true, .flight = 4096, .snapshot_when = one},
		 "'stackmap record --instance NAME --snapshot-when EVENT'"},
		{{.all = true, .has_files = true, .after = "1s"}, "--after: it goes with"},
		{{.all = true, .rotate = "1s"}, "--rotate: the events go to files"},
		{{.all = true, .windows = true, .flight = 4096},
		 "--flight: the events go to a file"},
		{{.all = true, .aggregate = true, .wakers = true}, "--aggregate: --wakers"},
		{{.all = true, .aggregate = true, .locks = true}, "--aggregate: --wakers"},
		{{.all = true, .has_files = true, .aggregate = true, .locks = true},
		 "--aggregate: --wakers"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_refused(&cases[i].options, cases[i].words);
}

TEST(each_choice_of_tasks_is_enough)
{
	const struct session_options options[] = {
		{.all = true}, {.comms = one},	      {.cgroup = "/"},
		{.cpus = "0"}, {.has_command = true},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		assert_int_equal(choose(&options[i], NULL), 0);
}

static enum session_tasks tasks_of(struct session_options options)
{
	struct session_target target = {};
	enum session_tasks tasks;

	assert_int_equal(session_target_choose(&options, &target, NULL), 0);
	tasks = target.tasks;
	session_target_clear(&target);
	return tasks;
}

TEST(a_command_beside_a_choice_of_tasks_sets_the_duration)
{
	char self[16];
	const char *pid = self;
	const struct string_list pids = {.items = &pid, .count = 1};

	snprintf(self, sizeof(self), "%d", getpid());
	assert_int_equal(tasks_of((struct session_options){.has_command = true}), TASKS_OF_COMMAND);
	assert_int_equal(tasks_of((struct session_options){.has_command = true, .cpus = "0"}),
			 TASKS_OF_COMMAND);
	assert_int_equal(tasks_of((struct session_options){.has_command = true, .all = true}),
			 TASKS_ALL);
	assert_int_equal(tasks_of((struct session_options){.has_command = true, .comms = one}),
			 TASKS_ALL);
	assert_int_equal(tasks_of((struct session_options){.has_command = true, .pids = pids}),
			 TASKS_OF_PIDS);
}

TEST(a_missing_process_is_refused)
{
	const char *gone[] = {"2147483647"}, *list[] = {"1-2"}, *none[] = {"0"};
	const struct session_options no_process = {.pids = {.items = gone, .count = 1}};

	assert_int_equal(choose(&no_process, NULL), -ESRCH);
	assert_refused(&(struct session_options){.pids = {.items = list, .count = 1}}, "-p 1-2");
	assert_refused(&(struct session_options){.pids = {.items = none, .count = 1}}, "-p 0");
}

TEST(a_frequency_needs_a_source_that_is_sampled)
{
	const char *word = "syscalls:sys_enter_getppid";
	struct session_options options = {
		.all = true, .frequency = 97, .events = {.items = &word, .count = 1}};

	assert_refused(&options, "-F: none of these events");
	options.lenient = true;
	assert_int_equal(choose(&options, NULL), 0);
}
