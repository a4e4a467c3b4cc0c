/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Captures by the public functions, of children whose calls are counted, to a file and live. */
#include "stackmap/capture.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"

#define CALLS 1000
#define WINDOWS 3
#define MINUTES 600000 /* ms; longer than the test may take */

static const char *const events[] = {"u:/proc/self/exe:counted_call", NULL};
static char path[] = "/tmp/stackmap-recorder-XXXXXX";
static struct stackmap_capture *capture;

/* noipa keeps all calls in the program. */
__attribute__((noipa)) void counted_call(void);
__attribute__((noipa)) void counted_call(void)
{
}

static void call(int calls)
{
	while (calls--)
		counted_call();
}

static void call_in_child(int calls)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		call(calls);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void open_with(struct stackmap_capture_opts opts)
{
	struct stackmap_error error;
	int result;

	opts.size = sizeof(opts);
	opts.events = events;
	opts.bits = 10;
	result = stackmap_capture_open(&opts, &capture, &error);
	if (!result)
		return;
	printf("%s\n", error.message);
	assert_true(result == -EPERM || result == -ENOSYS || result == -EOPNOTSUPP);
	skip();
}

/* Opens a capture to a file; `file` NULL: a live one. */
static void open_capture(const char *file)
{
	open_with((struct stackmap_capture_opts){.path = file});
}

static void start(const char *file)
{
	open_capture(file);
	assert_int_equal(stackmap_capture_start(capture, NULL), 0);
}

static int make_file(void **state)
{
	(void)state;
	close(mkstemp(path));
	return 0;
}

static int remove_files(void **state)
{
	char old[sizeof(path) + 4];

	(void)state;
	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
	return unlink(path);
}

static int close_capture(void **state)
{
	(void)state;
	stackmap_capture_close(&capture);
	assert_null(capture);
	return 0;
}

struct tally {
	struct stackmap_recording *recording;
	uint64_t events;
};

static int tally_event(void *arg, const struct stackmap_event *event)
{
	struct tally *tally = arg;
	const struct stackmap_frame *frame;

	assert_int_equal(stackmap_recording_event_frames(tally->recording, event, &frame, 1), 1);
	assert_string_equal(frame->label, "counted_call");
	tally->events++;
	return 0;
}

static uint64_t count_events(struct stackmap_recording *recording)
{
	struct tally tally = {.recording = recording};

	assert_int_equal(stackmap_recording_events(recording, tally_event, &tally, NULL), 0);
	return tally.events;
}

static uint64_t count_lost(const struct stackmap_ledger *ledger)
{
	uint64_t lost = 0;

	for (const struct stackmap_count *cause = ledger->lost; cause->name; cause++)
		lost += cause->count;
	assert_int_equal(ledger->produced, ledger->recorded + lost);
	return lost;
}

TEST(calls_out_of_order_are_refused, NULL, close_capture)
{
	struct stackmap_recording *recording;

	open_capture(path);
	assert_int_equal(stackmap_capture_poll(capture, 0, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_stop(capture, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_start(capture, NULL), 0);
	assert_int_equal(stackmap_capture_start(capture, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_next(capture, 0, &recording, NULL), -EINVAL);
	assert_null(stackmap_capture_ledger(capture));
	assert_int_equal(stackmap_capture_stop(capture, NULL), 0);
	assert_int_equal(stackmap_capture_stop(capture, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_poll(capture, 0, NULL), -EINVAL);
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

TEST(the_programs_print_function_of_libbpf_stays, NULL, close_capture)
{
	libbpf_print_fn_t printed = libbpf_set_print(print_nothing);

	start(path);
	assert_ptr_equal(libbpf_set_print(printed), print_nothing);
}

TEST(live_is_not_polled, NULL, close_capture)
{
	struct stackmap_recording *recording;

	open_capture(NULL);
	assert_int_equal(stackmap_capture_next(capture, 0, &recording, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_start(capture, NULL), 0);
	assert_int_equal(stackmap_capture_poll(capture, 0, NULL), -EINVAL);
}

/* Calls of the program itself are left out. */
TEST(a_file_has_all_events, NULL, close_capture)
{
	struct stackmap_recording *recording;
	const struct stackmap_ledger *ledger;

	start(path);
	call(CALLS);
	call_in_child(CALLS);
	assert_int_equal(stackmap_capture_poll(capture, 0, NULL), 0);
	call_in_child(CALLS);
	assert_int_equal(stackmap_capture_stop(capture, NULL), 0);
	ledger = stackmap_capture_ledger(capture);
	assert_int_equal(ledger->recorded + count_lost(ledger), 2 * CALLS);
	assert_int_equal(stackmap_recording_open(path, &recording, NULL), 0);
	assert_null(stackmap_recording_damage(recording));
	assert_int_equal(count_events(recording), ledger->recorded);
	assert_int_equal(stackmap_recording_ledger(recording)->produced, 2 * CALLS);
	stackmap_recording_close(&recording);
}

TEST(windows_have_each_event_once, NULL, close_capture)
{
	struct stackmap_recording *recording;
	uint64_t seen = 0;
	int result = 0;

	start(NULL);
	for (int windows = 1; !result; windows++) {
		call_in_child(windows <= WINDOWS ? CALLS : 0);
		if (windows == WINDOWS)
			assert_int_equal(stackmap_capture_stop(capture, NULL), 0);
		result = stackmap_capture_next(capture, 0, &recording, NULL);
		if (result)
			break;
		seen += count_events(recording);
		stackmap_recording_close(&recording);
		assert_int_equal(stackmap_capture_ledger(capture)->recorded, seen);
	}
	assert_int_equal(result, -ENODATA);
	seen += count_lost(stackmap_capture_ledger(capture));
	assert_int_equal(seen, WINDOWS * CALLS);
}

TEST(a_window_outlives_its_capture, NULL, close_capture)
{
	struct stackmap_recording *recording;

	start(NULL);
	call_in_child(1);
	assert_int_equal(stackmap_capture_next(capture, 0, &recording, NULL), 0);
	stackmap_capture_close(&capture);
	assert_int_equal(count_events(recording), 1);
	assert_string_equal(stackmap_recording_source(recording, 0)->unit, "");
	stackmap_recording_close(&recording);
}

TEST(a_file_that_was_not_stopped_has_its_events, NULL, close_capture)
{
	struct stackmap_recording *recording;

	start(path);
	call_in_child(1);
	assert_int_equal(stackmap_capture_poll(capture, 0, NULL), 0);
	stackmap_capture_close(&capture);
	assert_int_equal(stackmap_recording_open(path, &recording, NULL), 0);
	assert_null(stackmap_recording_ledger(recording));
	assert_non_null(stackmap_recording_damage(recording));
	assert_int_equal(stackmap_recording_source_count(recording), 1);
	assert_int_equal(stackmap_recording_stack_count(recording) > 0, 1);
	stackmap_recording_close(&recording);
}

/* Counts the events of a recording, and closes it. */
static uint64_t count_in(const char *file)
{
	struct stackmap_recording *recording;
	uint64_t events;

	assert_int_equal(stackmap_recording_open(file, &recording, NULL), 0);
	events = count_events(recording);
	assert_null(stackmap_recording_damage(recording));
	stackmap_recording_close(&recording);
	unlink(file);
	return events;
}

TEST(a_flight_recorder_writes_its_last_events, NULL, close_capture)
{
	char moment[sizeof(path) + 2];

	snprintf(moment, sizeof(moment), "%s.1", path);
	open_with((struct stackmap_capture_opts){.path = path, .flight_bytes = 1 << 20});
	assert_int_equal(stackmap_capture_snapshot(capture, moment, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_start(capture, NULL), 0);
	call_in_child(CALLS);
	assert_int_equal(stackmap_capture_poll(capture, 0, NULL), 0);
	assert_int_equal(stackmap_capture_snapshot(capture, moment, NULL), 0);
	assert_int_equal(count_in(moment), CALLS);
	call_in_child(CALLS);
	assert_int_equal(stackmap_capture_stop(capture, NULL), 0);
	assert_int_equal(count_in(path), 2 * CALLS);
	assert_int_equal(stackmap_capture_snapshot(capture, moment, NULL), -EINVAL);
}

TEST(files_of_a_rotation_have_each_event_once, NULL, close_capture)
{
	char file[sizeof(path) + 8];
	uint64_t calls = 0, seen = 0;

	open_with((struct stackmap_capture_opts){.path = path, .rotate = "4K"});
	assert_int_equal(stackmap_capture_start(capture, NULL), 0);
	snprintf(file, sizeof(file), "%s.0002", path);
	for (; access(file, F_OK); calls += CALLS) {
		call_in_child(CALLS);
		assert_int_equal(stackmap_capture_poll(capture, 0, NULL), 0);
	}
	assert_int_equal(stackmap_capture_stop(capture, NULL), 0);
	for (int number = 1;
	     snprintf(file, sizeof(file), "%s.%04d", path, number) && !access(file, F_OK); number++)
		seen += count_in(file);
	assert_int_equal(seen + count_lost(stackmap_capture_ledger(capture)), calls);
}

TEST(flight_and_rotation_need_a_path)
{
	const struct stackmap_capture_opts flight = {.size = sizeof(flight),
						     .flight_bytes = 1 << 20};
	const struct stackmap_capture_opts rotation = {.size = sizeof(rotation), .rotate = "1s"};

	assert_int_equal(stackmap_capture_open(&flight, &capture, NULL), -EINVAL);
	assert_int_equal(stackmap_capture_open(&rotation, &capture, NULL), -EINVAL);
}

TEST(events_of_an_instance_cannot_be_chosen)
{
	const struct stackmap_capture_opts opts = {
		.size = sizeof(opts), .instance = "none", .frequency = 99};
	struct stackmap_error error;

	assert_int_equal(stackmap_capture_open(&opts, &capture, &error), -EINVAL);
	assert_non_null(strstr(error.message, "it records already"));
}

TEST(a_capture_is_over_when_its_processes_have_ended, NULL, close_capture)
{
	int go[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(go), 0);
	child = fork();
	if (!child) {
		close(go[1]);
		_exit(read(go[0], &byte, 1));
	}
	open_with((struct stackmap_capture_opts){.pids = (const int32_t[]){child, 0}});
	assert_int_equal(stackmap_capture_start(capture, NULL), 0);
	assert_int_equal(stackmap_capture_is_over(capture), 0);
	close(go[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_not_equal(stackmap_capture_is_over(capture), 0);
}

static void ignore(int signal)
{
	(void)signal;
}

/* If the signal does not end the wait, the test runs into its time limit. */
TEST(a_caught_signal_ends_a_wait, NULL, close_capture)
{
	pid_t child, parent = getpid();

	signal(SIGUSR1, ignore);
	start(path);
	child = fork();
	if (!child)
		while (!kill(parent, SIGUSR1))
			usleep(10000);
	assert_int_equal(stackmap_capture_poll(capture, MINUTES, NULL), 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST_GROUP(make_file, remove_files)
