/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Folders stand for /proc/self and for mounted hierarchies of cgroups. */
#include "privilege/memory_limit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

static char root[] = "/tmp/stackmap-memory-XXXXXX";

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void write_mountinfo_of_hierarchy(const char *mount_root, const char *type,
					 const char *options)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "21 1 0:20 / / rw - ext4 /dev/sda rw\n"
		 "30 21 0:26 %s %s/tree rw,nosuid shared:9 - %s cgroup rw,%s\n",
		 mount_root, root, type, options);
	write_file("mountinfo", text);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(root) || chdir(root))
		return -1;
	return mkdir("tree", 0700) || mkdir("tree/outer", 0700) || mkdir("tree/outer/inner", 0700);
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return chdir("/") || system(command);
}

TEST(the_least_on_the_way_up_counts)
{
	write_mountinfo_of_hierarchy("/", "cgroup2", "nsdelegate");
	write_file("cgroup", "0::/outer/inner\n");
	write_file("tree/outer/inner/memory.max", "max\n");
	assert_true(memory_limit_of_cgroups(root) == UINT64_MAX);
	write_file("tree/outer/memory.max", "536870912\n");
	assert_int_equal(memory_limit_of_cgroups(root), 512 << 20);
	write_file("tree/outer/inner/memory.max", "1073741824\n");
	assert_int_equal(memory_limit_of_cgroups(root), 512 << 20);
	write_file("tree/outer/inner/memory.max", "67108864\n");
	assert_int_equal(memory_limit_of_cgroups(root), 64 << 20);
	write_file("cgroup", "0::/\n");
	assert_true(memory_limit_of_cgroups(root) == UINT64_MAX);
}

TEST(the_first_version_counts_too)
{
	write_mountinfo_of_hierarchy("/", "cgroup", "cpu,memory");
	write_file("cgroup", "5:devices:/\n4:cpu,memory:/outer/inner\n0::/elsewhere\n");
	write_file("tree/outer/memory.limit_in_bytes", "9223372036854771712\n");
	write_file("tree/outer/inner/memory.limit_in_bytes", "268435456\n");
	assert_int_equal(memory_limit_of_cgroups(root), 256 << 20);
	write_mountinfo_of_hierarchy("/", "cgroup", "cpu,memoryless");
	assert_true(memory_limit_of_cgroups(root) == UINT64_MAX);
}

/* In a container the root of the mount is the container's cgroup. */
TEST(a_mount_of_a_part_is_that_part)
{
	write_mountinfo_of_hierarchy("/docker/1", "cgroup2", "rw");
	write_file("tree/memory.max", "134217728\n");
	write_file("tree/outer/memory.max", "67108864\n");
	write_file("cgroup", "0::/docker/1/outer\n");
	assert_int_equal(memory_limit_of_cgroups(root), 64 << 20);
	write_file("cgroup", "0::/elsewhere\n");
	assert_int_equal(memory_limit_of_cgroups(root), 128 << 20);
	write_file("cgroup", "0::/../outer\n");
	assert_int_equal(memory_limit_of_cgroups(root), 128 << 20);
}

TEST(without_known_limits_there_is_no_limit)
{
	write_file("mountinfo", "");
	assert_true(memory_limit_of_cgroups(root) == UINT64_MAX);
	assert_true(memory_limit_of_cgroups("/nowhere") == UINT64_MAX);
}

TEST(the_limit_is_only_lowered)
{
	u64 before = memory_limit();

	assert_true(before && before != UINT64_MAX);
	memory_limit_lower(UINT64_MAX);
	assert_int_equal(memory_limit(), before);
	memory_limit_lower(before / 2);
	assert_int_equal(memory_limit(), before / 2);
}

TEST_GROUP(set_up, tear_down)
