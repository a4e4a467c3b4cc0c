/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of tracepoints from a directory that looks like tracefs' `events`, and from the kernel's
 * BTF. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/source/tracepoint.h"
#include "unit_test.h"

static const char *const tree[] = {
	"ftrace/function",	   "sched/sched_switch", "sched/sched_waking",
	"syscalls/sys_enter_read", "kmem/kfree",
};

static void make_path(int root, const char *path)
{
	char category[64];

	snprintf(category, sizeof(category), "%.*s", (int)strcspn(path, "/"), path);
	mkdirat(root, category, 0700);
	assert_int_equal(mkdirat(root, path, 0700), 0);
}

static void remove_path(int root, const char *path)
{
	char category[64];

	unlinkat(root, path, AT_REMOVEDIR);
	snprintf(category, sizeof(category), "%.*s", (int)strcspn(path, "/"), path);
	unlinkat(root, category, AT_REMOVEDIR);
}

struct fixture {
	char path[64];
	int root;
};

static struct fixture fixture;

static int setup(void **state)
{
	(void)state;
	snprintf(fixture.path, sizeof(fixture.path), "/tmp/stackmap-events-XXXXXX");
	assert_non_null(mkdtemp(fixture.path));
	fixture.root = open(fixture.path, O_RDONLY | O_DIRECTORY);
	assert_true(fixture.root >= 0);
	for (size_t i = 0; i < sizeof(tree) / sizeof(tree[0]); i++)
		make_path(fixture.root, tree[i]);
	close(openat(fixture.root, "sched/filter", O_CREAT | O_WRONLY, 0600));
	close(openat(fixture.root, "header_page", O_CREAT | O_WRONLY, 0600));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlinkat(fixture.root, "sched/filter", 0);
	unlinkat(fixture.root, "header_page", 0);
	for (size_t i = 0; i < sizeof(tree) / sizeof(tree[0]); i++)
		remove_path(fixture.root, tree[i]);
	close(fixture.root);
	return rmdir(fixture.path);
}

static int append_name(void *arg, const char *name)
{
	char *names = arg;

	strcat(strcat(names, name), " ");
	return 0;
}

static int count_and_refuse_tracepoint(void *arg, const char *name)
{
	(void)name;
	++*(int *)arg;
	return -E2BIG;
}

TEST(directories_are_events, setup, teardown)
{
	char names[256] = "";

	assert_int_equal(tracepoint_each_event(fixture.root, append_name, names), 0);
	assert_string_equal(names, "kmem:kfree sched:sched_switch sched:sched_waking ");
}

TEST(a_refusal_ends_the_walk, setup, teardown)
{
	int count = 0;

	assert_int_equal(tracepoint_each_event(fixture.root, count_and_refuse_tracepoint, &count),
			 -E2BIG);
	assert_int_equal(count, 1);
}

TEST(a_bad_descriptor_is_an_error)
{
	assert_int_equal(tracepoint_each_event(-1, count_and_refuse_tracepoint, NULL), -EBADF);
}

static int find_sched_switch(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "sched_switch") == 0;
}

TEST(btf_knows_the_kernels_tracepoints)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("skip: no /sys/kernel/btf/vmlinux\n");
		skip();
	}
	assert_int_equal(tracepoint_each_btf(find_sched_switch, NULL), 1);
}
