/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel says of a living process when it began, in ticks on the clock that counts suspended
 * time too; so times are compared as far as that goes.
 */
#include "runtime_process.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define SECOND 1000000000ULL
#define SLACK (2 * SECOND) /* file systems round times */

FILE *runtime_process_open(u32 tgid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", tgid, name);
	return fopen(path, "re");
}

/* Field 22 of /proc/PID/stat; the name before it may hold anything. */
static bool read_start(u32 tgid, u64 *ticks)
{
	FILE *file = runtime_process_open(tgid, "stat");
	unsigned long long start;
	char text[1024];
	const char *name_end;
	size_t bytes;

	if (!file)
		return false;
	bytes = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[bytes] = 0;
	name_end = strrchr(text, ')');
	if (!name_end || sscanf(name_end,
				") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
				"%*d %*d %*d %llu",
				&start) != 1)
		return false;
	*ticks = start;
	return true;
}

/* Whether the process of this id is the one that began then. */
static bool is_alive(struct runtime_process *process)
{
	u64 suspended = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
	u64 tick = SECOND / sysconf(_SC_CLK_TCK), ticks;

	if (!read_start(process->tgid, &ticks) || (ticks + 1) * tick < process->since ||
	    ticks * tick > process->since + suspended)
		return false;
	process->began = ticks * tick;
	return true;
}

/* The last word of a line of numbers. */
static u32 last_number(const char *line)
{
	const char *blank = strrchr(line, '\t');
	unsigned int number = 0;

	return blank && sscanf(blank, "%u", &number) == 1 ? number : 0;
}

bool runtime_process_read(struct runtime_process *process)
{
	FILE *file = is_alive(process) ? runtime_process_open(process->tgid, "status") : NULL;
	bool has_user = false;
	char line[512];

	if (!file)
		return false;
	process->inner_id = 0;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "NSpid:", 6))
			process->inner_id = last_number(line);
		else if (sscanf(line, "Uid: %*u %u", &process->user) == 1)
			has_user = true;
	}
	fclose(file);
	return has_user && process->inner_id;
}

static u64 age(const struct runtime_process *process)
{
	return process->began ? clock_ns(CLOCK_BOOTTIME) - process->began
			      : clock_ns(CLOCK_MONOTONIC) - process->since;
}

bool runtime_process_wrote(const struct runtime_process *process, const struct stat *status)
{
	u64 began = clock_ns(CLOCK_REALTIME) - age(process);
	u64 written = status->st_mtim.tv_sec * SECOND + status->st_mtim.tv_nsec;

	return S_ISREG(status->st_mode) && (status->st_uid == process->user || !status->st_uid) &&
	       written + SLACK >= began;
}
