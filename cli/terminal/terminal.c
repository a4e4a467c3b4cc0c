/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A dumb terminal gets neither progress nor colours, because it cannot move the cursor back. */
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

bool can_show_progress_on_terminal(FILE *stream)
{
	const char *term = getenv("TERM");

	return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}

bool can_show_color_on_terminal(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR");

	return can_show_progress_on_terminal(stream) && !(no_color && *no_color);
}

u32 terminal_width(void)
{
	static bool is_known;
	static u32 width;
	const char *columns = getenv("COLUMNS");
	long said = columns ? strtol(columns, NULL, 10) : 0;
	struct winsize size;

	if (is_known)
		return width;
	is_known = true;
	if (!isatty(STDOUT_FILENO))
		width = 0;
	else if (said > 0)
		width = said < UINT16_MAX ? (u32)said : UINT16_MAX;
	else
		width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
	return width;
}

u32 columns_left_in_terminal_line(u32 used)
{
	u32 width = terminal_width();

	if (!width)
		return 0;
	return width > used + TERMINAL_TEXT_MIN ? width - used : TERMINAL_TEXT_MIN;
}

void shrink_columns_to_terminal(u32 *widths, u32 count, u32 cut)
{
	u32 most = terminal_width(), sum = 2 * (count - 1);

	for (u32 i = 0; i < count; i++)
		sum += widths[i];
	for (; most && sum > most; sum--) {
		u32 widest = count;

		for (u32 i = 0; i < count; i++)
			if (cut >> i & 1 && widths[i] > TERMINAL_TEXT_MIN &&
			    (widest == count || widths[i] > widths[widest]))
				widest = i;
		if (widest == count)
			return;
		widths[widest]--;
	}
}

/*
 * The pager is a child that reads a pipe; this process's standard output becomes the other end of
 * the pipe. The pager owns the terminal while it runs: the pager handles Ctrl-C, and if the user
 * quits the pager early, that is not a failure (main.c). SIGPIPE must not end this process before
 * it has waited for the pager.
 *
 * `less` with F ends immediately if the whole text fits on the screen, R passes colours through, X
 * leaves the text on the screen.
 */

#define LESS_DEFAULT "FRX"

static pid_t pager;

/*
 * Called by atexit(3): standard output is closed by then, so the pager reads the end of its input.
 */
static void wait_for_pager(void)
{
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Returns the pager's command line; "": no pager. */
static const char *pager_command(void)
{
	static const char *const defaults[] = {"/usr/bin/pager", "/usr/bin/less"};
	const char *command = getenv("PAGER");

	for (size_t i = 0; !command && i < sizeof(defaults) / sizeof(*defaults); i++)
		if (!access(defaults[i], X_OK))
			command = defaults[i];
	return command && strcmp(command, "cat") != 0 ? command : "";
}

void pipe_output_to_pager(void)
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
		if (dup2(ends[0], STDIN_FILENO) < 0)
			_exit(127);
		setenv("LESS", LESS_DEFAULT, 0);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		signal(SIGINT, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		atexit(wait_for_pager);
	}
	close(ends[0]);
	close(ends[1]);
}
