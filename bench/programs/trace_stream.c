/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Speed and size of the trace file for events like those of sched_switch: a few dozen threads on
 * some CPUs, each with its own few stacks, mostly in recurring patterns, 1 to 3 us apart.
 *
 * trace_stream EVENTS [FLUSH_MS]: writes them, reads them back, prints bytes and CPU time per event
 * and the peak memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "recording.h"
#include "trace/read/reader.h"

#define CPUS 4
#define THREADS 40
#define STACKS 120
#define DEPTH 12

struct load {
	struct random random;
	u32 stacks[STACKS];
	u32 thread[CPUS];
	u64 time[CPUS];
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int define(struct load *load, struct trace_writer *writer)
{
	struct trace_source source = {.name = "sched:sched_switch"};
	u64 frames[DEPTH];
	int err = trace_writer_source(writer, &source);

	for (u32 i = 0; i < STACKS && !err; i++) {
		struct trace_stack stack = {.id = (u32)random_next(&load->random) | 1,
					    .generation = 1,
					    .depth = DEPTH,
					    .frames = frames};

		for (u32 f = 0; f < DEPTH; f++)
			frames[f] = FRAME_NARROW_TOP | random_below(&load->random, 1 << 24) | 1;
		err = trace_writer_stack(writer, &stack, &load->stacks[i]);
	}
	return err;
}

/* In three of four cases the next event is of the thread's usual successor, with its usual stack.
 */
static struct trace_event next_event(struct load *load, u32 i)
{
	u32 cpu = i % CPUS;
	bool usual = random_below(&load->random, 4);
	u32 thread = usual ? (load->thread[cpu] * 7 + 1) % THREADS
			   : (u32)random_below(&load->random, THREADS);

	load->thread[cpu] = thread;
	load->time[cpu] += 1000 + random_below(&load->random, 2000);
	return (struct trace_event){
		.time = load->time[cpu],
		.tid = 1000 + thread,
		.cpu = (u16)cpu,
		.kernel = load->stacks[usual ? thread : thread + THREADS],
		.user = load->stacks[thread + 2 * THREADS],
	};
}

static int write_events(struct load *load, struct trace_writer *writer, u32 count, u64 flush_ns)
{
	u64 flushed = 0;
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		struct trace_event event = next_event(load, i);

		err = trace_writer_event(writer, &event);
		if (!err && flush_ns && event.time - flushed > flush_ns) {
			flushed = event.time;
			err = trace_writer_flush(writer);
		}
	}
	return err;
}

static int write_recording(const char *path, u32 count, u64 flush_ns)
{
	static const struct trace_info info = {.cpus = CPUS};
	struct load load = {.random = {.state = 1}};
	struct trace_writer *writer;
	int err = trace_writer_create(path, &info, &writer, NULL);
	int closed;

	if (err)
		return err;
	err = define(&load, writer);
	if (!err)
		err = write_events(&load, writer, count, flush_ns);
	closed = trace_writer_close(&writer);
	return err ? err : closed;
}

static int count_event(void *arg, const struct trace_event *event)
{
	(void)event;
	++*(u32 *)arg;
	return 0;
}

static int read_recording(const char *path, u32 *count)
{
	struct trace_reader *reader;
	int err = trace_reader_open(path, &reader, NULL);

	if (err)
		return err;
	err = trace_reader_events(reader, count_event, count, NULL);
	trace_reader_close(&reader);
	return err;
}

static long file_bytes(const char *path)
{
	FILE *file = fopen(path, "re");
	long bytes = -1;

	if (file && !fseek(file, 0, SEEK_END))
		bytes = ftell(file);
	if (file)
		fclose(file);
	return bytes;
}

static int measure(const char *path, u32 count, u64 flush_ns)
{
	double start = cpu_seconds(), written, read;
	struct rusage usage;
	u32 got = 0;

	if (write_recording(path, count, flush_ns))
		return 1;
	written = cpu_seconds();
	if (read_recording(path, &got) || got != count)
		return 1;
	read = cpu_seconds();
	getrusage(RUSAGE_SELF, &usage);
	printf("events %u  bytes/event %.3f  write ns/event %.1f  read ns/event %.1f  peak MiB "
	       "%ld\n",
	       count, (double)file_bytes(path) / count, (written - start) / count * 1e9,
	       (read - written) / count * 1e9, usage.ru_maxrss >> 10);
	return 0;
}

int main(int argc, char **argv)
{
	u32 count = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 1000000;
	u64 flush_ns = argc > 2 ? strtoull(argv[2], NULL, 0) * 1000000 : 0;
	char path[] = "/tmp/stackmap-stream-XXXXXX";
	char old[sizeof(path) + 4];
	int fd = mkstemp(path);
	int failed;

	if (!count || fd < 0)
		return 2;
	close(fd);
	failed = measure(path, count, flush_ns);
	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
	unlink(path);
	return failed;
}
