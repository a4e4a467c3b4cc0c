/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pager is a child that reads a pipe; this process's standard output becomes the other end. The
 * pager owns the terminal while it runs: Ctrl-C is for the pager, and quitting it early is not a
 * failure (main.c handles that). SIGPIPE must not end this process before it has waited for the
 * pager.
 *
 * `less` with F ends at once when all fits on the screen, R passes colours, X leaves the text
 * there.
 */
#include "pager.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal.h"

#define LESS_DEFAULT "FRX"

static pid_t pager;

/* atexit(3): standard output is closed by then, so the pager sees its end. */
static void wait_for_pager(void)
{
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Returns "" for no pager. */
static const char *pager_command(void)
{
	static const char *const defaults[] = {"/usr/bin/pager", "/usr/bin/less"};
	const char *command = getenv("PAGER");

	for (size_t i = 0; !command && i < sizeof(defaults) / sizeof(*defaults); i++)
		if (!access(defaults[i], X_OK))
			command = defaults[i];
	return command && strcmp(command, "cat") != 0 ? command : "";
}

static void become_pager(const char *command, int input)
{
	if (dup2(input, STDIN_FILENO) < 0)
		_exit(127);
	setenv("LESS", LESS_DEFAULT, 0);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

static void write_to(int output)
{
	dup2(output, STDOUT_FILENO);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	atexit(wait_for_pager);
}

void pager_start(void)
{
	const char *command = pager_command();
	int ends[2];

	terminal_width();
	if (!isatty(STDOUT_FILENO) || !*command || pipe(ends))
		return;
	fflush(stdout);
	pager = fork();
	if (pager == 0) {
		close(ends[1]);
		become_pager(command, ends[0]);
	}
	if (pager > 0)
		write_to(ends[1]);
	close(ends[0]);
	close(ends[1]);
}
