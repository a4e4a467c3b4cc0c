/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The map of this very process: which files are taken for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"
#include "symbol/jit/perf_map_file.h"

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
	int folder = perf_map_folder(getpid()), fd;

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

static void the_map_of_a_living_process(void **state)
{
	(void)state;
	assert_refused();
	write_map();
	assert_taken();
}

/* Written before the process began: that of another one with this id. */
static void an_old_map(void **state)
{
	(void)state;
	write_map();
	make_old(map_path);
	assert_refused();
}

static void links(void **state)
{
	char target[80];

	(void)state;
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

static void no_folder(void **state)
{
	(void)state;
	assert_int_equal(perf_map_folder(0), -ENOENT);
}

static void what_is_no_regular_file(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(map_path, 0600), 0);
	assert_refused();
	unlink(map_path);
	assert_int_equal(mkdir(map_path, 0700), 0);
	assert_refused();
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
	assert_refused();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_map_of_a_living_process, setup, teardown),
		cmocka_unit_test_setup_teardown(an_old_map, setup, teardown),
		cmocka_unit_test_setup_teardown(links, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_regular_file, setup, teardown),
		cmocka_unit_test_setup_teardown(no_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(of_another_user, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
