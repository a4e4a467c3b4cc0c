/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include "runtime.h"
#include "unit_test.h"

#define SECOND 1000000000ULL

/* The time for which the machine was suspended, by which the start time of a process may be wrong.
 */
static u64 suspended_time_of_machine(void)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return boot.tv_sec * SECOND + boot.tv_nsec - monotonic();
}

TEST(this_process)
{
	const struct runtime_process process = process_of(getpid());

	assert_int_equal(process.user, geteuid());
	assert_int_equal(process.inner_id, getpid());
}

TEST(another_process_with_this_id)
{
	u64 began = start_of(getpid());
	struct runtime_process before = {.tgid = getpid(), .since = began - SECOND};
	struct runtime_process after = {.tgid = getpid(), .since = began + SECOND};
	struct runtime_process none = {.since = began};

	assert_false(runtime_process_read(&after));
	assert_false(runtime_process_read(&none));
	if (suspended_time_of_machine() < SECOND)
		assert_false(runtime_process_read(&before));
}

TEST(one_in_a_namespace_of_its_own)
{
	pid_t outer = fork(), child;
	int status;

	if (!outer) {
		if (unshare(CLONE_NEWPID))
			_exit(77);
		child = fork();
		if (!child)
			pause();
		struct runtime_process process = {.tgid = child, .since = start_of(child)};
		bool ok = runtime_process_read(&process) && process.inner_id == 1;

		kill(child, SIGKILL);
		_exit(!ok);
	}
	assert_int_equal(waitpid(outer, &status, 0), outer);
	if (WEXITSTATUS(status) == 77) {
		printf("skip: this user may make no pid namespace\n");
		skip();
	}
	assert_int_equal(status, 0);
}

TEST(files_of_the_process_are_accepted)
{
	const struct runtime_process process = {
		.since = monotonic() - 100 * SECOND, .user = 1234, .inner_id = 1};
	struct timespec time;
	struct stat good = {.st_mode = S_IFREG | 0600, .st_uid = 1234}, bad;

	clock_gettime(CLOCK_REALTIME, &time);
	good.st_mtim = time;
	assert_true(can_process_have_written_file(&process, &good));
	bad = good;
	bad.st_uid = 1235;
	assert_false(can_process_have_written_file(&process, &bad));
	bad.st_uid = 0;
	assert_true(can_process_have_written_file(&process, &bad));
	bad = good;
	bad.st_mode = S_IFIFO | 0600;
	assert_false(can_process_have_written_file(&process, &bad));
	bad = good;
	bad.st_mtim.tv_sec -= 90;
	assert_true(can_process_have_written_file(&process, &bad));
	bad.st_mtim.tv_sec -= 20;
	assert_false(can_process_have_written_file(&process, &bad));
}

/* The process began 100 s ago, and the machine was suspended for 90 of these seconds. */
TEST(suspended_time_is_part_of_its_age)
{
	struct runtime_process process = {
		.since = monotonic() - 10 * SECOND, .user = 1234, .inner_id = 1};
	struct stat status = {.st_mode = S_IFREG | 0600, .st_uid = 1234};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &status.st_mtim);
	status.st_mtim.tv_sec -= 50;
	assert_false(can_process_have_written_file(&process, &status));
	clock_gettime(CLOCK_BOOTTIME, &now);
	process.began = now.tv_sec * SECOND + now.tv_nsec - 100 * SECOND;
	assert_true(can_process_have_written_file(&process, &status));
	status.st_mtim.tv_sec -= 60;
	assert_false(can_process_have_written_file(&process, &status));
}
