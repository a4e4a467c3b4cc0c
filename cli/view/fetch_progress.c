/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The handler is set only while a file is fetched; otherwise the signal ends the command, which may
 * have its own handler. An ignored signal stays ignored. */
#include "fetch_progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "format/printable.h"
#include "terminal/terminal.h"

#define LINE_MS 100
#define MIB (1024.0 * 1024.0)

static volatile sig_atomic_t interrupted;
static struct sigaction before;
static bool running, shown;
static u64 next_line_ms;

static void on_interrupt(int signal)
{
	interrupted = 1;
	sigaction(signal, &before, NULL);
}

static void take_signal(void)
{
	struct sigaction action = {.sa_handler = on_interrupt};

	running = true;
	sigaction(SIGINT, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
}

static bool is_due(void)
{
	u64 ms = clock_ms();

	if (ms < next_line_ms)
		return false;
	next_line_ms = ms + LINE_MS;
	return true;
}

/* A line that wraps cannot be erased, so the text is cut. */
static void put_short(const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[40];

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
	printable_put(name, stderr);
}

static void show(const char *name, u64 bytes, u64 total)
{
	fputs("\r\033[Kdebuginfod: ", stderr);
	put_short(name);
	if (total)
		fprintf(stderr, " %.1f of %.1f MiB", bytes / MIB, total / MIB);
	fputs(" (Ctrl-C: without)", stderr);
	fflush(stderr);
	shown = true;
}

static bool on_progress(void *arg, const char *name, u64 bytes, u64 total)
{
	(void)arg;
	if (!running)
		take_signal();
	if (terminal_progress(stderr) && is_due())
		show(name, bytes, total);
	return !interrupted;
}

static void on_done(void *arg)
{
	(void)arg;
	if (shown)
		fputs("\r\033[K", stderr);
	if (running)
		sigaction(SIGINT, &before, NULL);
	running = shown = false;
}

const struct debug_watch fetch_progress = {.progress = on_progress, .done = on_done};
