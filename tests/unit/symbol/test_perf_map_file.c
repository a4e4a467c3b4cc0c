/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The map of this very process, and of one that has ended: which files are taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbol/perf_map_file.h"

#define SECOND 1000000000ULL

static char map_path[64];
static u64 began; /* a little before or after this process did: within a tick */

static u64 monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static void name_map(u32 pid)
{
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%u.map", pid);
	unlink(map_path);
}

static int setup(void **state)
{
	(void)state;
	name_map(getpid());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(map_path);
	return 0;
}

static void write_map(void)
{
	FILE *file = fopen(map_path, "w");

	assert_non_null(file);
	fputs("1000 10 f\n", file);
	fclose(file);
}

static void assert_taken(u32 tgid, u64 since)
{
	char byte = 0;
	int fd = perf_map_open(tgid, since);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, '1');
	close(fd);
}

static void assert_refused(u32 tgid, u64 since)
{
	assert_int_equal(perf_map_open(tgid, since), -ENOENT);
}

static void the_map_of_a_living_process(void **state)
{
	(void)state;
	assert_refused(getpid(), began);
	write_map();
	assert_taken(getpid(), began);
}

static void the_map_of_one_that_has_ended(void **state)
{
	u64 since = monotonic();
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	name_map(child);
	assert_refused(child, since);
	write_map();
	assert_taken(child, since);
}

/* Written before the process began: that of another one with this id. */
static void an_old_map(void **state)
{
	struct timespec times[2] = {};

	(void)state;
	write_map();
	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= 3600;
	times[0] = times[1];
	assert_int_equal(utimensat(AT_FDCWD, map_path, times, 0), 0);
	assert_refused(getpid(), began);
}

static void links(void **state)
{
	char target[80];

	(void)state;
	snprintf(target, sizeof(target), "%s.target", map_path);
	write_map();
	assert_int_equal(rename(map_path, target), 0);
	assert_int_equal(symlink(target, map_path), 0);
	assert_refused(getpid(), began);
	unlink(map_path);
	assert_int_equal(link(target, map_path), 0);
	assert_refused(getpid(), began);
	unlink(target);
	assert_taken(getpid(), began);
}

static void what_is_no_regular_file(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(map_path, 0600), 0);
	assert_refused(getpid(), began);
	unlink(map_path);
	assert_int_equal(mkdir(map_path, 0700), 0);
	assert_refused(getpid(), began);
	rmdir(map_path);
}

static void of_another_user(void **state)
{
	(void)state;
	write_map();
	if (chown(map_path, 12345, -1)) {
		printf("skip: this user may not give files to others\n");
		skip();
	}
	assert_refused(getpid(), began);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_map_of_a_living_process, setup, teardown),
		cmocka_unit_test_setup_teardown(the_map_of_one_that_has_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(an_old_map, setup, teardown),
		cmocka_unit_test_setup_teardown(links, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_regular_file, setup, teardown),
		cmocka_unit_test_setup_teardown(of_another_user, setup, teardown),
	};

	began = monotonic();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
