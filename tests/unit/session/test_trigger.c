/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Triggers of running programs: the watch of a process, and the stop in the kernel. A child makes a
 * known number of system calls, each of which is a trigger. */
#include "session/trigger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/drain/file_ledger.h"
#include "capture/instance/self_stop.h"
#include "unit_test.h"

#define CALLS 100
#define NAME "trigger-test"
#define SOURCE "syscalls:sys_enter_getppid"
#define HOUR_NS (3600 * 1000000000ULL)

static struct source_list sources;
static struct capture *capture;
static struct trigger_watch watch;

static void begin(enum trigger trigger, u64 flight_bytes, u64 delay_ns)
{
	struct capture_options options = {.sources = &sources,
					  .bits = 10,
					  .flight_bytes = flight_bytes,
					  .comms = {.items = (const char *[]){NAME}, .count = 1},
					  .no_user_stacks = true};
	struct stackmap_error error;
	int result;

	sources.triggers = 1U << trigger;
	result = source_list_add(&sources, SOURCE, 0, &error)
			 ?: capture_create(&options, &capture, &error);
	if (!result) {
		assert_int_equal(
			trigger_watch_open(&watch, capture_loaded(capture), delay_ns, NULL, &error),
			0);
		result = capture_attach(capture, &error);
	}
	if (!result)
		return;
	printf("%s\n", error.message);
	assert_true(result == -EPERM || result == -ENOSYS || result == -EOPNOTSUPP ||
		    result == -ENOENT);
	skip();
}

static int end(void **state)
{
	(void)state;
	trigger_watch_close(&watch);
	capture_free(&capture);
	source_list_clear(&sources);
	sources = (struct source_list){};
	return 0;
}

static void call_in_child(void)
{
	pid_t child = fork();
	int status, calls = CALLS;

	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_NAME, NAME);
		while (calls--)
			syscall(SYS_getppid);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static u64 count_produced_events(void)
{
	struct trace_ledger totals;

	sum_ledger_of_instance(capture_loaded(capture), &totals);
	return totals.produced;
}

#define LOOKS 1000 /* one of them would read the clocks at another distance */

TEST(a_flight_recorder_ends_with_the_first_trigger, NULL, end)
{
	struct self_stop stop, again;

	begin(TRIGGER_STOP, 1 << 20, 0);
	trigger_watch_poll_events(&watch);
	assert_false(trigger_is_due(&watch, TRIGGER_STOP));
	self_stop_read(capture_loaded(capture), &stop);
	assert_false(stop.time || stop.is_over);
	call_in_child();
	trigger_watch_poll_events(&watch);
	assert_true(trigger_is_due(&watch, TRIGGER_STOP));
	assert_int_equal(count_produced_events(), 1);
	self_stop_read(capture_loaded(capture), &stop);
	assert_true(stop.is_over);
	assert_string_equal(stop.name, SOURCE);
	for (u32 i = 0; i < LOOKS; i++) {
		self_stop_read(capture_loaded(capture), &again);
		assert_true(again.realtime == stop.realtime);
	}
	self_stop_rearm(capture_loaded(capture));
	call_in_child();
	assert_int_equal(count_produced_events(), 2);
	self_stop_read(capture_loaded(capture), &again);
	assert_true(again.realtime > stop.realtime);
}

TEST(a_delay_may_be_zero)
{
	static const char *const zeros[] = {NULL, "0", "0s", "0ms"};
	static const char *const wrong[] = {"", "0x", "5", "-1s"};
	struct stackmap_error error;
	u64 ns = 0;

	for (u32 i = 0; i < sizeof(zeros) / sizeof(*zeros); i++) {
		ns = 1;
		assert_int_equal(trigger_parse_delay(zeros[i], &ns, &error), 0);
		assert_int_equal(ns, 0);
	}
	assert_int_equal(trigger_parse_delay("5s", &ns, &error), 0);
	assert_int_equal(ns, 5000000000ULL);
	for (u32 i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(trigger_parse_delay(wrong[i], &ns, &error), -EINVAL);
}

TEST(events_of_the_delay_are_recorded, NULL, end)
{
	struct self_stop stop;

	begin(TRIGGER_STOP, 1 << 20, HOUR_NS);
	call_in_child();
	trigger_watch_poll_events(&watch);
	assert_false(trigger_is_due(&watch, TRIGGER_STOP));
	assert_int_equal(count_produced_events(), CALLS);
	self_stop_rearm(capture_loaded(capture));
	self_stop_read(capture_loaded(capture), &stop);
	assert_true(stop.time);
	assert_false(stop.is_over);
}

TEST(a_recording_that_is_drained_goes_on_until_its_process_ends_it, NULL, end)
{
	begin(TRIGGER_STOP, 0, 0);
	call_in_child();
	trigger_watch_poll_events(&watch);
	assert_true(trigger_is_due(&watch, TRIGGER_STOP));
	assert_int_equal(count_produced_events(), CALLS);
}

TEST(a_trigger_is_seen_while_rings_are_copied, NULL, end)
{
	begin(TRIGGER_STOP, 0, 0);
	loaded_pause(capture_loaded(capture), PAUSE_SNAPSHOT);
	call_in_child();
	trigger_watch_poll_events(&watch);
	assert_true(trigger_is_due(&watch, TRIGGER_STOP));
}

TEST(a_trigger_of_a_pause_is_none, NULL, end)
{
	begin(TRIGGER_STOP, 0, 0);
	loaded_pause(capture_loaded(capture), PAUSE_USER);
	call_in_child();
	trigger_watch_poll_events(&watch);
	assert_false(trigger_is_due(&watch, TRIGGER_STOP));
}

TEST(each_later_trigger_asks_for_another_snapshot, NULL, end)
{
	begin(TRIGGER_SNAPSHOT, 1 << 20, 0);
	for (int round = 0; round < 2; round++) {
		call_in_child();
		trigger_watch_poll_events(&watch);
		assert_true(trigger_is_due(&watch, TRIGGER_SNAPSHOT));
		assert_false(trigger_is_due(&watch, TRIGGER_STOP));
		trigger_watch_clear_due_snapshot(&watch);
		trigger_watch_poll_events(&watch);
		assert_false(trigger_is_due(&watch, TRIGGER_SNAPSHOT));
	}
	assert_int_equal(count_produced_events(), 2 * CALLS);
}

TEST(a_trigger_that_a_snapshot_has_asks_for_no_other, NULL, end)
{
	begin(TRIGGER_SNAPSHOT, 1 << 20, 0);
	call_in_child();
	trigger_watch_clear_due_snapshot(&watch);
	trigger_watch_poll_events(&watch);
	assert_false(trigger_is_due(&watch, TRIGGER_SNAPSHOT));
}

TEST(a_name_that_an_instance_does_not_record_is_refused, NULL, end)
{
	const char *names[] = {"page-faults"};
	const struct string_list list = {.items = names, .count = 1};
	const struct string_list *const wrong[TRIGGER_COUNT] = {[TRIGGER_SNAPSHOT] = &list};
	struct stackmap_error error;

	begin(TRIGGER_STOP, 0, 0);
	trigger_watch_close(&watch);
	assert_int_equal(trigger_watch_open(&watch, capture_loaded(capture), 0, wrong, &error),
			 -ENOENT);
	assert_string_equal(error.message,
			    "--snapshot-when page-faults: the instance does not record it");
}

TEST(triggers_that_wait_in_a_ring_for_the_reader_have_happened, NULL, end)
{
	const char *names[] = {SOURCE};
	const struct string_list list = {.items = names, .count = 1};
	const struct string_list *const of_instance[TRIGGER_COUNT] = {[TRIGGER_STOP] = &list};
	struct stackmap_error error;

	begin(TRIGGER_STOP, 0, 0);
	trigger_watch_close(&watch);
	call_in_child();
	assert_int_equal(
		trigger_watch_open(&watch, capture_loaded(capture), 0, of_instance, &error), 0);
	assert_true(trigger_is_due(&watch, TRIGGER_STOP));
}
