/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time and memory of the conversion of a file's unwind tables, without and with the analysis of
 * code that no table covers: one line for each file.
 *
 *   convert_cost FILE...
 *
 * Each conversion runs in a process of its own. CPU time is the least of ROUNDS; memory is what the
 * process takes beyond an empty one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_table_pack.h"

#define ROUNDS 3

struct cost {
	double ms, megabytes;
	u32 rows, rules, chunks;
	bool is_partial;
	int result;
};

static double cpu_ms(const struct rusage *usage)
{
	return 1e3 * (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       1e-3 * (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Runs in a child. With a NULL path it gives the cost of an empty process. */
static struct cost convert(const char *path, bool is_analysed)
{
	struct code_rows rows = {};
	struct file_table table = {};
	struct cost cost = {};
	struct rusage before, after;
	int file;

	getrusage(RUSAGE_SELF, &before);
	if (path) {
		file = open(path, O_RDONLY | O_CLOEXEC);
		cost.result = is_analysed ? code_rows_read(file, &rows)
					  : code_rows_read_unanalysed(file, &rows);
		cost.result = cost.result ?: file_table_pack(&rows, &table);
	}
	getrusage(RUSAGE_SELF, &after);
	cost.ms = cpu_ms(&after) - cpu_ms(&before);
	cost.megabytes = after.ru_maxrss / 1024.0;
	cost.rows = rows.count;
	cost.rules = rows.rule_count;
	cost.chunks = table.count;
	cost.is_partial = rows.is_partial;
	return cost;
}

static struct cost measure(const char *path, bool is_analysed)
{
	struct cost cost = {.result = -1};
	int pipes[2];

	if (pipe(pipes))
		return cost;
	fflush(stdout);
	if (!fork()) {
		struct cost found = convert(path, is_analysed);

		_exit(write(pipes[1], &found, sizeof(found)) != sizeof(found));
	}
	close(pipes[1]);
	if (read(pipes[0], &cost, sizeof(cost)) != sizeof(cost))
		cost.result = -1;
	close(pipes[0]);
	wait(NULL);
	return cost;
}

static struct cost least(const char *path, bool is_analysed)
{
	struct cost best = measure(path, is_analysed);

	for (u32 i = 1; i < ROUNDS; i++) {
		struct cost cost = measure(path, is_analysed);

		if (cost.ms < best.ms)
			best = cost;
	}
	return best;
}

int main(int count, char **paths)
{
	double empty = measure(NULL, false).megabytes, all[2] = {};

	if (count < 2) {
		fprintf(stderr, "usage: convert_cost FILE...\n");
		return 2;
	}
	printf("%-32s %8s %8s %8s %6s %8s | %8s %8s %6s %8s\n", "file", "MB", "tables", "rows",
	       "MB", "chunks", "analysed", "rows", "MB", "chunks");
	for (int i = 1; i < count; i++) {
		const char *name = strrchr(paths[i], '/');
		struct cost tables = least(paths[i], false), code = {};
		struct stat file = {};

		stat(paths[i], &file);
		if (tables.is_partial)
			code = least(paths[i], true);
		all[0] += tables.ms;
		all[1] += code.ms;
		printf("%-32.32s %8.2f %5.1f ms %8u %6.1f %8u |", name ? name + 1 : paths[i],
		       file.st_size / 1e6, tables.ms, tables.rows, tables.megabytes - empty,
		       tables.chunks);
		if (tables.is_partial)
			printf(" %5.1f ms %8u %6.1f %8u", code.ms, code.rows,
			       code.megabytes - empty, code.chunks);
		printf("%s\n", tables.result || code.result ? " failed" : "");
	}
	printf("all: %.0f ms tables, %.0f ms analyses\n", all[0], all[1]);
	return 0;
}
