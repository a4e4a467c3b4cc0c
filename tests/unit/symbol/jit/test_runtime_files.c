/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of processes that have ended when the names are requested, and of processes that have not.
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "runtime.h"
#include "symbol/jit/runtime_files.h"
#include "unit_test.h"

#define MAP_TEXT "1000 10 f\n"
#define DUMP_TEXT "JiTD"

static struct runtime_files *files;
static char folder[64]; /* folder of the dumps */

static int setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/runtime-XXXXXX");
	return mkdtemp(folder) ? runtime_files_create(&files) : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	runtime_files_free(&files);
	assert_null(files);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

/* A child that does one step for each byte that it receives. */
struct child {
	pid_t pid;
	u64 since;
	int orders;
	int answers;
};

static void child_begin(struct child *child, void (*steps)(int orders, int answers))
{
	int orders[2], answers[2];

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	child->pid = fork();
	if (!child->pid) {
		close(orders[1]);
		close(answers[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		steps(orders[0], answers[1]);
		_exit(0);
	}
	close(orders[0]);
	close(answers[1]);
	child->orders = orders[1];
	child->answers = answers[0];
	child->since = start_of(child->pid);
}

/* Waits until the child has done a step; false: the child has ended. */
static bool child_step(const struct child *child)
{
	char byte = 0;

	return write(child->orders, &byte, 1) == 1 && read(child->answers, &byte, 1) == 1;
}

static void child_end(const struct child *child)
{
	close(child->orders);
	close(child->answers);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

static void await_order(int orders)
{
	char byte;

	if (read(orders, &byte, 1) != 1)
		_exit(0);
}

static void answer(int answers)
{
	if (write(answers, "", 1) != 1)
		_exit(1);
}

static void map_path(char path[64], pid_t id)
{
	snprintf(path, 64, "/tmp/perf-%d.map", id);
}

static void write_map(void)
{
	char path[64];

	map_path(path, getpid());
	write_text(path, MAP_TEXT);
}

static void write_dump(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, getpid());
	write_text(path, DUMP_TEXT);
	map_as(path, PROT_READ | PROT_EXEC);
}

static void both_at_once(int orders, int answers)
{
	await_order(orders);
	write_map();
	write_dump();
	answer(answers);
	await_order(orders);
}

static void one_after_the_other(int orders, int answers)
{
	await_order(orders);
	write_dump();
	answer(answers);
	await_order(orders);
	write_map();
	answer(answers);
	await_order(orders);
}

static void remove_map(const struct child *child)
{
	char path[64];

	map_path(path, child->pid);
	unlink(path);
}

static struct runtime_names names_of(const struct child *child)
{
	return runtime_files_open(files, child->pid, child->since);
}

static void assert_both(const struct child *child)
{
	const struct runtime_names names = names_of(child);

	assert_begins(names.perf_map, MAP_TEXT);
	assert_begins(names.jitdump, DUMP_TEXT);
}

static void assert_none(const struct child *child)
{
	const struct runtime_names names = names_of(child);

	assert_true(names.perf_map < 0);
	assert_true(names.jitdump < 0);
}

static u32 open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	u32 count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

TEST(files_of_a_living_process, setup, teardown)
{
	struct child child;

	child_begin(&child, both_at_once);
	assert_none(&child);
	assert_true(child_step(&child));
	assert_both(&child);
	child_end(&child);
	remove_map(&child);
}

TEST(files_that_were_kept, setup, teardown)
{
	struct child child;
	u32 descriptors;

	child_begin(&child, both_at_once);
	assert_true(child_step(&child));
	runtime_files_keep(files, child.pid, child.since);
	descriptors = open_descriptors();
	runtime_files_keep(files, child.pid, child.since);
	assert_int_equal(open_descriptors(), descriptors);
	remove_map(&child);
	assert_both(&child);
	child_end(&child);
	assert_both(&child);
}

/* The process ended before its files were kept open: the map is found by the process id, the dump
 * is not found. */
TEST(files_that_were_not_kept, setup, teardown)
{
	struct runtime_names names;
	struct child child;

	child_begin(&child, both_at_once);
	assert_true(child_step(&child));
	child_end(&child);
	runtime_files_keep(files, child.pid, child.since);
	names = names_of(&child);
	assert_begins(names.perf_map, MAP_TEXT);
	assert_true(names.jitdump < 0);
	remove_map(&child);
	assert_none(&child);
}

/* The process is dead, and its parent has not waited for it. */
TEST(files_of_a_zombie, setup, teardown)
{
	struct child child;
	siginfo_t info;

	child_begin(&child, both_at_once);
	assert_true(child_step(&child));
	runtime_files_keep(files, child.pid, child.since);
	assert_int_equal(kill(child.pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_both(&child);
	remove_map(&child);
	child_end(&child);
}

TEST(a_map_that_came_later, setup, teardown)
{
	struct child child;

	child_begin(&child, one_after_the_other);
	assert_true(child_step(&child));
	runtime_files_keep(files, child.pid, child.since);
	assert_true(child_step(&child));
	assert_both(&child);
	child_end(&child);
	assert_both(&child);
	remove_map(&child);
}

/* Runs the steps in a container, with its own /tmp and the process id 1. */
static void run_steps_in_container(int orders, int answers, void (*steps)(int orders, int answers))
{
	pid_t inner;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/tmp", "tmpfs", 0, NULL) || mkdir(folder, 0700))
		_exit(1);
	inner = fork();
	if (!inner) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		answer(answers);
		steps(orders, answers);
		_exit(0);
	}
	close(orders);
	close(answers);
	waitpid(inner, NULL, 0);
}

static void both_in_a_container(int orders, int answers)
{
	run_steps_in_container(orders, answers, both_at_once);
}

static void one_after_the_other_in_a_container(int orders, int answers)
{
	run_steps_in_container(orders, answers, one_after_the_other);
}

static pid_t only_child(pid_t parent)
{
	char path[64];
	FILE *file;
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &child), 1);
	fclose(file);
	return child;
}

/* The outer child waits for the inner one, which does the steps in the container. */
static void container_begin(struct child *outer, struct child *inner,
			    void (*steps)(int orders, int answers))
{
	char byte;

	child_begin(outer, steps);
	if (read(outer->answers, &byte, 1) != 1) {
		child_end(outer);
		printf("skip: this user may make no mount and pid namespaces\n");
		skip();
	}
	*inner = *outer;
	inner->pid = only_child(outer->pid);
	inner->since = start_of(inner->pid);
}

static void in_a_container(void (*steps)(int orders, int answers), u32 steps_before,
			   u32 steps_after)
{
	struct child outer, inner;

	container_begin(&outer, &inner, steps);
	while (steps_before--)
		assert_true(child_step(&outer));
	runtime_files_keep(files, inner.pid, inner.since);
	while (steps_after--)
		assert_true(child_step(&outer));
	assert_both(&inner);
	child_end(&outer);
	assert_both(&inner);
}

TEST(files_of_a_container_that_has_ended, setup, teardown)
{
	in_a_container(both_in_a_container, 1, 0);
}

TEST(a_map_that_came_later_in_a_container, setup, teardown)
{
	in_a_container(one_after_the_other_in_a_container, 1, 1);
}

/* The map in the /tmp outside has the process's id outside, so it is not the process's own. */
TEST(a_map_of_ours_for_a_container, setup, teardown)
{
	struct child outer, inner;
	char path[64];

	container_begin(&outer, &inner, both_in_a_container);
	map_path(path, inner.pid);
	write_text(path, MAP_TEXT);
	assert_none(&inner);
	runtime_files_keep(files, inner.pid, inner.since);
	assert_none(&inner);
	child_end(&outer);
	assert_none(&inner);
	unlink(path);
}

/* The files keep at most a quarter of RLIMIT_NOFILE, with two descriptors for each process. */
static int setup_with_room(void **state)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(limit.rlim_max >= 8 * RUNTIME_FILES_KEPT);
	return setup(state);
}

/* The newest files stay. Times that are so close count as one process. */
TEST(more_than_are_kept, setup_with_room, teardown)
{
	u32 before = open_descriptors();
	struct child child;

	child_begin(&child, both_at_once);
	assert_true(child_step(&child));
	for (u32 i = 0; i <= RUNTIME_FILES_KEPT; i++)
		runtime_files_keep(files, child.pid, child.since + i);
	assert_in_range(open_descriptors(), before, before + 2 * RUNTIME_FILES_KEPT + 2);
	child_end(&child);
	remove_map(&child);
	assert_none(&child);
	child.since += RUNTIME_FILES_KEPT;
	assert_both(&child);
	child.since -= RUNTIME_FILES_KEPT - 1;
	assert_both(&child);
	runtime_files_free(&files);
	assert_int_equal(open_descriptors(), before);
}
