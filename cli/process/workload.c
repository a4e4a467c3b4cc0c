/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two pipes with close-on-exec: one pipe delays the child's execve, the other pipe reports the
 * errno of execve.
 */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "interrupt.h"

#define POLL_MS 100

static int check_file_is_executable(const char *path)
{
	struct stat status;

	if (access(path, X_OK) || stat(path, &status))
		return -errno;
	return S_ISREG(status.st_mode) ? 0 : -EACCES;
}

/* Searches for the program as execvp() does. */
static int find_program(const char *name, char file[PATH_MAX])
{
	const char *path = getenv("PATH"), *part;
	int result = -ENOENT;

	snprintf(file, PATH_MAX, "%s", name);
	if (strchr(name, '/'))
		return check_file_is_executable(name);
	for (part = path ? path : "/usr/bin:/bin"; result && part; part = strchr(part, ':')) {
		int bytes;

		part += *part == ':';
		bytes = strcspn(part, ":");
		snprintf(file, PATH_MAX, "%.*s/%s", bytes ? bytes : 1, bytes ? part : ".", name);
		result = check_file_is_executable(file) == 0 ? 0 : -ENOENT;
	}
	return result;
}

static void exec_command_when_released(int go, int failed, char **arguments, bool output_taken)
{
	sigset_t none;
	char byte;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (output_taken)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_FAILURE);
	execvp(arguments[0], arguments);
	error = errno;
	if (write(failed, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(127);
}

int workload_prepare(struct workload *workload, char **arguments, bool output_taken)
{
	char path[PATH_MAX];
	int go[2], failed[2], result = find_program(arguments[0], path);
	pid_t pid;

	if (result)
		return result;
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		result = -errno;
		goto close_go;
	}
	pid = fork();
	if (pid < 0) {
		result = -errno;
		goto close_failed;
	}
	if (!pid) {
		close(go[1]);
		exec_command_when_released(go[0], failed[1], arguments, output_taken);
	}
	close(go[0]);
	close(failed[1]);
	*workload = (struct workload){
		.pid = pid,
		.path = strdup(path),
		.process = syscall(SYS_pidfd_open, pid, 0),
		.go = go[1],
		.failed = failed[0],
	};
	if (workload->process >= 0)
		return 0;
	result = -errno;
	workload_clear(workload);
	return result;

close_failed:
	close(failed[0]);
	close(failed[1]);
close_go:
	close(go[0]);
	close(go[1]);
	return result;
}

int workload_start(struct workload *workload)
{
	struct pollfd failure = {.fd = workload->failed, .events = POLLIN};
	int error = 0;
	ssize_t bytes;

	if (write(workload->go, "", 1) != 1)
		return -errno;
	workload->started = true;
	while (poll(&failure, 1, POLL_MS) <= 0)
		if (is_end_requested())
			return -EINTR;
	bytes = read(workload->failed, &error, sizeof(error));
	return bytes == sizeof(error) ? -error : 0;
}

bool workload_ended(struct workload *workload)
{
	struct rusage usage = {};

	if (workload->ended)
		return true;
	workload->ended = wait4(workload->pid, &workload->status, WNOHANG, &usage) != 0;
	workload->cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 * NS_PER_MS +
			   (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
	return workload->ended;
}

void workload_signal(const struct workload *workload, int signal)
{
	syscall(SYS_pidfd_send_signal, workload->process, signal, NULL, 0);
}

void workload_clear(struct workload *workload)
{
	if (!workload->pid)
		return;
	if (!workload->started && !workload->ended) {
		kill(workload->pid, SIGKILL);
		waitpid(workload->pid, NULL, 0);
	}
	close(workload->go);
	close(workload->failed);
	if (workload->process >= 0)
		close(workload->process);
	free(workload->path);
	*workload = (struct workload){};
}

int workload_exit_status(const struct workload *workload)
{
	if (WIFSIGNALED(workload->status))
		return 128 + WTERMSIG(workload->status);
	return WEXITSTATUS(workload->status);
}
