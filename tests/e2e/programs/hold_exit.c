/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hold_exit COMMAND...: runs the command, and stops its first thread at its exit, as a debugger
 * may: an execve of another thread then waits past its point of no return. The first line of input
 * is echoed when the thread is stopped. The second line resumes the thread, and is echoed when the
 * command has ended.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_STOP (SIGTRAP | PTRACE_EVENT_EXIT << 8)

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	_exit(1);
}

static pid_t start(char **command, int *go)
{
	char byte;
	int ends[2];
	pid_t pid;

	check(pipe(ends), "pipe");
	pid = fork();
	check(pid < 0, "fork");
	if (!pid) {
		check(read(ends[0], &byte, 1) != 1, "read");
		execv(command[0], command);
		check(1, command[0]);
	}
	*go = ends[1];
	return pid;
}

static void wait_for_exit_stop(pid_t pid)
{
	int status;

	for (;;) {
		check(waitpid(pid, &status, __WALL) != pid, "waitpid");
		check(!WIFSTOPPED(status), "the command has ended");
		if (status >> 8 == EXIT_STOP)
			return;
		check(ptrace(PTRACE_CONT, pid, 0, 0), "PTRACE_CONT");
	}
}

static void read_line(char *line, int bytes)
{
	check(!fgets(line, bytes, stdin), "a line");
}

static void echo(const char *line)
{
	fputs(line, stdout);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[80];
	int go, status;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = start(argv + 1, &go);
	check(ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXIT), "PTRACE_SEIZE");
	check(write(go, "", 1) != 1, "write");
	wait_for_exit_stop(pid);
	read_line(line, sizeof(line));
	echo(line);
	read_line(line, sizeof(line));
	check(ptrace(PTRACE_CONT, pid, 0, 0), "PTRACE_CONT");
	check(waitpid(pid, &status, 0) != pid, "waitpid");
	echo(line);
	return status != 0;
}
