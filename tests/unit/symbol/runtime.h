/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes this process, or a child, look like one that generates code. */
#ifndef TESTS_UNIT_SYMBOL_RUNTIME_H
#define TESTS_UNIT_SYMBOL_RUNTIME_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbol/jit/runtime_files.h"
#include "unit_test.h"

static inline u64 monotonic(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* The start time of a process by /proc, rounded up to the next tick. */
static inline u64 start_of(u32 tgid)
{
	unsigned long long tick = 1000000000ULL / sysconf(_SC_CLK_TCK), ticks;
	FILE *file = runtime_process_open(tgid, "stat");
	struct timespec boot;

	assert_non_null(file);
	assert_int_equal(fscanf(file,
				"%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u "
				"%*d %*d %*d %*d %*d %*d %llu",
				&ticks),
			 1);
	fclose(file);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return ticks * tick + tick / 2 - (boot.tv_sec * 1000000000ULL + boot.tv_nsec - monotonic());
}

static inline struct runtime_process process_of(u32 tgid)
{
	struct runtime_process process = {.tgid = tgid, .since = start_of(tgid)};

	assert_true(runtime_process_read(&process));
	return process;
}

static inline void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Maps the beginning of a file until the process ends. */
static inline void map_as(const char *path, int protection)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(file >= 0);
	assert_ptr_not_equal(mmap(NULL, 1, protection, MAP_PRIVATE, file, 0), MAP_FAILED);
	close(file);
}

static inline void make_old(const char *path)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= 3600;
	times[0] = times[1];
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Asserts that the content of an open file begins with `text`, and closes the file. */
static inline void assert_begins(int fd, const char *text)
{
	char bytes[64] = "";

	assert_true(fd >= 0);
	assert_true(pread(fd, bytes, sizeof(bytes) - 1, 0) >= 0);
	bytes[strlen(text)] = 0;
	assert_string_equal(bytes, text);
	close(fd);
}

#endif
