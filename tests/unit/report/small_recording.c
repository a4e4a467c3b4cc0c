/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All numbers are chosen so that results can be computed by hand: three samples of one function at
 * three pcs, a return address behind the end of its function (the call is the last instruction), a
 * pc at the start of one, a truncated stack, a stack that stopped early, a stack that could not be
 * read, deferred stacks with a resolution, with a reason and with neither, code without symbols,
 * generated code, a file that is not known.
 */
#include "small_recording.h"

#include <stddef.h>
#include <unistd.h>

#include "trace/write/writer.h"

#define SECOND 1000000000ULL
#define KERNEL(offset) (0xffffffff81000000ULL + (offset))
#define MODULE(offset) (0xffffffffc0000000ULL + (offset))
#define SH(offset) FRAME_USER(1, offset)
#define LIBC(offset) FRAME_USER(2, offset)
#define JIT(offset) FRAME_USER(3, offset)
#define NOWHERE(offset) FRAME_USER(MAPPING_UNKNOWN, offset)

/* Stacks in the order of the file, where the placeholders come last. */
enum {
	STACK_SWITCH,
	STACK_WRITE,
	STACK_CALLS,
	STACK_MIXED,
	STACK_SYSCALL,
	STACK_STOPPED,
	STACKS,
	PLACEHOLDER_CALLS = STACKS,
	PLACEHOLDER_CHANGED,
	PLACEHOLDER_UNRESOLVED,
	PLACEHOLDERS_END,
};

static const struct trace_info whole = {
	.start_realtime = 1700000000 * SECOND,
	.start_monotonic = 100 * SECOND,
	.frequency = 99,
	.cpus = 2,
	.bits = 14,
	.address_shown = 1,
	.hostname = "testhost",
	.kernel = "6.1.0",
	.machine = "x86_64",
	.command = "stackmap record -F 99 -e sched:sched_switch -- sh",
	.version = "0.1.0",
};

static const struct trace_source sources[] = {
	{.name = "cpu-clock", .extras = TRACE_EXTRA_LEAF, .value_unit = ""},
	{.name = "sched:sched_switch", .extras = TRACE_EXTRA_VALUE, .value_unit = "ns"},
};

static const struct trace_module modules[] = {
	{"vmlinux", KERNEL(0), KERNEL(0x1000000), 4, {0xaa, 0xbb, 0xcc, 0xdd}},
	{"ext4", MODULE(0), MODULE(0x10000), 0, {0}},
};

static const struct trace_mapping mappings[] = {
	{.number = 1,
	 .kind = MAPPING_FILE,
	 .tgid = 100,
	 .build_id_bytes = 2,
	 .build_id = {0x12, 0x34},
	 .path = "/usr/bin/sh"},
	{.number = 2, .kind = MAPPING_FILE, .tgid = 100, .path = "/usr/lib/libc.so.6"},
	{.number = 3, .kind = MAPPING_ANON, .tgid = 200, .base = 0x7f0000000000, .path = "[anon]"},
};

static const struct trace_symbol symbols[] = {
	{0, KERNEL(0x1000), 0xc0, "schedule"},
	{0, KERNEL(0x2000), 0x100, "do_syscall_64"},
	{0, KERNEL(0x3000), 0x80, "entry_SYSCALL_64"},
	{0, MODULE(0x100), 0x40, "ext4_write"},
	{1, 0x1000, 0x100, "main"},
	{2, 0x2000, 0x50, "_ZN3foo3barEi"},
};

enum { CGROUP_SCOPE = 1, CGROUP_SERVICE, CGROUP_GONE, CGROUP_SLICE, CGROUP_SCOPE_AGAIN };

static const struct trace_cgroup cgroups[] = {
	{.id = 31, .path = "/user.slice/sh.scope"},
	{.id = 32, .path = "/system.slice/dd.service"},
	{.id = 4711, .path = ""},
	{.id = 30, .path = "/user.slice"},
	{.id = 33, .path = "/user.slice/sh.scope"},
};

/* The shell moves to another cgroup, and back to the first one, which was made again. */
static const struct trace_task tasks[] = {
	{.tid = 100, .tgid = 100, .cgroup = CGROUP_SCOPE, .comm = "sh"},
	{.tid = 200, .tgid = 200, .cgroup = CGROUP_SERVICE, .comm = "dd"},
	{.tid = 201, .tgid = 200, .cgroup = CGROUP_GONE, .comm = "dd;\033[31m"},
	{.time = 110 * SECOND, .tid = 100, .tgid = 100, .cgroup = CGROUP_SLICE, .comm = "sh"},
	{.time = 112 * SECOND, .tid = 100, .tgid = 100, .cgroup = CGROUP_SCOPE_AGAIN, .comm = "sh"},
};

static const struct trace_stack stacks[STACKS] = {
	[STACK_SWITCH] = {.id = 42,
			  .generation = 1,
			  .depth = 3,
			  .frames = (const u64[]){KERNEL(0x1048), KERNEL(0x2100), KERNEL(0x3010)}},
	[STACK_WRITE] = {.id = 43,
			 .generation = 1,
			 .flags = STACK_TRUNCATED,
			 .depth = 2,
			 .frames = (const u64[]){MODULE(0x100), KERNEL(0x2030)}},
	[STACK_CALLS] = {.id = 44,
			 .generation = 1,
			 .flags = STACK_USER,
			 .depth = 2,
			 .frames = (const u64[]){LIBC(0x2010), SH(0x1020)}},
	[STACK_MIXED] = {.id = 45,
			 .generation = 1,
			 .flags = STACK_USER,
			 .depth = 4,
			 .frames = (const u64[]){SH(0x1040), LIBC(0x9999), JIT(0x123),
						 NOWHERE(0x55)}},
	[STACK_SYSCALL] = {.id = 46,
			   .generation = 1,
			   .depth = 1,
			   .frames = (const u64[]){KERNEL(0x3010)}},
	[STACK_STOPPED] = {.id = 47,
			   .generation = 1,
			   .flags = STACK_USER | STOP_NO_RULE << STACK_STOP_SHIFT,
			   .depth = 1,
			   .frames = (const u64[]){LIBC(0x2010)}},
};

#define NO_USER(why) .user = TRACE_NO_STACK, .user_reason = (why)
#define NO_KERNEL(why) .kernel = TRACE_NO_STACK, .kernel_reason = (why)

static const struct trace_event events[SMALL_EVENTS] = {
	{.time = 101 * SECOND,
	 .value = 1000,
	 .tid = 100,
	 .kind = 1,
	 .kernel = STACK_SWITCH,
	 .user = STACK_CALLS},
	{.time = 102 * SECOND,
	 .value = 500,
	 .tid = 100,
	 .kind = 1,
	 .kernel = STACK_SWITCH,
	 .user = STACK_CALLS},
	{.time = 103 * SECOND + 456789123,
	 .tid = 200,
	 .kind = 1,
	 .cpu = 1,
	 .kernel = STACK_WRITE,
	 .user = STACK_MIXED},
	{.time = 104 * SECOND,
	 .tid = 200,
	 .cpu = 1,
	 .leaf = KERNEL(0x2001),
	 .kernel = STACK_SYSCALL,
	 .user = STACK_CALLS},
	{.time = 105 * SECOND,
	 .tid = 200,
	 .cpu = 1,
	 .leaf = KERNEL(0x2002),
	 .kernel = STACK_SYSCALL,
	 .user = STACK_CALLS},
	{.time = 106 * SECOND,
	 .tid = 200,
	 .cpu = 1,
	 .leaf = KERNEL(0x2003),
	 .kernel = STACK_SYSCALL,
	 .user = STACK_CALLS},
	{.time = 107 * SECOND,
	 .tid = 100,
	 .leaf = LIBC(0x2000),
	 NO_KERNEL(REASON_NO_FRAMES),
	 .user = STACK_CALLS},
	{.time = 108 * SECOND,
	 .tid = 201,
	 .leaf = KERNEL(0x500000),
	 NO_KERNEL(REASON_NO_ROOM),
	 NO_USER(REASON_UNREADABLE)},
	{.time = 109 * SECOND,
	 .tid = 999,
	 .kind = 1,
	 NO_KERNEL(REASON_NOT_ASKED),
	 NO_USER(REASON_NO_FRAMES)},
	{.time = 110 * SECOND,
	 .tid = 100,
	 .kind = 1,
	 .kernel = STACK_SWITCH,
	 .user = STACK_STOPPED},
	{.time = 111 * SECOND,
	 .tid = 100,
	 .kind = 1,
	 .kernel = STACK_SWITCH,
	 .user = PLACEHOLDER_CALLS},
	{.time = 112 * SECOND,
	 .tid = 100,
	 .kind = 1,
	 .kernel = STACK_SWITCH,
	 .user = PLACEHOLDER_CHANGED},
	{.time = 113 * SECOND,
	 .tid = 100,
	 .kind = 1,
	 .kernel = STACK_SWITCH,
	 .user = PLACEHOLDER_UNRESOLVED},
};

static const struct trace_resolution resolutions[] = {
	{.stack = STACK_CALLS, .leaf = LIBC(0x2004)},
	{.stack = TRACE_NO_STACK, .reason = REASON_CHANGED},
};

static const struct trace_ledger once = {
	.produced = SMALL_EVENTS + 3,
	.recorded = SMALL_EVENTS,
	.lost = {[LOST_RING_FULL] = 2, [LOST_NESTED] = 1},
	.kernel_reasons = {[REASON_NO_ROOM] = 1, [REASON_NO_FRAMES] = 1, [REASON_NOT_ASKED] = 1},
	.user_reasons = {[REASON_UNREADABLE] = 1,
			 [REASON_NO_FRAMES] = 1,
			 [REASON_CHANGED] = 1,
			 [REASON_UNANSWERED] = 1},
	.user_stops = {[STOP_ROOT] = 8, [STOP_NO_RULE] = 1},
	.notes = {[NOTE_UNKNOWN_FRAMES] = 1},
};

#define EACH(array) (u32 i = 0; i < sizeof(array) / sizeof(*(array)) && !err; i++)

/* The number of times that each event is written, and the form. */
struct manner {
	u32 times;
	bool is_summary;
	bool has_further; /* the switches have the value 3 beside their own one */
};

static int write_source(struct trace_writer *writer, struct trace_source source, bool has_further)
{
	if (has_further && source.extras & TRACE_EXTRA_VALUE) {
		source.extras |= TRACE_EXTRA_FURTHER;
		source.further_unit = "pages";
		source.value_name = "delay";
		source.further_name = "count";
	}
	return trace_writer_source(writer, &source);
}

static int write_names(struct trace_writer *writer, bool has_further)
{
	u32 number;
	int err = 0;

	for
		EACH(sources)
	err = write_source(writer, sources[i], has_further);
	for
		EACH(modules)
	err = trace_writer_module(writer, &modules[i]);
	for
		EACH(mappings)
	err = trace_writer_mapping(writer, &mappings[i]);
	for
		EACH(symbols)
	err = trace_writer_symbol(writer, &symbols[i]);
	for
		EACH(cgroups)
	err = trace_writer_cgroup(writer, &cgroups[i], &number);
	for
		EACH(tasks)
	err = trace_writer_task(writer, &tasks[i]);
	return err;
}

static u32 names[PLACEHOLDERS_END]; /* the writer's numbers of stacks and placeholders */

static int write_stacks(struct trace_writer *writer)
{
	int err = 0;

	for (u32 i = 0; i < PLACEHOLDERS_END && !err; i++)
		err = i < STACKS ? trace_writer_stack(writer, &stacks[i], &names[i])
				 : trace_writer_placeholder(writer, &names[i]);
	return err;
}

static int write_event(struct trace_writer *writer, struct trace_event event, struct manner manner)
{
	int err = 0;

	if (event.kernel != TRACE_NO_STACK)
		event.kernel = names[event.kernel];
	if (event.user != TRACE_NO_STACK)
		event.user = names[event.user];
	if (manner.is_summary) {
		event.value *= manner.times;
		event.repeats = manner.times - 1;
		return trace_writer_event(writer, &event);
	}
	if (manner.has_further && sources[event.kind].extras & TRACE_EXTRA_VALUE)
		event.further = 3;
	for (u32 i = 0; i < manner.times && !err; i++)
		err = trace_writer_event(writer, &event);
	return err;
}

_Static_assert(sizeof(struct trace_ledger) % sizeof(u64) == 0, "counters of 64 bits");

static int write_ledger(struct trace_writer *writer, u32 times)
{
	struct trace_ledger ledger = once;

	for (size_t i = 0; i < sizeof(ledger) / sizeof(u64); i++)
		((u64 *)&ledger)[i] *= times;
	return trace_writer_ledger(writer, &ledger, NULL, 0);
}

/* The flush writes the placeholders, so that the resolutions come after them. */
static int write_events(struct trace_writer *writer, struct manner manner)
{
	int err = 0;

	for
		EACH(events)
	err = write_event(writer, events[i], manner);
	err = err ?: trace_writer_flush(writer);
	for
		EACH(resolutions)
	err = trace_writer_resolve(writer, names[PLACEHOLDER_CALLS + i], &resolutions[i]);
	return err ?: write_ledger(writer, manner.times);
}

static int write_recording(const char *path, struct manner manner)
{
	struct trace_info info = whole;
	struct trace_writer *writer;
	int err, close_err;

	info.is_summary = manner.is_summary;
	info.has_further = manner.has_further;
	unlink(path); /* otherwise the writer would keep the old file under another name */
	err = trace_writer_create(path, &info, &writer, NULL);
	if (err)
		return err;
	err = write_names(writer, manner.has_further) ?: write_stacks(writer);
	err = err ?: write_events(writer, manner);
	close_err = trace_writer_close(&writer);
	return err ? err : close_err;
}

int small_recording_write_often(const char *path, u32 times, bool is_summary)
{
	return write_recording(path, (struct manner){.times = times, .is_summary = is_summary});
}

int small_recording_write_values(const char *path)
{
	return write_recording(path, (struct manner){.times = 1, .has_further = true});
}

int small_recording_write(const char *path)
{
	return small_recording_write_often(path, 1, false);
}
