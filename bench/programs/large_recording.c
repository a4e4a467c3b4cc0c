/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a recording of the size of hours of tracing, to measure the commands that read. Two of
 * three events are samples, each with a different pc in one of many functions; the others are task
 * switches with a value. The events are of several hundred threads on eight CPUs, and some threads
 * change their name. Stacks are built call by call, so they share outer frames as real stacks do.
 *
 * large_recording FILE [EVENTS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording.h"
#include "trace/write/writer.h"

#define CPUS 8
#define THREADS 600
#define RENAMES 4 /* renames of each thread */
#define KERNEL_STACKS 6000
#define USER_STACKS 30000
#define KERNEL_DEPTH 14
#define USER_DEPTH 28
#define MAPPINGS 60
#define KERNEL_FUNCTIONS 4000
#define USER_FUNCTIONS 500 /* functions of each mapping */
#define FUNCTION_BYTES 256
#define CALLEES 6 /* functions that the innermost function of a stack calls */
#define EVENTS_DEFAULT 10000000
#define KERNEL_START 0xffffffff81000000ULL

enum { SAMPLE, SWITCH, SOURCES };

struct load {
	struct random random;
	struct trace_writer *writer;
	u32 kernel[KERNEL_STACKS], user[USER_STACKS];
	u64 time[CPUS];
};

/* A random number in which small values are far more likely: a few functions, stacks and threads
 * are hot. */
static u32 skewed(struct load *load, u32 limit)
{
	u64 first = random_below(&load->random, limit), second = random_below(&load->random, limit);
	u64 third = random_below(&load->random, limit);

	return (u32)(first * second / limit * third / limit);
}

static u64 kernel_pc(struct load *load)
{
	return KERNEL_START + (u64)skewed(load, KERNEL_FUNCTIONS) * FUNCTION_BYTES +
	       4 * (u64)skewed(load, FUNCTION_BYTES / 4);
}

static u64 user_pc(struct load *load)
{
	return FRAME_USER(1 + skewed(load, MAPPINGS),
			  (u64)skewed(load, USER_FUNCTIONS) * FUNCTION_BYTES +
				  4 * (u64)skewed(load, FUNCTION_BYTES / 4));
}

static int put_symbols(struct load *load, u32 mapping, u64 start, u32 count)
{
	char name[64];
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		struct trace_symbol symbol = {.mapping = mapping,
					      .start = start + (u64)i * FUNCTION_BYTES,
					      .size = FUNCTION_BYTES,
					      .name = name};

		snprintf(name, sizeof(name), "_ZN7library%u8functionILi%uEEEvi", mapping, i);
		err = trace_writer_symbol(load->writer, &symbol);
	}
	return err;
}

static int put_code(struct load *load)
{
	struct trace_module kernel = {.name = "vmlinux",
				      .start = KERNEL_START,
				      .end = KERNEL_START + (u64)KERNEL_FUNCTIONS * FUNCTION_BYTES};
	int err = trace_writer_module(load->writer, &kernel);
	char path[64];

	err = err ?: put_symbols(load, 0, KERNEL_START, KERNEL_FUNCTIONS);
	for (u32 i = 1; i <= MAPPINGS && !err; i++) {
		struct trace_mapping mapping = {
			.number = i, .kind = MAPPING_FILE, .tgid = 1, .path = path};

		snprintf(path, sizeof(path), "/usr/lib/liblarge%u.so", i);
		err = trace_writer_mapping(load->writer, &mapping);
		err = err ?: put_symbols(load, i, 0, USER_FUNCTIONS);
	}
	return err;
}

/* Each stack shares its outer half with the stack before. */
static int put_stacks(struct load *load, u32 *index, u32 count, u32 depth, bool user)
{
	u64 frames[USER_DEPTH] = {0};
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		struct trace_stack stack = {.id = i + 1,
					    .flags = user ? STACK_USER : 0,
					    .generation = 1,
					    .depth = depth,
					    .frames = frames};

		for (u32 f = 0; f < (i % 16 ? depth / 2 : depth); f++)
			frames[f] = user ? user_pc(load) : kernel_pc(load);
		err = trace_writer_stack(load->writer, &stack, &index[i]);
	}
	return err;
}

static int put_definitions(struct load *load)
{
	static const struct trace_source sources[SOURCES] = {
		[SAMPLE] = {.name = "cpu-clock", .extras = TRACE_EXTRA_LEAF, .value_unit = ""},
		[SWITCH] = {.name = "off-cpu", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"},
	};
	int err = 0;

	for (u32 i = 0; i < SOURCES && !err; i++)
		err = trace_writer_source(load->writer, &sources[i]);
	for (u32 i = 0; i < THREADS * RENAMES && !err; i++) {
		struct trace_task task = {.time = (u64)(i / THREADS) * 1000000000,
					  .tid = 1000 + i % THREADS,
					  .tgid = 1000 + i % THREADS / 4};

		snprintf(task.comm, sizeof(task.comm), "worker-%u", i % 40);
		err = trace_writer_task(load->writer, &task);
	}
	err = err ?: put_code(load);
	err = err ?: put_stacks(load, load->kernel, KERNEL_STACKS, KERNEL_DEPTH, false);
	return err ?: put_stacks(load, load->user, USER_STACKS, USER_DEPTH, true);
}

/* The leaf is one of the few functions that the innermost function calls. */
static u64 leaf_of(struct load *load, u32 choice, bool in_kernel)
{
	u32 function = choice * 7 + skewed(load, CALLEES);
	u64 pc = 4 * (u64)skewed(load, FUNCTION_BYTES / 4);

	if (in_kernel)
		return KERNEL_START + (u64)(function % KERNEL_FUNCTIONS) * FUNCTION_BYTES + pc;
	return FRAME_USER(1 + choice % MAPPINGS,
			  (u64)(function % USER_FUNCTIONS) * FUNCTION_BYTES + pc);
}

/* Each thread has its usual stacks: the thread's number chooses among them. */
static struct trace_event next_event(struct load *load, u32 i)
{
	u32 thread = skewed(load, THREADS);
	u16 cpu = (u16)(i % CPUS), kind = i % 3 ? SAMPLE : SWITCH;
	u32 choice = thread * 31 + skewed(load, 60);
	bool in_kernel = kind == SWITCH || choice % 3 == 0;
	struct trace_event event = {
		.tid = 1000 + thread,
		.cpu = cpu,
		.kind = kind,
		.kernel = in_kernel ? load->kernel[choice % KERNEL_STACKS] : TRACE_NO_STACK,
		.kernel_reason = REASON_NO_FRAMES,
		.user = load->user[choice % USER_STACKS],
	};

	load->time[cpu] += 100 + random_below(&load->random, 4000);
	event.time = load->time[cpu];
	if (kind == SAMPLE)
		event.leaf = leaf_of(load, choice, in_kernel);
	else
		event.value = random_below(&load->random, 10000000);
	return event;
}

static int put_events(struct load *load, u32 count)
{
	struct trace_ledger ledger = {.produced = count, .recorded = count};
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		struct trace_event event = next_event(load, i);

		err = trace_writer_event(load->writer, &event);
	}
	return err ?: trace_writer_ledger(load->writer, &ledger, NULL, 0);
}

static int write_recording(struct load *load, const char *path, u32 events)
{
	static const struct trace_info info = {.cpus = CPUS,
					       .bits = 16,
					       .frequency = 999,
					       .address_shown = 1,
					       .hostname = "large",
					       .kernel = "6.1.0",
					       .machine = "x86_64",
					       .command = "large_recording",
					       .version = "0"};
	struct stackmap_error error;
	int err = trace_writer_create(path, &info, &load->writer, &error);
	int closed;

	if (err) {
		fprintf(stderr, "%s\n", error.message);
		return err;
	}
	err = put_definitions(load);
	err = err ?: put_events(load, events);
	closed = trace_writer_close(&load->writer);
	return err ?: closed;
}

int main(int argc, char **argv)
{
	static struct load load = {.random = {.state = 1}};
	u32 events = argc > 2 ? (u32)strtoul(argv[2], NULL, 0) : EVENTS_DEFAULT;
	int err;

	if (argc < 2 || !events)
		return 2;
	err = write_recording(&load, argv[1], events);
	if (err)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-err));
	return err ? 1 : 0;
}
