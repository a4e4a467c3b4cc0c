/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the folder is, what in it counts, and what goes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/debuginfo/cache_folder.h"

static char place[] = "/tmp/stackmap-cache-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static int open_cache(void)
{
	int folder = cache_folder_open();

	assert_true(folder >= 0);
	return folder;
}

static bool holds(int folder, const char *name, const char *text)
{
	size_t bytes;
	char *data;
	bool same;

	if (cache_folder_read(folder, name, 100, &data, &bytes))
		return false;
	same = bytes == strlen(text) && !memcmp(data, text, bytes);
	free(data);
	return same;
}

static int put(int folder, const char *name, const char *text)
{
	return cache_folder_replace(folder, name, text, strlen(text));
}

static void it_is_where_xdg_says(void **state)
{
	int folder;

	(void)state;
	folder = open_cache();
	assert_int_equal(put(folder, "a", "first"), 0);
	close(folder);
	assert_int_equal(access(path_of("cache/stackmap/debug/a"), R_OK), 0);
	setenv("XDG_CACHE_HOME", "relative", 1);
	folder = open_cache();
	assert_int_equal(put(folder, "a", "second"), 0);
	close(folder);
	assert_int_equal(access(path_of("home/.cache/stackmap/debug/a"), R_OK), 0);
	unsetenv("HOME");
	assert_int_equal(cache_folder_open(), -ENOENT);
}

static void it_is_private(void **state)
{
	struct stat status;

	(void)state;
	close(open_cache());
	assert_int_equal(stat(path_of("cache/stackmap/debug"), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(chmod(path_of("cache/stackmap/debug"), 0720), 0);
	assert_int_equal(cache_folder_open(), -EPERM);
	assert_int_equal(chmod(path_of("cache/stackmap/debug"), 0702), 0);
	assert_int_equal(cache_folder_open(), -EPERM);
	assert_int_equal(chmod(path_of("cache/stackmap/debug"), 0755), 0);
	close(open_cache());
}

static void nothing_is_made_in_a_folder_of_another(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(mkdir(path_of("theirs"), 0755), 0);
	assert_int_equal(chown(path_of("theirs"), 65534, 65534), 0);
	setenv("XDG_CACHE_HOME", path_of("theirs/cache"), 1);
	assert_true(cache_folder_open() < 0);
	assert_int_equal(access(path_of("theirs/cache"), F_OK), -1);
}

static void a_link_is_no_folder(void **state)
{
	(void)state;
	close(open_cache());
	assert_int_equal(rename(path_of("cache/stackmap/debug"), "other"), 0);
	assert_int_equal(symlink("../../other", path_of("cache/stackmap/debug")), 0);
	assert_true(cache_folder_open() < 0);
}

static void files_are_replaced_whole(void **state)
{
	int folder = open_cache();

	(void)state;
	assert_false(holds(folder, "a", ""));
	assert_int_equal(put(folder, "a", "first"), 0);
	assert_true(holds(folder, "a", "first"));
	assert_int_equal(put(folder, "a", "2nd"), 0);
	assert_true(holds(folder, "a", "2nd"));
	assert_int_equal(put(folder, "a", ""), 0);
	assert_true(holds(folder, "a", ""));
	close(folder);
}

static void only_own_files_count(void **state)
{
	int folder = open_cache();

	(void)state;
	assert_int_equal(put(folder, "a", "text"), 0);
	assert_int_equal(fchmodat(folder, "a", 0620, 0), 0);
	assert_false(holds(folder, "a", "text"));
	assert_int_equal(fchmodat(folder, "a", 0644, 0), 0);
	assert_true(holds(folder, "a", "text"));
	assert_int_equal(symlinkat("a", folder, "link"), 0);
	assert_false(holds(folder, "link", "text"));
	assert_int_equal(mkfifoat(folder, "fifo", 0600), 0);
	assert_false(holds(folder, "fifo", ""));
	close(folder);
}

static void one_that_is_too_long_does_not(void **state)
{
	char text[102] = {};
	int folder = open_cache();

	(void)state;
	memset(text, 'x', 100);
	assert_int_equal(put(folder, "a", text), 0);
	assert_true(holds(folder, "a", text));
	text[100] = 'x';
	assert_int_equal(put(folder, "a", text), 0);
	assert_false(holds(folder, "a", text));
	close(folder);
}

/* A limit, and a folder in its place; neither leaves anything behind. */
static void what_cannot_be_written_changes_nothing(void **state)
{
	struct rlimit before, small;
	int folder = open_cache();

	(void)state;
	assert_int_equal(put(folder, "a", "first"), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){.rlim_cur = 5, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(put(folder, "a", "second"), -EFBIG);
	assert_int_equal(put(folder, "b", "fits."), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(mkdirat(folder, "c", 0700), 0);
	assert_int_equal(put(folder, "c", "third"), -EISDIR);
	assert_true(holds(folder, "a", "first") && holds(folder, "b", "fits."));
	assert_int_equal(unlinkat(folder, "c", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(folder, "a", 0) | unlinkat(folder, "b", 0), 0);
	assert_int_equal(rmdir(path_of("cache/stackmap/debug")), 0);
	close(folder);
}

static void set_used(int folder, const char *name, time_t when)
{
	const struct timespec times[] = {{.tv_sec = when}, {.tv_sec = when}};

	assert_int_equal(utimensat(folder, name, times, 0), 0);
}

static void the_least_recently_used_goes_first(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	int folder = open_cache();

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(put(folder, names[i], "12345"), 0);
		set_used(folder, names[i], 1000 + i);
	}
	assert_true(holds(folder, "a", "12345")); /* used just now */
	cache_folder_trim(folder, 20);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(faccessat(folder, names[i], F_OK, 0), 0);
	cache_folder_trim(folder, 14);
	assert_int_equal(faccessat(folder, "a", F_OK, 0), 0);
	assert_int_not_equal(faccessat(folder, "b", F_OK, 0), 0);
	assert_int_not_equal(faccessat(folder, "c", F_OK, 0), 0);
	assert_int_equal(faccessat(folder, "d", F_OK, 0), 0);
	cache_folder_trim(folder, 0);
	assert_int_not_equal(faccessat(folder, "a", F_OK, 0), 0);
	close(folder);
}

static int setup(void **state)
{
	(void)state;
	strcpy(strrchr(place, '-'), "-XXXXXX");
	if (!mkdtemp(place) || chdir(place) || mkdir("home", 0755))
		return -1;
	setenv("HOME", path_of("home"), 1);
	setenv("XDG_CACHE_HOME", path_of("cache"), 1);
	return 0;
}

static int teardown(void **state)
{
	char command[sizeof(place) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", place);
	return chdir("/") || system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_where_xdg_says, setup, teardown),
		cmocka_unit_test_setup_teardown(it_is_private, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_is_made_in_a_folder_of_another, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_link_is_no_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(files_are_replaced_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(only_own_files_count, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_is_too_long_does_not, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_written_changes_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_least_recently_used_goes_first, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
