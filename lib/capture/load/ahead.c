/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where no thread can be had, it is done at the end. */
#include "capture/load/ahead.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/load/text_ranges.h"

/* The kernel's first event of a task waits until all CPUs switch tasks in another way, and that
 * lasts for a second after the last one. Whether it can be opened is found out later. */
static void open_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	int event = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (event >= 0)
		close(event);
}

/* If kallsyms cannot be read the table stays empty, as where addresses are hidden. */
static int read_text(struct ahead *ahead)
{
	int result;

	ahead->text = calloc(1, sizeof(*ahead->text));
	result = ahead->text ? text_ranges_read(ahead->text, &ahead->copy) : -ENOMEM;
	return result == -ENOMEM ? result : 0;
}

static void *run(void *arg)
{
	struct ahead *ahead = arg;

	if (ahead->opens_event)
		open_event();
	if (ahead->reads_text)
		ahead->result = read_text(ahead);
	return NULL;
}

void ahead_begin(struct ahead *ahead)
{
	ahead->copy = (struct kernel_copy){-1, -1};
	if (ahead->reads_text || ahead->opens_event)
		ahead->has_thread = !pthread_create(&ahead->thread, NULL, run, ahead);
}

static void finish(struct ahead *ahead)
{
	if (ahead->has_thread)
		pthread_join(ahead->thread, NULL);
	else if (!ahead->is_done)
		run(ahead);
	ahead->has_thread = false;
	ahead->is_done = true;
}

int ahead_take_text(struct ahead *ahead, struct kernel_text *text)
{
	finish(ahead);
	if (!ahead->result)
		memcpy(text, ahead->text, sizeof(*text));
	return ahead->result;
}

struct kernel_copy ahead_take_copy(struct ahead *ahead)
{
	struct kernel_copy copy = ahead->copy;

	ahead->copy = (struct kernel_copy){-1, -1};
	return copy;
}

void ahead_end(struct ahead *ahead)
{
	if (ahead->has_thread)
		pthread_join(ahead->thread, NULL);
	if (ahead->text)
		kernel_copy_close(&ahead->copy);
	free(ahead->text);
	*ahead = (struct ahead){};
}
