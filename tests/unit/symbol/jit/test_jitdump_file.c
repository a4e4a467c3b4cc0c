/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mapped files that are accepted as the jitdump of this process or of a child. */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "runtime.h"
#include "symbol/jit/runtime_files.h"
#include "unit_test.h"

#define OTHER_USER 12345

static char folder[64];
static char path[128];

static void name_dump(const char *pattern)
{
	int length = snprintf(path, sizeof(path), "%s/", folder);

	snprintf(path + length, sizeof(path) - length, pattern, getpid());
}

static void write_dump(void)
{
	name_dump("jit-%d.dump");
	write_text(path, "JiTD");
}

/* Each case runs in a process of its own, as its mappings stay. The process ends without a search
 * for leaks, which does not end on arm64 if a mapped file was deleted. */
static void run_and_exit_in_child(void (*act)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		act();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int open_dump(void)
{
	const struct runtime_process process = process_of(getpid());

	return jitdump_open(&process);
}

static void assert_taken(void)
{
	assert_begins(open_dump(), "JiTD");
}

static void assert_refused(void)
{
	assert_int_equal(open_dump(), -ENOENT);
}

static int setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/a folder of dumps XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void map_dump_file(void)
{
	write_dump();
	assert_refused();
	map_as(path, PROT_READ);
	assert_refused();
	map_as(path, PROT_READ | PROT_EXEC);
	assert_taken();
}

TEST(the_dump_that_is_mapped, setup, teardown)
{
	run_and_exit_in_child(map_dump_file);
}

static void delete_mapped_dump_file(void)
{
	write_dump();
	map_as(path, PROT_READ | PROT_EXEC);
	unlink(path);
	assert_taken();
}

TEST(one_that_was_deleted, setup, teardown)
{
	if (geteuid()) {
		printf("skip: this user cannot open what is mapped and deleted\n");
		skip();
	}
	run_and_exit_in_child(delete_mapped_dump_file);
}

static void map_others(void)
{
	static const char *const names[] = {"jit-%d.dump1", "jit-%d0.dump", "jit-1%d.dump",
					    "xjit-%d.dump", "jit-.dump",    "jit-%d.dump (deleted"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		name_dump(names[i]);
		write_text(path, "JiTD");
		map_as(path, PROT_READ | PROT_EXEC);
	}
	assert_refused();
	write_dump();
	map_as(path, PROT_READ | PROT_EXEC);
	assert_taken();
}

TEST(files_with_other_names, setup, teardown)
{
	run_and_exit_in_child(map_others);
}

static void map_dump_older_than_process(void)
{
	write_dump();
	make_old(path);
	map_as(path, PROT_READ | PROT_EXEC);
	assert_refused();
}

TEST(one_from_before_the_process, setup, teardown)
{
	run_and_exit_in_child(map_dump_older_than_process);
}

static void map_dump_of_other_user(void)
{
	write_dump();
	assert_int_equal(chown(path, OTHER_USER, -1), 0);
	map_as(path, PROT_READ | PROT_EXEC);
	assert_refused();
}

TEST(one_of_another_user, setup, teardown)
{
	if (geteuid()) {
		printf("skip: this user may not give files to others\n");
		skip();
	}
	run_and_exit_in_child(map_dump_of_other_user);
}

static void become_another_user(void)
{
	assert_int_equal(setuid(OTHER_USER), 0);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
}

/* The file is opened by its path, so a renamed file is not found. */
static void rename_dump_file(void)
{
	char kept[160];

	assert_int_equal(chmod(folder, 0777), 0);
	become_another_user();
	write_dump();
	map_as(path, PROT_READ | PROT_EXEC);
	snprintf(kept, sizeof(kept), "%s/kept", folder);
	assert_int_equal(rename(path, kept), 0);
	assert_refused();
	write_text(path, "JiTD");
	assert_refused();
	assert_int_equal(rename(kept, path), 0);
	assert_taken();
}

/* The path leads to another file, as a folder is mounted over the file's folder. */
static void mount_folder_over_dump_folder(void)
{
	char other[128];

	snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(mkdir(other, 0777), 0);
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	write_dump();
	map_as(path, PROT_READ | PROT_EXEC);
	assert_int_equal(mount(other, folder, NULL, MS_BIND, NULL), 0);
	write_dump();
	assert_int_equal(chown(path, OTHER_USER, -1), 0);
	assert_taken();
	become_another_user();
	assert_refused();
}

TEST(without_privileges_a_path_that_leads_elsewhere, setup, teardown)
{
	if (geteuid()) {
		printf("skip: this user may mount nothing\n");
		skip();
	}
	run_and_exit_in_child(mount_folder_over_dump_folder);
}

TEST(without_privileges, setup, teardown)
{
	if (geteuid()) {
		printf("skip: this user cannot become another\n");
		skip();
	}
	run_and_exit_in_child(rename_dump_file);
}
