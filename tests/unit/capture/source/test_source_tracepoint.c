/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracepoints with tracefs readable, unmounted, and forbidden. The latter two are child processes
 * with a mount namespace or a user of their own.
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/feature/tracefs.h"
#include "capture/source/source.h"
#include "unit_test.h"

#define CHILD_SKIPS 77

static struct source_list list;
static struct stackmap_error error;

static int clear(void **state)
{
	(void)state;
	source_list_clear(&list);
	return 0;
}

static int run_case_in_forked_child(int (*world)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(world());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void need_tracefs(void)
{
	int events = tracefs_open_events();

	if (events < 0) {
		printf("skip: tracefs: %s\n", strerror(-events));
		skip();
	}
	close(events);
}

static void need_root(void)
{
	if (geteuid() != 0) {
		printf("skip: needs root\n");
		skip();
	}
}

TEST(a_tracepoint_has_its_raw_name, NULL, clear)
{
	need_tracefs();
	assert_int_equal(source_list_add(&list, "sched:sched_switch", 0, &error), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.sources[0].type, SOURCE_TRACEPOINT);
	assert_string_equal(list.sources[0].name, "sched:sched_switch");
	assert_string_equal(list.sources[0].target, "sched_switch");
}

TEST(a_glob_stays_in_its_category, NULL, clear)
{
	need_tracefs();
	assert_int_equal(source_list_add(&list, "sched:*", 0, &error), 0);
	assert_true(list.count > 5);
	for (u32 i = 0; i < list.count; i++)
		assert_memory_equal(list.sources[i].name, "sched:", strlen("sched:"));
}

TEST(the_nearest_tracepoint_is_named, NULL, clear)
{
	need_tracefs();
	assert_int_equal(source_list_add(&list, "sched:sched_swich", 0, &error), -ENOENT);
	assert_string_equal(
		error.message,
		"-e sched:sched_swich: no such tracepoint; did you mean sched:sched_switch?");
	assert_int_equal(source_list_add(&list, "sched_switch", 0, &error), -ENOENT);
	assert_non_null(strstr(error.message, "did you mean sched:sched_switch?"));
}

TEST(a_value_is_a_field_of_the_record, NULL, clear)
{
	need_tracefs();
	assert_int_equal(source_list_add(&list, "kmem:k*alloc/value=bytes_alloc/", 0, &error), 0);
	assert_true(list.count >= 2);
	for (u32 i = 0; i < list.count; i++) {
		assert_int_equal(list.sources[i].type, SOURCE_TRACEPOINT);
		assert_string_equal(list.sources[i].unit, "bytes");
		assert_true(list.sources[i].tracepoint && list.sources[i].question.value.offset);
		assert_int_equal(list.sources[i].question.value.bytes, sizeof(size_t));
	}
}

TEST(units_come_from_names, NULL, clear)
{
	static const struct {
		const char *word;
		const char *unit;
	} cases[] = {
		{"kmem:kmalloc/value=bytes_req/", "bytes"},
		{"kmem:kmalloc/value=node/", "node"},
		{"kmem:kmem_cache_alloc/value=bytes_req:B/", "B"},
		{"sched:sched_stat_runtime/value=runtime/", "ns"},
		{"sched:sched_process_fork/value=child_pid/", "child_pid"},
	};

	need_tracefs();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(source_list_add(&list, cases[i].word, 0, &error), 0);
		assert_string_equal(list.sources[0].unit, cases[i].unit);
		source_list_clear(&list);
	}
}

TEST(each_match_has_the_field, NULL, clear)
{
	need_tracefs();
	assert_int_equal(source_list_add(&list, "kmem:k*/value=bytes_alloc/", 0, &error), -ENOENT);
	assert_non_null(strstr(error.message, "kmem:kfree has no number bytes_alloc; its fields"));
	assert_int_equal(list.count, 0);
}

TEST(an_event_has_one_value, NULL, clear)
{
	const char *text = "kmem:kmalloc/value=bytes_alloc/";

	need_tracefs();
	assert_int_equal(source_list_add(&list, text, 0, &error), 0);
	assert_int_equal(source_list_add(&list, text, 0, &error), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(source_list_add(&list, "kmem:kmalloc", 0, &error), -EEXIST);
	assert_int_equal(source_list_add(&list, "kmem:kmalloc/value=bytes_req/", 0, &error),
			 -EEXIST);
	assert_non_null(strstr(error.message, "another value"));
	assert_int_equal(list.count, 1);
}

static int count_mounts(void)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[4096];
	int count = 0;

	while (mounts && fgets(line, sizeof(line), mounts))
		count++;
	fclose(mounts);
	return count;
}

static int find_tracepoints_without_mount(void)
{
	int mounts, events;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return CHILD_SKIPS;
	while (umount2("/sys/kernel/tracing", MNT_DETACH) == 0)
		;
	while (umount2("/sys/kernel/debug", MNT_DETACH) == 0)
		;
	mounts = count_mounts();
	events = tracefs_open_events();
	if (events < 0)
		return 2;
	if (source_list_add(&list, "sched:sched_sw*", 0, &error))
		return 3;
	return count_mounts() == mounts ? 0 : 4;
}

TEST(an_unmounted_tracefs_is_read_without_mounting, NULL, clear)
{
	int status;

	need_root();
	need_tracefs();
	status = run_case_in_forked_child(find_tracepoints_without_mount);
	if (status == CHILD_SKIPS) {
		printf("skip: no mount namespace of our own here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static int find_tracepoints_without_permission(void)
{
	int events;

	if (geteuid() == 0 && setuid(65534))
		return 2;
	events = tracefs_open_events();
	if (events >= 0)
		return CHILD_SKIPS;
	if (source_list_add(&list, "sched:sched_switch", 0, &error) || list.count != 1 ||
	    strcmp(list.sources[0].target, "sched_switch"))
		return 3;
	if (source_list_add(&list, "sched:sched_swich", 0, &error) != -ENOENT ||
	    !strstr(error.message, "did you mean sched:sched_switch?"))
		return 4;
	if (source_list_add(&list, "sched:*", 0, &error) != -ENOENT ||
	    !strstr(error.message, "tracefs cannot be read"))
		return 5;
	if (source_list_add(&list, "kmem:kmalloc/value=bytes_alloc/", 0, &error) >= 0 ||
	    !strstr(error.message, "described by tracefs: Permission denied; it needs root"))
		return 6;
	return 0;
}

TEST(without_tracefs_whole_names_are_known, NULL, clear)
{
	int status;

	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("skip: no /sys/kernel/btf/vmlinux\n");
		skip();
	}
	status = run_case_in_forked_child(find_tracepoints_without_permission);
	if (status == CHILD_SKIPS) {
		printf("skip: everyone may read tracefs here\n");
		skip();
	}
	assert_int_equal(status, 0);
}
