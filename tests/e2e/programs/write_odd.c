/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes complete recordings with hardly any content: write_odd KIND FILE [SECONDS]. Views divide
 * by sums and draw events: these recordings have sums of 0, or no events. SECONDS moves the start
 * of the machine. The kinds `two*` have a second source, and lost events of the first one; whose
 * these were is known or not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/write/writer.h"

#define EVENTS 3
#define SECOND 1000000000ULL

static struct trace_info info = {
	.start_realtime = 1700000000 * SECOND,
	.start_monotonic = 1000 * SECOND,
	.cpus = 1,
	.bits = 14,
	.hostname = "",
	.kernel = "",
	.machine = "",
	.command = "",
	.version = "",
};

struct kind {
	const char *name;
	const struct trace_source *source; /* NULL: the recording has no source */
	u32 events;
	u64 lost, value;
	bool has_kernel, has_ledger;
	u32 others; /* events of the source "even" */
	bool has_losses;
};

static const struct trace_source plain = {.name = "odd", .value_unit = ""};
static const struct trace_source even = {.name = "even", .value_unit = ""};
static const struct trace_source valued = {
	.name = "odd", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"};

static const struct kind kinds[] = {
	{"nothing", NULL, 0, 0, 0, false, false},
	{"no-events", &plain, 0, 0, 0, false, true},
	{"only-lost", &plain, 0, 1000, 0, false, true},
	{"no-stacks", &plain, EVENTS, 0, 0, false, true},
	{"only-kernel", &plain, EVENTS, 0, 0, true, true},
	{"unfinished", &plain, EVENTS, 0, 0, true, false},
	{"no-values", &valued, EVENTS, 0, 0, true, true},
	{"great-values", &valued, EVENTS, 0, 1ULL << 61, true, true},
	{"two", &plain, 30, 0, 0, true, true, 5, false},
	{"two-lost", &plain, 30, 10, 0, true, true, 5, false},
	{"two-lost-known", &plain, 30, 10, 0, true, true, 5, true},
};

/* All events have the same time, the idle task, and code without a name. */
static int write_events(struct trace_writer *writer, const struct kind *kind)
{
	static const u64 frames[] = {0xffffffff81000010, 0xffffffff81000000, ~0ULL};
	const struct trace_stack stack = {.depth = 3, .frames = frames};
	struct trace_event event = {
		.time = 1001 * SECOND,
		.value = kind->value,
		.kernel = TRACE_NO_STACK,
		.user = TRACE_NO_STACK,
		.kernel_reason = REASON_NO_FRAMES,
		.user_reason = REASON_NO_FRAMES,
	};
	int err = kind->has_kernel ? trace_writer_stack(writer, &stack, &event.kernel) : 0;

	for (u32 i = 0; i < kind->events + kind->others && !err; i++) {
		event.kind = i >= kind->events;
		err = trace_writer_event(writer, &event);
	}
	return err;
}

static int write_kind(struct trace_writer *writer, const struct kind *kind)
{
	const struct trace_ledger ledger = {
		.produced = kind->events + kind->others + kind->lost,
		.recorded = kind->events + kind->others,
		.lost = {kind->lost},
	};
	int err = kind->source ? trace_writer_source(writer, kind->source) : 0;

	if (kind->others)
		err = err ?: trace_writer_source(writer, &even);
	err = err ?: write_events(writer, kind);
	if (err || !kind->has_ledger)
		return err;
	return trace_writer_ledger(writer, &ledger, NULL, 0)
		       ?: trace_writer_losses(writer, (const u64[]){kind->lost, 0});
}

static const struct kind *find(const char *name)
{
	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct kind *kind = argc >= 3 ? find(argv[1]) : NULL;
	struct trace_writer *writer;
	int err;

	if (!kind)
		return 2;
	if (argc > 3)
		info.start_realtime += atoi(argv[3]) * SECOND;
	info.has_losses = kind->has_losses;
	err = trace_writer_create(argv[2], &info, &writer, NULL);
	if (!err) {
		err = write_kind(writer, kind);
		err = trace_writer_close(&writer) ?: err;
	}
	if (err)
		fprintf(stderr, "write_odd: %s\n", strerror(-err));
	return err != 0;
}
