/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack map of an instance is reset again and again while two children make a known number of
 * system calls. The events that are read afterwards and the lost events together are all calls.
 */
#include "capture/instance/reset.h"

#include <errno.h>
#include <linux/prctl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/capture_parts.h"
#include "capture/load/skeleton.h"
#include "stack_map.h"
#include "trace/read/reader.h"
#include "unit_test.h"

#define BITS 10
#define CHILDREN 2
#define CALLS 50000 /* system calls of a busy child */
#define RESETS 100
#define WAIT_MS 5000

static char name[16]; /* the children's name, which no other task has */
static struct source_list sources;
static struct capture *capture;
static struct stackmap_error error;

static int attach(u64 flight_bytes, bool kernel_only)
{
	struct capture_options options = {
		.sources = &sources,
		.bits = BITS,
		.flight_bytes = flight_bytes,
		.ring_bytes = 16 << 20,
		.comms = {.items = (const char *[]){name}, .count = 1},
		.no_user_stacks = kernel_only,
		.user_unwind = USER_UNWIND_AUTO,
	};
	int result = source_list_add(&sources, "syscalls:sys_enter_getppid", 0, &error);

	result = result ?: capture_create(&options, &capture, &error);
	return result ?: capture_attach(capture, &error);
}

static void attach_or_skip(u64 flight_bytes, bool kernel_only)
{
	int result = attach(flight_bytes, kernel_only);

	if (!result)
		return;
	printf("%s\n", error.message);
	assert_true(result == -EPERM || result == -ENOSYS || result == -EOPNOTSUPP ||
		    result == -ENOENT);
	skip();
}

static int detach(void **state)
{
	(void)state;
	capture_free(&capture);
	source_list_clear(&sources);
	return 0;
}

__attribute__((noinline)) static void call(void)
{
	syscall(SYS_getppid);
	__asm__ volatile("");
}

/* Makes a system call; each depth gives a different stack. */
__attribute__((noinline)) static void call_below(int depth)
{
	if (depth)
		call_below(depth - 1);
	else
		call();
	__asm__ volatile("");
}

static pid_t start_child(int calls)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	prctl(PR_SET_NAME, name);
	while (calls--)
		call_below(calls % 50);
	_exit(0);
}

static void wait_for(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void call_in_child(int calls)
{
	wait_for(start_child(calls));
}

static u64 current_generation(void)
{
	return generation_of_table(generation_current_table(&capture->loaded));
}

/* The number of get_id calls on a table that is no longer in use. */
static u64 calls_of(const struct generation_table *table)
{
	struct table_stat stat;
	u64 calls;

	stack_table_stat(table->memory, &capture->loaded.plan.geometry, &stat);
	calls = stat.refs;
	for (int cause = 0; cause < TABLE_DROP_COUNT; cause++)
		calls += stat.drops[cause];
	return calls;
}

static struct generation_table *previous_table(void)
{
	struct generation_table *tables = capture->loaded.tables;

	return &tables[generation_current_table(&capture->loaded) == &tables[0]];
}

struct file {
	int memory;
	struct trace_writer *writer;
	struct trace_ledger ledger;
};

static void open_file(struct file *file)
{
	static const struct trace_info info = {.cpus = 1, .version = "this test"};

	file->memory = memfd_create("recording", MFD_CLOEXEC);
	assert_true(file->memory >= 0);
	assert_int_equal(
		trace_writer_create_fd(dup(file->memory), "memory", &info, &file->writer, &error),
		0);
	assert_int_equal(capture_begin(capture, file->writer, &error), 0);
}

static u64 sum_losses_of_ledger(const struct trace_ledger *ledger)
{
	u64 lost = 0;

	for (int cause = 0; cause < LOST_COUNT; cause++)
		lost += ledger->lost[cause];
	return lost;
}

struct tally {
	u64 events;
	u64 waiting;
};

static int tally_event(void *arg, const struct trace_event *event)
{
	struct tally *tally = arg;

	tally->events++;
	assert_int_not_equal(event->kernel, TRACE_NO_STACK);
	if (event->user != TRACE_NO_STACK || event->user_reason == REASON_NOT_ASKED)
		return 0;
	assert_int_equal(event->user_reason, REASON_UNANSWERED);
	tally->waiting++;
	return 0;
}

/* Every event in the file has both stacks, except events of tasks that are still in the system
 * call. */
static void close_file(struct file *file, u64 waiting_max)
{
	struct trace_reader *reader;
	struct tally tally = {};

	assert_int_equal(capture_finish(capture, &file->ledger, &error), 0);
	assert_int_equal(trace_writer_close(&file->writer), 0);
	assert_int_equal(trace_reader_open_fd(file->memory, "memory", &reader, &error), 0);
	assert_null(trace_reader_damage(reader));
	assert_int_equal(trace_reader_events(reader, tally_event, &tally, &error), 0);
	assert_int_equal(tally.events, file->ledger.recorded);
	assert_in_range(tally.waiting, 0, waiting_max);
	assert_int_equal(file->ledger.produced,
			 file->ledger.recorded + sum_losses_of_ledger(&file->ledger));
	trace_reader_close(&reader);
}

/* Writes all remaining events of a detached capture. */
static void write_rest(struct file *file)
{
	capture_detach(capture);
	if (capture->loaded.plan.config.flight) {
		open_file(file);
		assert_int_equal(capture_snapshot(capture), 0);
	} else {
		assert_int_equal(capture_drain(capture, NULL), 0);
		assert_int_equal(capture_unwind_blocked(capture), 0);
		assert_int_equal(capture_drain(capture, NULL), 0);
	}
	close_file(file, 0);
}

TEST(a_flight_ring_goes_with_the_map, NULL, detach)
{
	struct file file;
	pid_t children[CHILDREN];
	u64 asked = 0;

	attach_or_skip(4 << 20, true);
	for (int i = 0; i < CHILDREN; i++)
		children[i] = start_child(CALLS);
	for (int i = 0; i < RESETS; i++) {
		assert_int_equal(reset_without_reader(capture_loaded(capture), &error), 0);
		asked += calls_of(previous_table());
	}
	assert_int_equal(current_generation(), 1 + RESETS);
	for (int i = 0; i < CHILDREN; i++)
		wait_for(children[i]);
	write_rest(&file);
	asked += calls_of(generation_current_table(&capture->loaded));
	assert_int_equal(file.ledger.produced, CHILDREN * CALLS);
	assert_true(file.ledger.lost[LOST_RESET] > 0);
	assert_int_equal(asked, file.ledger.produced - file.ledger.lost[LOST_RING_BUSY] -
					file.ledger.lost[LOST_NESTED]);
}

/* Resets in another process, which shares only the programs' maps. */
static void reset_in_child(int resets)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return;
	while (resets && !reset_with_reader(capture_loaded(capture), WAIT_MS, &error))
		resets--;
	_exit(resets != 0);
}

TEST(a_reader_reads_all_of_it, NULL, detach)
{
	struct file file;
	int status, ended = 0;

	attach_or_skip(0, false);
	assert_int_equal(reset_make_second_table(capture_loaded(capture), &error), 0);
	open_file(&file);
	reset_in_child(RESETS);
	for (int i = 0; i < CHILDREN; i++)
		start_child(CALLS);
	while (ended < 1 + CHILDREN) {
		assert_int_equal(capture_drain(capture, NULL), 0);
		while (waitpid(-1, &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			ended++;
		}
	}
	assert_int_equal(current_generation(), 1 + RESETS);
	write_rest(&file);
	assert_int_equal(file.ledger.produced, CHILDREN * CALLS);
	assert_int_equal(file.ledger.lost[LOST_RESET], 0);
}

TEST(events_without_a_reader_are_reset_with_the_map, NULL, detach)
{
	struct file file;

	attach_or_skip(0, false);
	call_in_child(1000);
	assert_int_equal(reset_without_reader(capture_loaded(capture), &error), 0);
	call_in_child(70);
	open_file(&file);
	write_rest(&file);
	assert_int_equal(file.ledger.lost[LOST_RESET], 1000);
	assert_int_equal(file.ledger.recorded, 70);
}

TEST(a_reader_that_is_behind_is_not_passed, NULL, detach)
{
	struct file file;

	attach_or_skip(0, false);
	open_file(&file);
	call_in_child(100);
	assert_int_equal(reset_with_reader(capture_loaded(capture), 0, &error), 0);
	call_in_child(10);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(reset_with_reader(capture_loaded(capture), 0, &error), -EBUSY);
		assert_non_null(strstr(error.message, "behind"));
	}
	assert_int_equal(current_generation(), 2);
	assert_int_equal(capture_drain(capture, NULL), 0);
	assert_int_equal(reset_with_reader(capture_loaded(capture), 0, &error), 0);
	call_in_child(1);
	write_rest(&file);
	assert_int_equal(file.ledger.recorded, 111);
}

/* Executes the first `steps` steps of a reset, as if it was killed then. */
static void begin_reset(int steps)
{
	struct generation_table *current, *spare;

	assert_int_equal(reset_make_second_table(capture_loaded(capture), &error), 0);
	current = generation_current_table(&capture->loaded);
	spare = previous_table();
	if (steps > 0)
		assert_int_equal(generation_clear_previous(&capture->loaded), 0);
	if (steps > 1)
		assert_int_equal(generation_reset_table(&capture->loaded, spare,
							generation_of_table(current) + 1),
				 0);
	if (steps > 2)
		assert_int_equal(generation_set_role(&capture->loaded, TABLE_PREVIOUS, current), 0);
	if (steps > 3)
		assert_int_equal(generation_set_role(&capture->loaded, TABLE_CURRENT, spare), 0);
}

TEST(a_killed_reset_is_completed, NULL, detach)
{
	struct file file;

	attach_or_skip(0, false);
	open_file(&file);
	for (int steps = 0; steps <= 4; steps++) {
		call_in_child(10);
		begin_reset(steps);
		call_in_child(10);
		while (reset_with_reader(capture_loaded(capture), 0, &error))
			assert_int_equal(capture_drain(capture, NULL), 0);
		call_in_child(10);
		assert_int_equal(capture_drain(capture, NULL), 0);
	}
	write_rest(&file);
	assert_int_equal(file.ledger.recorded, 5 * 30);
}

TEST(a_killed_reset_without_a_reader_is_completed, NULL, detach)
{
	struct file file;

	attach_or_skip(0, false);
	for (int steps = 0; steps <= 4; steps++) {
		call_in_child(10);
		begin_reset(steps);
		call_in_child(10);
		assert_int_equal(reset_without_reader(capture_loaded(capture), &error), 0);
		call_in_child(10);
	}
	open_file(&file);
	write_rest(&file);
	assert_int_equal(file.ledger.recorded, 10);
	assert_int_equal(file.ledger.lost[LOST_RESET], 5 * 30 - 10);
}

/* System calls to make at the next read of the clock: the reader of rings reads the clock when it
 * has set the limits of a window. */
static int calls_at_the_seam;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	int calls = calls_at_the_seam;

	calls_at_the_seam = 0;
	if (calls)
		call_in_child(calls);
	return __real_clock_gettime(clock, time);
}

TEST(the_next_swap_may_come_when_a_window_has_ended, NULL, detach)
{
	struct file file;

	attach_or_skip(0, true);
	open_file(&file);
	call_in_child(10);
	for (int again = 0; again < 3; again++) {
		assert_int_equal(reset_with_reader(capture_loaded(capture), 0, &error), 0);
		calls_at_the_seam = 5;
		assert_int_equal(capture_end_window(capture), 0);
		assert_int_equal(calls_at_the_seam, 0);
	}
	write_rest(&file);
	assert_int_equal(file.ledger.recorded, 10 + 3 * 5);
}

/* Ends two windows in a row, as `record --rotate` may. */
static void check_two_windows_in_a_row(bool kernel_only)
{
	struct file files[4];
	pid_t children[CHILDREN];
	u64 recorded = 0, produced = 0;

	attach_or_skip(0, kernel_only);
	open_file(&files[0]);
	for (int i = 0; i < CHILDREN; i++)
		children[i] = start_child(CALLS);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(reset_with_reader(capture_loaded(capture), 0, &error), 0);
		assert_int_equal(capture_end_window(capture), 0);
		close_file(&files[i], CHILDREN);
		open_file(&files[i + 1]);
	}
	for (int i = 0; i < CHILDREN; i++)
		wait_for(children[i]);
	write_rest(&files[3]);
	for (int i = 0; i < 4; i++) {
		recorded += files[i].ledger.recorded;
		produced += files[i].ledger.produced;
	}
	assert_int_equal(produced, CHILDREN * CALLS);
	assert_true(recorded > 0);
}

TEST(each_event_is_in_one_window, NULL, detach)
{
	check_two_windows_in_a_row(true);
}

TEST(each_event_with_user_stacks_is_in_one_window, NULL, detach)
{
	check_two_windows_in_a_row(false);
}

int main(void)
{
	snprintf(name, sizeof(name), "reset-%d", getpid());
	return unit_tests_run();
}
