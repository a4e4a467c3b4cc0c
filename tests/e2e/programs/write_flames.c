/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes recordings for the flame graph's page:
 * write_flames SEED FUNCTIONS EVENTS FILE [FOLDER [THREADS [LOST]]].
 * The program is in /usr/bin or in FOLDER. Stacks share their outer half as those of real programs
 * do, and end in different functions; everything follows from the seed. Some names are HTML and
 * script that the page must escape.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/write/writer.h"

#define SECOND 1000000000ULL
#define OUTER 20	     /* shared frames of a stack */
#define INNER 10	     /* its other frames */
#define FUNCTION_BYTES 64ULL /* code of each function */
#define SHARED_FUNCTIONS 512
#define TWIN 64 /* of so many functions, two have one name, in two files */
#define THREADS 6
#define CPUS 4

static const char *const hostile[] = {
	"</script><img src=x onerror=\"document.title='fallen'\">",
	"<!--<script>",
	"&lt;b&gt;\"'`${1}",
	"line\nbreak\033[31m\xff\xe2\x80\xae",
	"__proto__",
	"std::map<int, std::less<int> >::operator[](int&&)",
	"inner(int) (inlined)", /* the form of inlined functions */
};
#define HOSTILE (sizeof(hostile) / sizeof(*hostile))

static const struct trace_info info = {
	.start_realtime = 1700000000 * SECOND,
	.start_monotonic = 1000 * SECOND,
	.cpus = CPUS,
	.bits = 14,
	.address_shown = 1,
	.hostname = "<host>",
	.kernel = "6.1.0",
	.machine = "x86_64",
	.command = "stackmap record -- sh -c '</script><b>'\ntrue\033'",
	.version = "0.1.0",
};

static const struct trace_source sources[] = {
	{.name = "cpu-clock", .value_unit = ""},
	{.name = "off-cpu", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"},
};

static u64 state;
static u32 threads = THREADS;

/* Knuth's linear congruential generator; the upper bits are good. */
static u32 random_below(u32 bound)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)((state >> 33) % bound);
}

static u64 code_of(u32 function)
{
	return FRAME_USER(function % 2 + 1, 0x1000 + FUNCTION_BYTES * function + 8);
}

static int write_symbols(struct trace_writer *writer, u32 functions)
{
	char name[64];
	int err = 0;

	for (u32 i = 0; i < SHARED_FUNCTIONS + functions && !err; i++) {
		struct trace_symbol symbol = {
			.mapping = i % 2 + 1,
			.start = 0x1000 + FUNCTION_BYTES * i,
			.size = FUNCTION_BYTES,
			.name = name,
		};

		snprintf(name, sizeof(name), i % TWIN / 2 == 10 ? "twin" : "function_%u", i);
		if (i >= SHARED_FUNCTIONS && i - SHARED_FUNCTIONS < HOSTILE)
			symbol.name = hostile[i - SHARED_FUNCTIONS];
		err = trace_writer_symbol(writer, &symbol);
	}
	return err;
}

static int write_names(struct trace_writer *writer, const char *folder, u32 functions)
{
	char path[256];
	const struct trace_mapping mappings[] = {
		{.number = 1, .kind = MAPPING_FILE, .path = path},
		{.number = 2, .kind = MAPPING_FILE, .path = "/usr/lib/</script>.so"},
	};
	struct trace_task task = {.comm = "worker"};
	int err = 0;

	snprintf(path, sizeof(path), "%s/program", folder);
	for (u32 i = 0; i < 2; i++)
		err = err ?: trace_writer_source(writer, &sources[i])
				?: trace_writer_mapping(writer, &mappings[i]);
	for (u32 i = 0; i < threads; i++) {
		task.tid = 100 + i;
		task.tgid = 100 + i % 2;
		err = err ?: trace_writer_task(writer, &task);
	}
	strcpy(task.comm, "</script><b>");
	task.tid = task.tgid = 99;
	return err ?: trace_writer_task(writer, &task) ?: write_symbols(writer, functions);
}

/* In a row of 2^k stacks, two neighbours share one frame more than each group of four. */
static int write_stack(struct trace_writer *writer, u32 number)
{
	u64 frames[INNER + OUTER];
	struct trace_stack stack = {.flags = STACK_USER, .depth = INNER + OUTER, .frames = frames};
	u32 index;

	for (u32 i = 0; i < INNER; i++)
		frames[INNER - 1 - i] = code_of(SHARED_FUNCTIONS + number * INNER + i);
	for (u32 i = 0; i < OUTER; i++)
		frames[INNER + i] = code_of((number >> (i + 1)) * 31 % SHARED_FUNCTIONS);
	return trace_writer_stack(writer, &stack, &index);
}

#define EVERY_NS 1000003ULL

/* The last event is a wait of half the recording. */
static int write_event(struct trace_writer *writer, u32 number, u32 events, u32 stacks)
{
	bool is_last = number + 1 == events;
	u32 kind = is_last ? 1 : random_below(2);
	struct trace_event event = {
		.time = 1001 * SECOND + number * EVERY_NS,
		.value = kind ? random_below(1000000) : 0,
		.kind = (u16)kind,
		.cpu = (u16)random_below(CPUS),
		.tid = random_below(10) ? 100 + random_below(threads) : 99,
		.user = random_below(2) ? random_below(stacks) : random_below(4) % stacks,
		.kernel = TRACE_NO_STACK,
		.kernel_reason = REASON_NO_FRAMES,
	};

	if (is_last)
		event.value = events * EVERY_NS / 2;
	return trace_writer_event(writer, &event);
}

/* `lost` more events are in the ledger only. */
static int write_all(struct trace_writer *writer, const char *folder, u32 functions, u32 events,
		     u32 lost)
{
	const struct trace_ledger ledger = {
		.produced = events + lost,
		.recorded = events,
		.lost = {[LOST_RING_FULL] = lost},
		.user_stops = {[STOP_ROOT] = events - 1, [STOP_NO_RULE] = 1},
	};
	u32 stacks = functions / INNER;
	int err = write_names(writer, folder, functions);

	for (u32 i = 0; i < stacks && !err; i++)
		err = write_stack(writer, i);
	for (u32 i = 0; i < events && !err; i++)
		err = write_event(writer, i, events, stacks);
	return err ?: trace_writer_ledger(writer, &ledger, NULL, 0);
}

int main(int argc, char **argv)
{
	struct trace_writer *writer;
	u32 lost;
	int err;

	if (argc < 5 || argc > 8)
		return 2;
	state = strtoull(argv[1], NULL, 10);
	threads = argc > 6 ? (u32)strtoul(argv[6], NULL, 10) : threads;
	lost = argc > 7 ? (u32)strtoul(argv[7], NULL, 10) : 0;
	err = trace_writer_create(argv[4], &info, &writer, NULL);
	if (!err)
		err = write_all(writer, argv[5] ?: "/usr/bin", (u32)strtoul(argv[2], NULL, 10),
				(u32)strtoul(argv[3], NULL, 10), lost);
	if (err || trace_writer_close(&writer)) {
		fprintf(stderr, "write_flames: %s\n", strerror(-err));
		return 1;
	}
	return 0;
}
