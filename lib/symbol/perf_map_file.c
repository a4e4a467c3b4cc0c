/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel says of a living process when it began, in ticks on the clock that counts suspended
 * time too; so times are compared as far as that goes. A process that has ended had our own user or
 * root, as far as is known.
 *
 * Symbolic links are not followed: a link would make us read, and show as names, what its maker may
 * not read.
 */
#include "perf_map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ULL
#define SLACK (2 * SECOND) /* file systems round times */

struct process {
	u32 user;
	u32 inner_id; /* its id in its own pid namespace */
};

static u64 now(clockid_t clock)
{
	struct timespec time = {};

	clock_gettime(clock, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static FILE *open_of_process(u32 tgid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", tgid, name);
	return fopen(path, "re");
}

/* Field 22 of /proc/PID/stat; the name before it may hold anything. */
static bool read_start(u32 tgid, u64 *ticks)
{
	FILE *file = open_of_process(tgid, "stat");
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
static bool is_alive(u32 tgid, u64 since)
{
	u64 suspended = now(CLOCK_BOOTTIME) - now(CLOCK_MONOTONIC);
	u64 tick = SECOND / sysconf(_SC_CLK_TCK), ticks;

	return read_start(tgid, &ticks) && (ticks + 1) * tick >= since &&
	       ticks * tick <= since + suspended;
}

/* The last word of a line of numbers. */
static u32 last_number(const char *line)
{
	const char *blank = strrchr(line, '\t');
	unsigned int number = 0;

	return blank && sscanf(blank, "%u", &number) == 1 ? number : 0;
}

static bool read_process(u32 tgid, struct process *process)
{
	FILE *file = open_of_process(tgid, "status");
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

static bool is_trusted(const struct stat *status, u32 user, u64 since)
{
	u64 began = now(CLOCK_REALTIME) - (now(CLOCK_MONOTONIC) - since);
	u64 written = status->st_mtim.tv_sec * SECOND + status->st_mtim.tv_nsec;

	return S_ISREG(status->st_mode) && status->st_nlink == 1 &&
	       (status->st_uid == user || !status->st_uid) && written + SLACK >= began;
}

/* Nothing but a regular file is opened for reading. Takes over `place`. */
static int open_if_trusted(int place, u32 user, u64 since)
{
	struct stat status;
	char path[64];
	int fd = -1;

	if (place < 0)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	if (!fstat(place, &status) && is_trusted(&status, user, since))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	close(place);
	return fd < 0 ? -ENOENT : fd;
}

static int walk_below(const char *root, u32 id)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
	};
	int base = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), place;
	char path[64];

	if (base < 0)
		return -ENOENT;
	snprintf(path, sizeof(path), "tmp/perf-%u.map", id);
	place = syscall(SYS_openat2, base, path, &how, sizeof(how));
	close(base);
	return place;
}

int perf_map_open(u32 tgid, u64 since)
{
	struct process process;
	char root[64];

	if (!is_alive(tgid, since) || !read_process(tgid, &process))
		return open_if_trusted(walk_below("/", tgid), getuid(), since);
	snprintf(root, sizeof(root), "/proc/%u/root", tgid);
	return open_if_trusted(walk_below(root, process.inner_id), process.user, since);
}
