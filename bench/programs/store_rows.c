/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cost of a window of events on its way to a store. Each recording is a window of 10 s; batches
 * have 12 windows. Prints CPU time and compressed bytes of each part.
 *
 *   stackmap record -a -F 97 --rotate 10s -o window.data     for some minutes
 *   store_rows window.data.0*
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zstd.h>

#include "store/rows/window_rows.h"

#define WINDOWS 12
#define SECONDS 10

struct sums {
	double open, add, take, compress;
	u64 events, windows;
	u64 bytes[STORE_TABLE_COUNT], compressed[STORE_TABLE_COUNT], rows[STORE_TABLE_COUNT];
};

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static struct task_service service_of(void *arg, const char *cgroup, bool is_kernel)
{
	(void)arg;
	return (struct task_service){is_kernel ? "kernel" : cgroup, ""};
}

static size_t compress(const struct byte_buffer *body)
{
	size_t room = ZSTD_compressBound(body->used);
	void *to = malloc(room);
	size_t bytes = ZSTD_compress(to, room, body->data, body->used, 1);

	free(to);
	return ZSTD_isError(bytes) ? 0 : bytes;
}

static void take_batch(struct window_rows *rows, struct sums *sums)
{
	double before = cpu_seconds();
	struct batch batch;

	if (window_rows_take(rows, &batch))
		fail("no memory");
	sums->take += cpu_seconds() - before;
	before = cpu_seconds();
	for (u32 i = 0; i < STORE_TABLE_COUNT; i++) {
		sums->rows[i] += batch.row_count[i];
		sums->bytes[i] += batch.rows[i].used;
		sums->compressed[i] += batch.rows[i].used ? compress(&batch.rows[i]) : 0;
	}
	sums->compress += cpu_seconds() - before;
	for (u32 i = 0; i < batch.window_count; i++)
		sums->events += batch.windows[i].recorded;
	batch_clear(&batch);
}

static void add_window(struct window_rows *rows, const char *path, struct sums *sums)
{
	const struct window_time time = {1700000000 + SECONDS * sums->windows, SECONDS, 0};
	struct stackmap_error error;
	struct trace_reader *reader;
	double before = cpu_seconds();

	if (trace_reader_open(path, &reader, &error))
		fail(error.message);
	sums->open += cpu_seconds() - before;
	before = cpu_seconds();
	if (window_rows_add(rows, reader, &time, &error))
		fail(error.message);
	sums->add += cpu_seconds() - before;
	trace_reader_close(&reader);
	if (++sums->windows % WINDOWS == 0)
		take_batch(rows, sums);
}

static void print(const struct sums *sums)
{
	double hours = sums->windows * SECONDS / 3600.0;

	printf("%llu windows, %llu events: %.0f an hour\n", (unsigned long long)sums->windows,
	       (unsigned long long)sums->events, sums->events / hours);
	printf("CPU seconds an hour: open %.3f, rows %.3f, batch %.3f, zstd %.3f\n",
	       sums->open / hours, sums->add / hours, sums->take / hours, sums->compress / hours);
	printf("nanoseconds an event: open %.0f, rows %.0f, batch %.0f, zstd %.0f\n",
	       1e9 * sums->open / sums->events, 1e9 * sums->add / sums->events,
	       1e9 * sums->take / sums->events, 1e9 * sums->compress / sums->events);
	for (u32 i = 1; i < STORE_TABLE_COUNT; i++)
		printf("%-8s %8llu rows, %9llu bytes, %9llu zstd-1\n", store_table_name(i),
		       (unsigned long long)sums->rows[i], (unsigned long long)sums->bytes[i],
		       (unsigned long long)sums->compressed[i]);
}

int main(int argc, char **argv)
{
	const struct window_rows_options options = {
		.host = "host", .boot = "boot", .memory = 64 << 20, .service_of = service_of};
	struct sums sums = {};
	struct window_rows *rows;

	if (window_rows_create(&options, &rows))
		fail("no memory");
	for (int i = 1; i < argc; i++)
		add_window(rows, argv[i], &sums);
	if (window_rows_window_count(rows))
		take_batch(rows, &sums);
	print(&sums);
	window_rows_free(&rows);
	return 0;
}
