/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records of a recording, as the trace writer takes them and the trace reader returns them.
 * They have no slots, rings and stack ids of the kernel: an event names its stacks by their index
 * in the recording.
 */
#ifndef LIB_TRACE_EVENT_H
#define LIB_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ledger.h"
#include "mapping.h"
#include "ring.h"
#include "rule.h"
#include "scalar.h"
#include "stack.h"
#include "thread_time.h"

#define TRACE_BUILD_ID_MAX 20
/* stack index of an event without a stack; the reason says why */
#define TRACE_NO_STACK UINT32_MAX

#define TRACE_UNIT_ADDRESS "address" /* unit of values that are not added up */

/* If the events of a source are a sample by value (report/profile/profile.h), the name of the
 * source ends with this key, a number and a slash. */
#define TRACE_EVERY_KEY "/every="

enum trace_extra {
	TRACE_EXTRA_LEAF = 1 << 0,
	TRACE_EXTRA_VALUE = 1 << 1,
	/* events have a second value besides that of TRACE_EXTRA_VALUE; not in a summary */
	TRACE_EXTRA_FURTHER = 1 << 2,
};

struct trace_event {
	u64 time;    /* CLOCK_MONOTONIC, ns */
	u64 leaf;    /* innermost frame: sampled pc (kernel address, or mapping and offset); 0 = no
			leaf */
	u64 value;   /* value of the event in the unit of its source; 0 = no value. An event of a
			summary has the sum of values. */
	u64 further; /* second value, in a unit of its own; 0 in a summary and if is_counted */
	u32 tid;
	u16 kind; /* number of the event's source: its index in the recording */
	u16 cpu;
	u32 kernel; /* stack index of the kernel stack, or TRACE_NO_STACK */
	u32 user;
	u8 kernel_reason; /* enum stack_reason, meaningful with TRACE_NO_STACK */
	u8 user_reason;
	u8 is_counted;	/* 1: the event has no time of its own (abi/counted.h) */
	u8 has_context; /* 1: `context` is meaningful, and the event stands for itself only */
	union {
		/* The record stands for this number of equal events besides its own event; only in
		 * a summary, and if is_counted. */
		u32 repeats;
		u32 context; /* number of the context: trace and span of the thread */
	};
};
_Static_assert(sizeof(struct trace_event) == 56,
	       "a block open for reading costs 56 bytes an event");

/* The number of events that a record stands for. Every count of events is a sum of these
 * numbers. */
static inline u64 event_stands_for(const struct trace_event *event)
{
	return event->has_context ? 1 : 1 + (u64)event->repeats;
}

/* True if the values of a record's events are known well enough for a histogram. */
static inline bool event_values_fit_histogram(const struct trace_event *event, bool has_aggregates)
{
	return event->is_counted ? has_aggregates : event_stands_for(event) == 1;
}

/* True for the record of one event with a time. */
static inline bool event_is_single(const struct trace_event *event)
{
	return event_stands_for(event) == 1 && !event->is_counted;
}

/* The context that a thread publishes (OpenTelemetry, OTEP 4947): trace and span, whose bytes are 0
 * if there are none, and attributes. A recording numbers its contexts from 0 in the order of the
 * file. */
struct trace_context {
	u8 trace[16];
	u8 span[8];
	u32 attributes; /* number of the thread's attributes, from 1 on; 0: none */
};

/* True if the context has a trace and a span, and not attributes alone. */
static inline bool context_has_ids(const struct trace_context *context)
{
	for (size_t i = 0; i < sizeof(context->span); i++)
		if (context->span[i])
			return true;
	return false;
}

/* The attributes of a thread's work: the bytes of its record, unchecked
 * (report/name/process_attributes.h). A recording numbers them from 1 in the order of the file. */
struct trace_attributes {
	u16 bytes;   /* at most ATTRIBUTE_BYTES_MAX */
	u16 program; /* which program of its process the thread was running, as in trace_process */
	const u8 *data;
};

/* An event's attributes come from the process context and the thread's attributes with these
 * numbers; 0: none. */
struct attribute_numbers {
	u32 process, thread;
};

/* The slot for attributes in a table of results, where a later result takes the place of an earlier
 * one. `slots`: a power of two. */
static inline u32 attribute_numbers_slot(struct attribute_numbers from, u32 slots)
{
	return (from.process * 0x9e3779b9U ^ from.thread) & (slots - 1);
}

/* A process context: attributes that a process publishes (OpenTelemetry, OTEP 4719). The bytes are
 * the process's own, unchecked (report/name/process_attributes.h). */
struct trace_process {
	u32 tgid;
	u32 bytes; /* length of the message, at most TRACE_PROCESS_BYTES_MAX */
	u64 since; /* CLOCK_MONOTONIC, ns: when the process began */
	/* The kernel's number of execs of the process and its parents, modulo 2^16, when the
	 * program began that publishes the message. 0 before version 11. */
	u16 program;
	const u8 *message;
};

struct trace_stack {
	u32 id; /* id of the stack as the file `stack_map` prints it; unique within the recording's
		   generation; never 0 */
	u32 flags; /* STACK_TRUNCATED, STACK_USER, STACK_STOP */
	/* 0: the stack map refused the stack, whose frames were recorded in full */
	u64 generation;
	u32 depth;
	const u64 *frames; /* frames of the stack, innermost first */
};

/* The resolution of a deferred user stack. */
struct trace_resolution {
	u32 stack; /* stack index of the user stack, or TRACE_NO_STACK */
	u8 reason; /* enum stack_reason, meaningful with TRACE_NO_STACK */
	u64 leaf;  /* the user frame that the stack's innermost frame has called; 0 = no leaf */
};

/* Sets the user stack of an event to the stack of a resolution. The resolved stack has a leaf or
 * contains the leaf, so the event's user leaf is replaced. */
static inline void event_set_resolved_stack(struct trace_event *event,
					    const struct trace_resolution *resolution)
{
	bool is_whole = resolution->stack != TRACE_NO_STACK && !FRAME_IS_KERNEL(event->leaf);

	event->user = resolution->stack;
	event->user_reason = resolution->reason;
	if (!event->leaf || is_whole)
		event->leaf = resolution->leaf;
}

struct trace_source {
	const char *name;	/* name of the source: "sched:sched_switch", "cpu-clock" */
	u32 extras;		/* extras of the source's events: enum trace_extra, as bits */
	const char *value_unit; /* unit of the value, "ns" for example; "" without a value */
	/* Meaningful with TRACE_EXTRA_FURTHER: the unit of the second value, and the names of both
	 * values as they were given to the recorder; "": the value has no name, since it is a
	 * product. */
	const char *further_unit, *value_name, *further_name;
};

/* True if the events have values that are added up and compared, unlike addresses. */
static inline bool trace_source_adds_up(const struct trace_source *source)
{
	return source->extras & TRACE_EXTRA_VALUE &&
	       strcmp(source->value_unit, TRACE_UNIT_ADDRESS) != 0;
}

struct trace_mapping {
	u32 number;	    /* number of the mapping in user frames */
	u32 kind;	    /* kind of the mapping: enum mapping_kind */
	u32 tgid;	    /* MAPPING_ANON: the process of the code; else the first process seen */
	u32 build_id_bytes; /* length of the build id; 0: the file has none, or it could not be read
			     */
	u8 build_id[TRACE_BUILD_ID_MAX];
	u64 base;	  /* MAPPING_ANON: address of a frame = base + offset */
	const char *path; /* path of the file; "[vdso]" or "[anon]" where there is no file */
};

/* The kernel image or a module, with its address after KASLR. */
struct trace_module {
	const char *name; /* "vmlinux" for the kernel image, else the name of the module */
	u64 start, end;	  /* load address range */
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
};

/* A function that covers at least one recorded frame. Kernel: mapping 0, start is an address. */
struct trace_symbol {
	u32 mapping;
	u64 start;
	u64 size;	  /* size of the function in bytes, > 0 */
	const char *name; /* name as in the symbol table, mangled; "": only the bounds of the
			     function are known */
	u64 address;	  /* address of the start in its ELF file, or else the start; 0: unknown */
};

/* A cgroup of the cgroup2 hierarchy. A recording numbers its cgroups from 1 in the order of the
 * file. */
struct trace_cgroup {
	u64 id;		  /* id that the kernel has given; 0 = not known */
	const char *path; /* path from the root of the hierarchy: "/system.slice"; "": not known */
};

struct trace_task {
	u64 time; /* time of the change of name or cgroup; 0 = before the recording */
	u32 tid;
	u32 tgid;
	u32 cgroup;    /* number of the cgroup; 0 = not known */
	char comm[16]; /* name of the task, NUL-terminated */
};

struct trace_ledger {
	u64 produced;
	u64 recorded;
	u64 counted; /* number of events that were counted without a record of their own */
	u64 lost[LOST_COUNT];
	/* number of recorded events without a kernel stack (or user stack), by reason */
	u64 kernel_reasons[REASON_COUNT];
	u64 user_reasons[REASON_COUNT];
	/* recorded events with a user stack, by the end of the stack: STACK_STOP, or STOP_DEPTH
	 * when the stack is truncated */
	u64 user_stops[STOP_COUNT];
	u64 notes[NOTE_COUNT];
};

/* A ledger consists of counters only, so it is added as an array. */
_Static_assert(sizeof(struct trace_ledger) % sizeof(u64) == 0, "counters of 64 bits");

static inline void trace_ledger_add(struct trace_ledger *sum, const struct trace_ledger *ledger)
{
	for (u32 i = 0; i < sizeof(*ledger) / sizeof(u64); i++)
		((u64 *)sum)[i] += ((const u64 *)ledger)[i];
}

struct trace_cpu_ledger { /* ledger of one CPU, for causes that are known by CPU */
	u32 cpu;
	u64 produced;
	u64 recorded;
	u64 counted;
	u64 lost[LOST_COUNT];
};

/*
 * Ledger of one source. Its lost events are those whose source is known: all by the causes
 * ring_full, table_full, ring_busy, nested and no_memory, and those by recursion whose program
 * serves no other source.
 */
struct trace_source_ledger {
	u64 recorded;
	u64 counted;
	u64 lost;
};

struct trace_info {
	u64 start_realtime;  /* start of the recording: ns since the epoch at start_monotonic */
	u64 start_monotonic; /* start of the recording: CLOCK_MONOTONIC, ns */
	u64 frequency;	     /* sampling frequency of -F, Hz; 0 without CPU samples */
	u32 cpus;
	u32 bits;
	u32 address_shown; /* 0: kptr_restrict hid kernel addresses */
	u32 is_summary;	   /* not 0: a record may stand for many events */
	u32 has_times;	   /* not 0: threads may have accounts of their time */
	/* not 0: records of events that are only counted may occur; not in a summary */
	u32 has_counted;
	u32 has_contexts; /* not 0: events may have a trace and a span; not in a summary */
	/* not 0: events may have attributes of their threads; not in a summary, only with
	 * has_contexts
	 */
	u32 has_attributes;
	u32 has_further; /* not 0: events may have a second value; not in a summary */
	u32 has_losses;	 /* not 0: sources may have ledgers; not in a summary */
	/*
	 * not 0: the values of the events that one record of counted events stands for are in one
	 * power of two, and so is their average (lib/capture/drain/counted_events.c); not in a
	 * summary
	 */
	u32 has_aggregates;
	const char *hostname;
	const char *kernel;  /* release of the kernel: uname -r */
	const char *machine; /* architecture: uname -m */
	const char *command; /* the recorder's command line */
	const char *version; /* the recorder's version */
};

#endif
