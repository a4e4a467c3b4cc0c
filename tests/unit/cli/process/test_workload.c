/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recorded command: held until it may run, and the report of its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/workload.h"
#include "unit_test.h"

static char folder[] = "/tmp/stackmap-workload-XXXXXX";
static const struct workload none;

static int prepare_shell(struct workload *workload, const char *script, bool output_taken)
{
	char *arguments[] = {"sh", "-c", (char *)script, NULL};

	return workload_prepare(workload, arguments, output_taken);
}

static int prepare_file(struct workload *workload, const char *name, const char *text, mode_t mode)
{
	char *arguments[] = {(char *)name, NULL};
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(name, mode), 0);
	return workload_prepare(workload, arguments, false);
}

/* Waits for the end without reaping the process, which the workload does. */
static void wait_for_end(const struct workload *workload)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, workload->pid, &info, WEXITED | WNOWAIT), 0);
}

static void assert_exit_status(const char *script, int status)
{
	struct workload workload = {0};

	assert_int_equal(prepare_shell(&workload, script, false), 0);
	assert_int_equal(workload_start(&workload), 0);
	wait_for_end(&workload);
	assert_true(workload_ended(&workload));
	assert_true(workload_ended(&workload));
	assert_int_equal(workload_exit_status(&workload), status);
	workload_clear(&workload);
}

TEST(exit_status)
{
	assert_exit_status("exit 0", 0);
	assert_exit_status("exit 7", 7);
	assert_exit_status("exit 255", 255);
	assert_exit_status("kill -TERM $$", 128 + SIGTERM);
	assert_exit_status("kill -KILL $$", 128 + SIGKILL);
}

TEST(runs_only_once_started)
{
	struct workload workload = {0};

	assert_int_equal(prepare_shell(&workload, ">ran", false), 0);
	assert_true(workload.pid > 0);
	assert_false(workload_ended(&workload));
	workload_clear(&workload);
	assert_int_equal(access("ran", F_OK), -1);

	assert_int_equal(prepare_shell(&workload, ">ran", false), 0);
	assert_int_equal(workload_start(&workload), 0);
	wait_for_end(&workload);
	assert_int_equal(access("ran", F_OK), 0);
	workload_clear(&workload);
}

TEST(a_running_command_is_ended)
{
	struct workload workload = {0};

	assert_int_equal(prepare_shell(&workload, "while :; do :; done", false), 0);
	assert_int_equal(workload_start(&workload), 0);
	assert_false(workload_ended(&workload));
	workload_signal(&workload, SIGTERM);
	wait_for_end(&workload);
	assert_true(workload_ended(&workload));
	assert_int_equal(workload_exit_status(&workload), 128 + SIGTERM);
	workload_signal(&workload, SIGKILL);
	workload_clear(&workload);
}

TEST(without_a_command_nothing_is_started)
{
	char *missing[] = {"no-such-command", NULL}, *path[] = {"./none", NULL};
	char *directory[] = {folder, NULL};
	struct workload workload = {0};

	assert_int_equal(workload_prepare(&workload, missing, false), -ENOENT);
	assert_int_equal(workload_prepare(&workload, path, false), -ENOENT);
	assert_int_equal(workload_prepare(&workload, directory, false), -EACCES);
	assert_int_equal(prepare_file(&workload, "./text", "text\n", 0600), -EACCES);
	assert_memory_equal(&workload, &none, sizeof(workload));
}

TEST(execve_fails)
{
	struct workload workload = {0};

	assert_int_equal(prepare_file(&workload, "./bad", "#!/no/such/interpreter\n", 0700), 0);
	assert_int_equal(workload_start(&workload), -ENOENT);
	workload_clear(&workload);
}

TEST(signals_are_as_they_were)
{
	sigset_t set, old;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	assert_exit_status("grep -q '^SigBlk:.0000000000000000$' /proc/self/status", 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* The signal goes to the process itself, not to another process that has got its number. */
TEST(a_number_used_again_is_not_met)
{
	struct workload workload = {0};
	pid_t other = fork();
	int status;

	if (!other) {
		pause();
		_exit(0);
	}
	assert_int_equal(prepare_shell(&workload, "exit 0", false), 0);
	assert_int_equal(workload_start(&workload), 0);
	wait_for_end(&workload);
	assert_true(workload_ended(&workload));
	workload.pid = other;
	workload_signal(&workload, SIGKILL);
	workload_clear(&workload);
	assert_int_equal(waitpid(other, &status, WNOHANG), 0);
	assert_int_equal(kill(other, SIGTERM), 0);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

TEST(a_running_command_may_be_left_alone)
{
	struct workload workload = {0};
	pid_t pid;
	int status;

	assert_int_equal(prepare_shell(&workload, "exec sleep 1000", false), 0);
	assert_int_equal(workload_start(&workload), 0);
	pid = workload.pid;
	workload_clear(&workload);
	assert_memory_equal(&workload, &none, sizeof(workload));
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

/* The command's standard output is needed for the recording, so its output goes to standard error.
 */
TEST(output_goes_to_standard_error)
{
	struct workload workload = {0};
	int error = dup(STDERR_FILENO), file = open("said", O_RDWR | O_CREAT, 0600);
	char said[8] = "";

	assert_true(error >= 0 && file >= 0);
	dup2(file, STDERR_FILENO);
	assert_int_equal(prepare_shell(&workload, "echo out", true), 0);
	dup2(error, STDERR_FILENO);
	assert_int_equal(workload_start(&workload), 0);
	wait_for_end(&workload);
	workload_clear(&workload);
	assert_int_equal(pread(file, said, sizeof(said) - 1, 0), 4);
	assert_string_equal(said, "out\n");
	close(error);
	close(file);
}

static int enter_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"ran", "text", "bad", "said"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	return rmdir(folder);
}

TEST_GROUP(enter_folder, remove_folder)
