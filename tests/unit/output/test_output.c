/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writing to names where another user may have put a file before, and the files that are left after
 * an error. */
#include "output/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interrupt.h"
#include "unit_test.h"

#define OTHER 65533
#define NAME "out"

static char folder[] = "/tmp/stackmap-output-XXXXXX";
static bool has_no_proc;
static struct stackmap_error error;

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);

int __wrap_access(const char *path, int mode)
{
	if (!has_no_proc)
		return __real_access(path, mode);
	errno = ENOENT;
	return -1;
}

static int names_in_folder(void)
{
	DIR *listing = opendir(".");
	int names = 0;

	assert_non_null(listing);
	for (struct dirent *entry; (entry = readdir(listing));)
		names += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(listing);
	return names;
}

static int set_up(void **state)
{
	(void)state;
	has_no_proc = false;
	error.message[0] = '\0';
	return chdir(folder) ?: chmod(folder, 0755);
}

static int tear_down(void **state)
{
	DIR *listing = opendir(".");

	(void)state;
	for (struct dirent *entry; (entry = readdir(listing));)
		if (unlink(entry->d_name) && entry->d_name[0] != '.')
			rmdir(entry->d_name);
	closedir(listing);
	return names_in_folder();
}

static void put_text(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_text(const char *name, const char *text)
{
	char got[64] = "";
	int fd = open(name, O_RDONLY);

	assert_true(read(fd, got, sizeof(got) - 1) >= 0);
	assert_string_equal(got, text);
	close(fd);
}

/* Opens, writes and closes an output as a command does. Returns 0 or -errno. */
static int write_text(const char *name, enum output_kind kind, const char *text)
{
	struct output output;
	int result = output_open(name, kind, &output, &error);

	if (result)
		return result;
	result = output_write(&output, text, strlen(text)) ?: output_publish(&output, &error);
	return output_close(&output) ?: result;
}

static void needs_root(void)
{
	if (!geteuid())
		return;
	printf("skip: only root makes files of others\n");
	skip();
}

/* Runs `act` in a child process and returns its result. */
static int in_child(int (*act)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(act());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static const enum output_kind kinds[] = {OUTPUT_RECORDING, OUTPUT_EXPORT};

TEST(a_fifo_of_another_user_gets_nothing, set_up, tear_down)
{
	int reader;
	char byte;

	needs_root();
	assert_int_equal(chmod(folder, 01777), 0);
	assert_int_equal(mkfifo(NAME, 0622), 0);
	assert_int_equal(chown(NAME, OTHER, OTHER), 0);
	reader = open(NAME, O_RDONLY | O_NONBLOCK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(write_text(NAME, kinds[i], "secret"), -EPERM);
		assert_non_null(strstr(error.message, NAME ": a FIFO or device of user 65533"));
		assert_int_equal(read(reader, &byte, 1), 0);
	}
	close(reader);
	assert_int_equal(names_in_folder(), 1);
}

TEST(a_link_of_another_user_is_not_followed, set_up, tear_down)
{
	needs_root();
	put_text("precious", "kept");
	assert_int_equal(symlink("precious", NAME), 0);
	assert_int_equal(lchown(NAME, OTHER, OTHER), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(write_text(NAME, kinds[i], "new"), -EPERM);
		assert_non_null(strstr(error.message, "a link of user 65533"));
	}
	assert_text("precious", "kept");
	assert_int_equal(names_in_folder(), 2);
}

TEST(a_link_of_this_user_is_followed, set_up, tear_down)
{
	assert_int_equal(mkdir("there", 0755), 0);
	assert_int_equal(symlink("there/file", "second"), 0);
	assert_int_equal(symlink("second", NAME), 0);
	assert_int_equal(write_text(NAME, OUTPUT_EXPORT, "first"), 0);
	assert_int_equal(write_text(NAME, OUTPUT_RECORDING, "later"), 0);
	assert_text("there/file", "later");
	assert_text("there/file.old", "first");
	assert_int_equal(names_in_folder(), 3);
	assert_int_equal(unlink("there/file"), 0);
	assert_int_equal(unlink("there/file.old"), 0);
}

TEST(links_without_end, set_up, tear_down)
{
	assert_int_equal(symlink(NAME, NAME), 0);
	assert_int_equal(write_text(NAME, OUTPUT_EXPORT, ""), -ELOOP);
}

/* Another process that has the old file open sees the old content. */
TEST(a_file_of_another_user_is_not_written, set_up, tear_down)
{
	char got[16] = "";
	int fd;

	needs_root();
	for (int i = 0; i < 2; i++) {
		put_text(NAME, "theirs");
		assert_int_equal(chown(NAME, OTHER, OTHER), 0);
		fd = open(NAME, O_RDONLY);
		assert_int_equal(write_text(NAME, kinds[i], "ours"), 0);
		assert_int_equal(read(fd, got, sizeof(got) - 1), 6);
		assert_string_equal(got, "theirs");
		assert_text(NAME, "ours");
		close(fd);
	}
}

static int write_into_sticky_folder_of_other_user(void)
{
	if (setresuid(OTHER, OTHER, OTHER))
		return 1;
	if (write_text(NAME, OUTPUT_EXPORT, "") != -EPERM ||
	    !strstr(error.message, "belongs to user 0"))
		return 2;
	return write_text("free", OUTPUT_RECORDING, "") != -EPERM ||
	       !strstr(error.message, "free.old");
}

/* The error comes at the start, not when the file gets its name. */
TEST(a_file_that_cannot_be_replaced_is_reported_at_once, set_up, tear_down)
{
	needs_root();
	assert_int_equal(chmod(folder, 01777), 0);
	put_text(NAME, "theirs");
	put_text("free", "");
	assert_int_equal(chown("free", OTHER, OTHER), 0);
	put_text("free.old", "theirs");
	assert_int_equal(in_child(write_into_sticky_folder_of_other_user), 0);
}

TEST(a_folder_with_the_old_files_name_is_reported_at_once, set_up, tear_down)
{
	struct output output;

	put_text(NAME, "first");
	assert_int_equal(mkdir(NAME ".old", 0755), 0);
	assert_int_equal(output_open(NAME, OUTPUT_RECORDING, &output, &error), -EISDIR);
	assert_non_null(strstr(error.message, NAME ".old"));
	assert_text(NAME, "first");
	assert_int_equal(write_text(NAME, OUTPUT_EXPORT, "second"), 0);
}

TEST(names_that_are_too_long, set_up, tear_down)
{
	char name[NAME_MAX + 2];

	memset(name, 'x', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	assert_int_equal(write_text(name, OUTPUT_EXPORT, ""), -ENAMETOOLONG);
	name[NAME_MAX] = '\0';
	assert_int_equal(write_text(name, OUTPUT_RECORDING, ""), -ENAMETOOLONG);
	assert_int_equal(write_text(name, OUTPUT_EXPORT, "whole"), 0);
	assert_int_equal(write_text(name, OUTPUT_EXPORT, "again"), 0);
	assert_text(name, "again");
	assert_int_equal(names_in_folder(), 1);
}

TEST(a_fifo_of_this_user_is_written, set_up, tear_down)
{
	char got[8] = "";
	int reader;

	assert_int_equal(mkfifo(NAME, 0600), 0);
	reader = open(NAME, O_RDONLY | O_NONBLOCK);
	assert_int_equal(write_text(NAME, OUTPUT_RECORDING, "told"), 0);
	assert_int_equal(read(reader, got, sizeof(got)), 4);
	assert_string_equal(got, "told");
	close(reader);
}

static void on_alarm(int signal)
{
	(void)signal;
	interrupt_request_immediate_end();
}

static int open_fifo_interrupted_by_alarm(void)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 50000}};
	struct output output;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	return output_open(NAME, OUTPUT_RECORDING, &output, &error) != -EINTR;
}

TEST(a_signal_ends_the_wait_for_a_fifos_reader, set_up, tear_down)
{
	assert_int_equal(mkfifo(NAME, 0600), 0);
	assert_int_equal(in_child(open_fifo_interrupted_by_alarm), 0);
}

/* Writes more than the pipe takes. */
static int fill_pipe(void)
{
	static char bytes[1 << 20];
	struct output output;
	int reader = open(NAME, O_RDONLY | O_NONBLOCK);

	interrupt_request_end();
	if (reader < 0 || output_open(NAME, OUTPUT_RECORDING, &output, &error))
		return 1;
	return output_write(&output, bytes, sizeof(bytes)) != -EINTR;
}

TEST(a_signal_ends_the_wait_for_a_stopped_reader, set_up, tear_down)
{
	assert_int_equal(mkfifo(NAME, 0600), 0);
	assert_int_equal(in_child(fill_pipe), 0);
}

TEST(devices, set_up, tear_down)
{
	assert_int_equal(write_text("/dev/null", OUTPUT_RECORDING, "x"), 0);
	assert_int_equal(write_text("/dev/full", OUTPUT_EXPORT, "x"), -ENOSPC);
	assert_int_equal(symlink("/dev/null", NAME), 0);
	assert_int_equal(write_text(NAME, OUTPUT_EXPORT, "x"), 0);
}

/* The standard output is a pipe of another user, as with sudo. */
static int write_standard_output(void)
{
	dup2(open(NAME, O_RDWR), STDOUT_FILENO);
	return write_text("/dev/stdout", OUTPUT_EXPORT, "told") ||
	       write_text("-", OUTPUT_RECORDING, "again");
}

TEST(standard_output_by_its_other_name, set_up, tear_down)
{
	char got[16] = "";
	int reader;

	needs_root();
	assert_int_equal(mkfifo(NAME, 0600), 0);
	assert_int_equal(chown(NAME, OTHER, OTHER), 0);
	reader = open(NAME, O_RDONLY | O_NONBLOCK);
	assert_int_equal(in_child(write_standard_output), 0);
	assert_int_equal(read(reader, got, sizeof(got)), 9);
	assert_string_equal(got, "toldagain");
	close(reader);
}

static int write_output_and_die_by_signal(void)
{
	struct output output;

	if (output_open(NAME, OUTPUT_EXPORT, &output, &error) || output_write(&output, "x", 1))
		return 1;
	return raise(SIGKILL);
}

TEST(a_killed_process_leaves_nothing, set_up, tear_down)
{
	assert_int_equal(in_child(write_output_and_die_by_signal), -SIGKILL);
	assert_int_equal(names_in_folder(), 0);
}

/* The file system does not support files without a name (O_TMPFILE). */
TEST(under_a_temporary_name, set_up, tear_down)
{
	struct output output;

	has_no_proc = true;
	put_text(NAME, "first");
	assert_int_equal(output_open(NAME, OUTPUT_RECORDING, &output, &error), 0);
	assert_int_equal(names_in_folder(), 2);
	assert_int_equal(output_close(&output), 0);
	assert_int_equal(names_in_folder(), 1);
	assert_int_equal(write_text(NAME, OUTPUT_RECORDING, "second"), 0);
	assert_text(NAME, "second");
	assert_text(NAME ".old", "first");
	assert_int_equal(names_in_folder(), 2);
}

TEST(a_temporary_name_is_removed, set_up, tear_down)
{
	struct output output;

	has_no_proc = true;
	output_remove_temporary();
	assert_int_equal(output_open(NAME, OUTPUT_EXPORT, &output, &error), 0);
	assert_int_equal(names_in_folder(), 1);
	output_remove_temporary();
	assert_int_equal(names_in_folder(), 0);
	output_close(&output);
}

/* Another process may have taken the name meanwhile. */
TEST(a_name_that_was_taken_meanwhile, set_up, tear_down)
{
	struct output output;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(output_open(NAME, kinds[i], &output, &error), 0);
		assert_int_equal(output_write(&output, "ours", 4), 0);
		put_text(NAME, "taken");
		assert_int_equal(output_publish(&output, &error), 0);
		assert_int_equal(output_close(&output), 0);
		assert_text(NAME, "ours");
		assert_int_equal(unlink(NAME), 0);
	}
	assert_text(NAME ".old", "taken");
	assert_int_equal(names_in_folder(), 1);
}

int main(void)
{
	int failed = mkdtemp(folder) ? unit_tests_run() : 1;

	rmdir(folder);
	return failed;
}
