/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The locks of an instance's folder on kernels that refuse them, in a bpffs that the test mounts.
 */
#include "capture/bpffs/folder.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "capture/bpffs/root.h"
#include "unit_test.h"

#define SKIP 77
#define NAME "locked"

static int refusal; /* the errno of each flock(); 0: the real flock() */
static struct folder *first, *second;
static struct stackmap_error error;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
	if (!refusal)
		return __real_flock(fd, operation);
	errno = refusal;
	return -1;
}

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(folder_open(NAME, &first, &error), 0);
	assert_int_equal(folder_open(NAME, &second, &error), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	refusal = 0;
	folder_close(&first);
	folder_close(&second);
	return 0;
}

static int (*const locks[])(struct folder *folder, struct stackmap_error *error) = {
	folder_lock,
	folder_lock_reader,
};

TEST(the_holder_of_the_lock_is_named, set_up, tear_down)
{
	static const char *const holders[] = {"another command", "another process reads"};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(locks[i](first, &error), 0);
		assert_int_equal(locks[i](second, &error), -EBUSY);
		assert_non_null(strstr(error.message, holders[i]));
	}
}

/* No process holds the lock. */
TEST(another_failure_has_its_own_message, set_up, tear_down)
{
	static const int codes[] = {ENOMEM, ENOLCK};

	for (int i = 0; i < 4; i++) {
		refusal = codes[i / 2];
		assert_int_equal(locks[i % 2](first, &error), -refusal);
		assert_null(strstr(error.message, "another"));
		assert_non_null(strstr(error.message, strerror(refusal)));
		assert_non_null(strstr(error.message, NAME));
	}
}

static int make_home(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", ROOT_BPFFS, "tmpfs", 0, NULL))
		return -1;
	return mkdir(ROOT, 0711) ?: mkdir(ROOT "/" NAME, 0700) ?: mkdir(ROOT "/" NAME "/pins", 0700);
}

int main(void)
{
	if (make_home()) {
		printf("skipped: no file system of its own: %s\n", strerror(errno));
		return SKIP;
	}
	return unit_tests_run();
}
