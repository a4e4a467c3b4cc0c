/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that are accepted as the perf map of this process. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"
#include "symbol/jit/runtime_files.h"
#include "unit_test.h"

static char map_path[64];

static int setup(void **state)
{
	(void)state;
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%u.map", getpid());
	unlink(map_path);
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
	write_text(map_path, "1000 10 f\n");
}

static int open_map(void)
{
	const struct runtime_process process = process_of(getpid());
	int folder = perf_map_open_folder(getpid()), fd;

	assert_true(folder >= 0);
	fd = perf_map_open(folder, &process);
	close(folder);
	return fd;
}

static void assert_taken(void)
{
	assert_begins(open_map(), "1000 10 f\n");
}

static void assert_refused(void)
{
	assert_int_equal(open_map(), -ENOENT);
}

TEST(the_map_of_a_living_process, setup, teardown)
{
	assert_refused();
	write_map();
	assert_taken();
}

/* The map was written before the process began: it is of an earlier process with the same id. */
TEST(an_old_map, setup, teardown)
{
	write_map();
	make_old(map_path);
	assert_refused();
}

TEST(links, setup, teardown)
{
	char target[80];

	snprintf(target, sizeof(target), "%s.target", map_path);
	write_map();
	assert_int_equal(rename(map_path, target), 0);
	assert_int_equal(symlink(target, map_path), 0);
	assert_refused();
	unlink(map_path);
	assert_int_equal(link(target, map_path), 0);
	assert_refused();
	unlink(target);
	assert_taken();
}

TEST(no_folder, setup, teardown)
{
	assert_int_equal(perf_map_open_folder(0), -ENOENT);
}

TEST(other_files_are_no_map, setup, teardown)
{
	assert_int_equal(mkfifo(map_path, 0600), 0);
	assert_refused();
	unlink(map_path);
	assert_int_equal(mkdir(map_path, 0700), 0);
	assert_refused();
	rmdir(map_path);
}

TEST(of_another_user, setup, teardown)
{
	write_map();
	if (chown(map_path, 12345, -1)) {
		printf("skip: this user may not give files to others\n");
		skip();
	}
	assert_refused();
}
