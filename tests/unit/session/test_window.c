/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance, and a child whose calls are counted. A snapshot leaves the events in place: the next
 * one has them again.
 */
#include "session/window.h"

#include "capture/drain/pace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "interrupt.h"
#include "symbol/symbolizer/symbolizers.h"
#include "unit_test.h"

#define CALLS 1000
#define WINDOWS 3
#define BITS 10

__attribute__((noinline)) void counted_call(void);

static struct source_list sources;
static struct capture *capture;

/* noipa keeps all calls in the program. */
__attribute__((noipa)) void counted_call(void)
{
}

static pid_t begin_calls(int calls)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	while (calls--)
		counted_call();
	_exit(0);
}

static void call_in_child(int calls)
{
	int status;
	pid_t child = begin_calls(calls);

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void attach_with(struct capture_options options)
{
	struct stackmap_error error;
	int result = source_list_add(&sources, "u:/proc/self/exe:counted_call", 0, &error);

	options.sources = &sources;
	options.bits = BITS;
	result = result ?: capture_create(&options, &capture, &error);
	result = result ?: capture_attach(capture, &error);
	if (!result)
		return;
	printf("%s\n", error.message);
	assert_true(result == -EPERM || result == -ENOSYS || result == -EOPNOTSUPP);
	skip();
}

static void attach(u64 flight_bytes)
{
	attach_with((struct capture_options){.flight_bytes = flight_bytes});
}

static int detach(void **state)
{
	(void)state;
	capture_free(&capture);
	source_list_clear(&sources);
	return 0;
}

struct tally {
	const struct trace_symbol *function;
	struct trace_reader *reader;
	u64 events;
};

static int tally_event(void *arg, const struct trace_event *event)
{
	struct tally *tally = arg;
	const struct trace_stack *stacks;
	const struct trace_symbol *symbol;

	assert_in_range(event->user, 0, trace_reader_stacks(tally->reader, &stacks) - 1);
	symbol = trace_reader_symbol(tally->reader, stacks[event->user].frames[0], false);
	assert_non_null(symbol);
	assert_string_equal(symbol->name, "counted_call");
	tally->events++;
	return 0;
}

static void assert_balanced(const struct trace_ledger *ledger)
{
	u64 lost = 0;

	assert_non_null(ledger);
	for (int cause = 0; cause < LOST_COUNT; cause++)
		lost += ledger->lost[cause];
	assert_int_equal(ledger->produced, ledger->recorded + lost);
}

/* Counts the events with complete stacks and names. Closes the reader. */
static u64 count_events(struct trace_reader *reader, struct trace_ledger *ledger)
{
	struct stackmap_error error;
	struct tally tally = {.reader = reader};

	assert_null(trace_reader_damage(reader));
	assert_string_equal(trace_reader_info(reader)->version, "this test");
	assert_int_equal(trace_reader_events(reader, tally_event, &tally, &error), 0);
	assert_balanced(trace_reader_ledger(reader));
	assert_int_equal(trace_reader_ledger(reader)->recorded, tally.events);
	*ledger = *trace_reader_ledger(reader);
	trace_reader_close(&reader);
	return tally.events;
}

static const struct trace_info info = {.cpus = 1, .version = "this test"};

static u64 take_snapshot_and_count_events(u64 *produced)
{
	struct trace_reader *reader;
	struct stackmap_error error;
	struct trace_ledger ledger;
	u64 events;

	assert_int_equal(window_snapshot(capture, &info, "live", &reader, &error), 0);
	events = count_events(reader, &ledger);
	*produced = ledger.produced;
	return events;
}

static void take_snapshots_during_events(void)
{
	u64 produced;

	assert_int_equal(take_snapshot_and_count_events(&produced), 0);
	call_in_child(CALLS);
	assert_int_equal(take_snapshot_and_count_events(&produced), CALLS);
	call_in_child(CALLS);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(take_snapshot_and_count_events(&produced), 2 * CALLS);
		assert_int_equal(produced, 2 * CALLS);
	}
}

TEST(a_snapshot_leaves_events_in_a_flight_instance, NULL, detach)
{
	attach(8 << 20);
	take_snapshots_during_events();
}

TEST(a_snapshot_leaves_events_in_a_drain_instance, NULL, detach)
{
	attach(0);
	take_snapshots_during_events();
}

TEST(drained_events_are_not_in_a_snapshot, NULL, detach)
{
	struct trace_writer *writer;
	struct stackmap_error error;
	u64 produced;

	attach(0);
	call_in_child(CALLS);
	assert_int_equal(trace_writer_create("/dev/null", &info, &writer, &error), 0);
	assert_int_equal(capture_begin(capture, writer, &error), 0);
	assert_int_equal(capture_drain(capture, NULL), 0);
	trace_writer_discard(&writer);
	call_in_child(2 * CALLS);
	assert_int_equal(take_snapshot_and_count_events(&produced), 2 * CALLS);
}

static u64 take_window(u64 *lost)
{
	struct window window;
	struct trace_reader *reader;
	struct stackmap_error error;
	struct trace_ledger ledger;
	u64 seen, events;

	assert_int_equal(window_open(&window, capture, &info, "live", &error), 0);
	assert_int_equal(capture_drain(capture, NULL), 0);
	seen = capture_events(capture);
	assert_int_equal(window_close_and_open_reader(&window, 0, &reader, &error), 0);
	events = count_events(reader, &ledger);
	assert_true(events >= seen);
	*lost += ledger.produced - events;
	return events;
}

/* Returns the pace after the first visit that saw events. The window goes on until the pace is
 * `limit` ms. */
static int pace_after_calls(int limit)
{
	struct window window;
	struct trace_reader *reader;
	struct stackmap_error error;
	int ms = 0, first;

	assert_int_equal(window_open(&window, capture, &info, "live", &error), 0);
	call_in_child(CALLS);
	while (!capture_events(capture))
		assert_int_equal(capture_drain(capture, &ms), 0);
	first = ms;
	while (ms < limit) {
		poll(NULL, 0, ms);
		assert_int_equal(capture_drain(capture, &ms), 0);
	}
	assert_int_equal(window_close_and_open_reader(&window, 0, &reader, &error), 0);
	trace_reader_close(&reader);
	return first;
}

/* In the first window the child's code is new, so visits are frequent until no new code has come
 * for a while. In the next window the mappings are written again, but none is new. */
TEST(known_code_is_not_watched_for, NULL, detach)
{
	attach(0);
	assert_in_range(pace_after_calls(PACE_MS_MAX), PACE_MS_MIN, PACE_MS_WATCH);
	assert_int_equal(pace_after_calls(0), PACE_MS_MAX);
}

/* Memory shared by parent and child. */
struct calling {
	atomic_bool is_enough;
	u64 calls;
};

static pid_t begin_calling(struct calling *calling)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	for (; !calling->is_enough; calling->calls++)
		counted_call();
	_exit(0);
}

TEST(windows_have_each_event_once, NULL, detach)
{
	struct calling *calling = mmap(NULL, sizeof(*calling), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	u64 events = 0, lost = 0;
	u32 windows = 0;
	pid_t child;

	assert_true(calling != MAP_FAILED);
	attach(0);
	child = begin_calling(calling);
	while (windows < WINDOWS) {
		u64 more = take_window(&lost);

		windows += more != 0;
		events += more;
	}
	calling->is_enough = true;
	assert_int_equal(waitpid(child, NULL, 0), child);
	events += take_window(&lost);
	assert_int_equal(events + lost, calling->calls);
	assert_int_equal(take_window(&lost), 0);
	munmap(calling, sizeof(*calling));
}

static void stop_symbolizers(void)
{
	u32 pids[SYMBOLIZER_PROCESSES_MAX];
	u32 count = symbolizers_processes(capture_symbolizers(capture), pids);

	while (count--)
		assert_int_equal(kill(pids[count], SIGSTOP), 0);
}

/* The time in ms that the end of a window with new code takes. */
static u64 end_window(void)
{
	struct window window;
	struct trace_reader *reader;
	struct stackmap_error error;
	u64 began;

	assert_int_equal(window_open(&window, capture, &info, "live", &error), 0);
	call_in_child(CALLS);
	assert_int_equal(capture_drain(capture, NULL), 0);
	stop_symbolizers();
	began = clock_ms();
	assert_int_equal(window_close_and_open_reader(&window, 0, &reader, &error), 0);
	trace_reader_close(&reader);
	return clock_ms() - began;
}

/* The last test: a request to end is never taken back. The symbolizers do not answer, and both
 * windows at the end share one limit of the wait for names. */
TEST(windows_at_the_end_share_the_wait_for_names, NULL, detach)
{
	u64 first;

	attach_with((struct capture_options){.no_kernel_stacks = true});
	interrupt_request_end();
	first = end_window();
	assert_true(2 * end_window() < first);
}
