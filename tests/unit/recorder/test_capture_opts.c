/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of programs that were compiled with an older or a newer header, and the session options
 * that they give. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "recorder/capture_opts.h"
#include "unit_test.h"

struct later_opts {
	struct stackmap_capture_opts known;
	uint64_t later;
};

TEST(members_that_an_older_program_lacks_are_zero)
{
	struct stackmap_capture_opts given = {.size = offsetof(struct stackmap_capture_opts, pids),
					      .frequency = 97,
					      .pids = (const int32_t *)state,
					      .no_user_stacks = 1};
	struct stackmap_capture_opts opts;

	assert_int_equal(capture_opts_read(&given, &opts, NULL), 0);
	assert_int_equal(opts.frequency, 97);
	assert_null(opts.pids);
	assert_int_equal(opts.no_user_stacks, 0);
}

TEST(options_of_a_newer_program_are_refused)
{
	struct later_opts given = {.known.size = sizeof(given), .later = 1ULL << 63};
	struct stackmap_capture_opts opts;

	assert_int_equal(capture_opts_read(&given.known, &opts, NULL), -E2BIG);
	given.later = 0;
	assert_int_equal(capture_opts_read(&given.known, &opts, NULL), 0);
}

TEST(options_without_a_size_are_refused)
{
	struct stackmap_capture_opts given = {.size = 0}, opts;
	struct stackmap_capture *capture = NULL;
	struct stackmap_error error;

	assert_int_equal(capture_opts_read(&given, &opts, NULL), -EINVAL);
	given.size = SIZE_MAX;
	assert_int_equal(capture_opts_read(&given, &opts, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_open(&given, &capture, &error), -EINVAL);
	assert_non_null(strstr(error.message, "size"));
}

static int choose(const struct stackmap_capture_opts *opts, struct stackmap_error *error)
{
	struct capture_request request = {};
	struct session_target target = {};
	int result = capture_request_make(opts, &request, error)
			     ?: session_target_choose(&request.options, &target, error);

	session_target_clear(&target);
	capture_request_clear(&request);
	return result;
}

TEST(null_options_are_refused)
{
	const struct stackmap_capture_opts no_list = {.cpus = "first"}, no_cpu = {.cpus = "0,1023"};
	const struct stackmap_capture_opts no_events = {.events = (const char *const[]){NULL}};
	const struct stackmap_capture_opts no_event = {
		.events = (const char *const[]){"cpu-clock", "never", NULL}};
	struct stackmap_error error;

	assert_int_equal(choose(&no_list, &error), -EINVAL);
	assert_int_equal(choose(&no_cpu, &error), -ERANGE);
	assert_non_null(strstr(error.message, "0,1023: the CPUs of this machine are"));
	assert_int_equal(choose(&no_events, &error), -EINVAL);
	assert_int_equal(choose(&no_event, &error), -ENOENT);
}

/* Fails the test if the options are refused. */
static void choose_valid_options(const struct stackmap_capture_opts *opts,
				 struct capture_request *request, struct session_target *target)
{
	assert_int_equal(capture_request_make(opts, request, NULL), 0);
	assert_int_equal(session_target_choose(&request->options, target, NULL), 0);
}

TEST(options_are_those_of_a_capture)
{
	const struct stackmap_capture_opts opts = {
		.events = (const char *const[]){"cpu-clock", "page-faults", NULL},
		.frequency = 97,
		.pids = (const int32_t[]){1, getpid(), 0},
		.comm = "sh",
		.cpus = "0",
		.bits = 12,
		.no_kernel_stacks = 1};
	struct capture_request request = {};
	struct session_target target = {};

	choose_valid_options(&opts, &request, &target);
	assert_int_equal(target.sources.count, 2);
	assert_int_equal(target.sources.sources[0].frequency, 97);
	assert_int_equal(target.pids.count, 2);
	assert_int_equal(target.pids.ranges[1].first, getpid());
	assert_true(target.capture.by_task);
	assert_int_equal(target.capture.comms.count, 1);
	assert_string_equal(target.capture.comms.items[0], "sh");
	assert_int_equal(target.capture.cpu_mask[0], 1);
	assert_int_equal(target.capture.bits, 12);
	assert_true(target.capture.no_kernel_stacks);
	assert_false(target.capture.no_user_stacks);
	session_target_clear(&target);
	capture_request_clear(&request);
}

TEST(samples_of_all_by_default)
{
	const struct stackmap_capture_opts opts = {.size = sizeof(opts)};
	struct capture_request request = {};
	struct session_target target = {};

	choose_valid_options(&opts, &request, &target);
	assert_int_equal(target.sources.count, 1);
	assert_int_equal(target.sources.sources[0].frequency, source_rate_default());
	assert_false(target.capture.by_task);
	assert_null(target.capture.cpu_mask);
	assert_int_equal(target.capture.comms.count, 0);
	session_target_clear(&target);
	capture_request_clear(&request);
}

TEST(a_frequency_without_samples_is_no_error)
{
	const struct stackmap_capture_opts opts = {
		.events = (const char *const[]){"syscalls:sys_enter_getppid", NULL},
		.frequency = 97};

	assert_int_equal(choose(&opts, NULL), 0);
}
