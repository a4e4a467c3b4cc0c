/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a recording: a file of `stackmap record`, or a window of a capture that is followed live
 * (stackmap/capture.h).
 *
 *   stackmap_recording_open() -> its contents, in any order -> stackmap_recording_close()
 *
 * A file may hold any bytes. A file that was cut off or damaged is opened and gives everything up
 * to its last whole block; stackmap_recording_damage() says where and why the file ends there. All
 * indexes that are given out are valid. Texts of a recording are untrusted bytes: escape them
 * before they are written to a terminal.
 *
 * Sources, stacks and tasks are in memory. Events are decoded one after the other, so that about
 * one block of each CPU is in memory, however long the recording is.
 *
 * Everything given out belongs to the recording and lives until stackmap_recording_close(), except
 * an event, which lives during the call that it is given to. A later version may add members at the
 * end of the structs: only pointers to them are given out. One thread at a time uses a recording.
 *
 * If the recording, or a place or function that a result needs, is NULL: open, events and
 * event_frames return -EINVAL, close does nothing, and the others return NULL or 0.
 *
 * A name that could keep a demangler busy for long is demangled in a child process without
 * privileges. The first such name starts the child by fork(), and close ends it: while a program
 * has a recording, it must not wait for any child, as wait() does.
 */
#ifndef STACKMAP_RECORDING_H
#define STACKMAP_RECORDING_H

#include <stdint.h>

#include "stackmap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stackmap_recording;

/*
 * Opens a recording. 0 and *out, which the caller passes to stackmap_recording_close(); on failure
 * *out is untouched. -EBADMSG: the file is not a recording. -EPROTONOSUPPORT: the file is of a
 * newer version. -ENOMEM, or an error of open(). `error` may be NULL.
 */
int stackmap_recording_open(const char *path, struct stackmap_recording **out,
			    struct stackmap_error *error);

/* Frees the recording and sets *recording to NULL. */
void stackmap_recording_close(struct stackmap_recording **recording);

/*
 * Returns why the file ends early; NULL: the file is whole. Call this after the events were read:
 * some damage is found only then.
 */
const struct stackmap_error *stackmap_recording_damage(const struct stackmap_recording *recording);

struct stackmap_recording_info {
	uint64_t start_realtime;  /* when the recording began, ns since the epoch */
	uint64_t start_monotonic; /* when the recording began, CLOCK_MONOTONIC in ns, as the times
				     of events */
	uint64_t frequency;	  /* CPU samples per second; 0: the recording has no samples */
	uint32_t cpus;
	const char *hostname;
	const char *kernel;  /* uname -r */
	const char *machine; /* uname -m */
	const char *command; /* command line of the recorder */
	const char *version; /* the recorder's version */
	int is_summary;	     /* not 0: the recording is a summary, in which an event may stand for
				several equal events: see stackmap_event.repeats */
};

const struct stackmap_recording_info *
stackmap_recording_info(const struct stackmap_recording *recording);

/* An event source. */
struct stackmap_source {
	const char *name; /* "cpu-clock", "sched:sched_switch" */
	const char *unit; /* unit of the values of the source's events: "ns", "bytes"; "": the
			     events have no values */
};

/* Return the number of sources, and the source with an index; sources are numbered from 0 on. NULL:
 * no source has this index. */
uint32_t stackmap_recording_source_count(const struct stackmap_recording *recording);
const struct stackmap_source *stackmap_recording_source(const struct stackmap_recording *recording,
							uint32_t index);

/*
 * The name and cgroup of a thread from a time on. A thread that was renamed, or moved to another
 * cgroup, has several entries.
 */
struct stackmap_task {
	uint64_t time; /* when the thread got this name and cgroup, in ns as the times of events; 0:
			  before the recording */
	uint32_t tid;
	uint32_t pid;
	const char *comm;
	const char *cgroup; /* path of the cgroup, for example "/system.slice"; "": not known */
};

/* Return the number of entries of tasks, and the entry with an index; entries are numbered from 0
 * on. NULL: no entry has this index. */
uint32_t stackmap_recording_task_count(const struct stackmap_recording *recording);
const struct stackmap_task *stackmap_recording_task(const struct stackmap_recording *recording,
						    uint32_t index);

/* Returns the entry with the name and cgroup that a thread had at the time of an event. NULL: the
 * thread is not known. */
const struct stackmap_task *stackmap_recording_task_at(const struct stackmap_recording *recording,
						       uint32_t tid, uint64_t time);

/* The kernel part or the user part of a call stack. Equal stacks are stored once. */
struct stackmap_call_stack {
	const uint64_t *frames; /* innermost first */
	uint32_t depth;		/* > 0 */
	int in_kernel;
	int cut;	 /* not 0: the stack lacks frames */
	const char *end; /* why the stack ends: "root" if it is complete, else the reason why it is
			    cut */
};

/*
 * Return the number of stacks, and the stack with an index; stacks are numbered from 0 on, in the
 * same way at each opening of a file. NULL: no stack has this index.
 */
uint32_t stackmap_recording_stack_count(const struct stackmap_recording *recording);
const struct stackmap_call_stack *
stackmap_recording_stack(const struct stackmap_recording *recording, uint32_t index);

/* The symbols of a frame: the function, and the mapped file (program or library) with its code. */
struct stackmap_frame {
	uint64_t frame; /* the number that stands for the frame in a stack; equal code in a
			   recording has equal numbers */
	int in_kernel;
	/* Name of the function, or a substitute like "FILE+0xOFFSET"; never NULL. */
	const char *label;
	const char *function; /* demangled name of the function; NULL: not known */
	uint64_t offset;      /* offset of the frame in the function in bytes, if that is known */
	const char *object;   /* path of the file that the code is in, or "[kernel.kallsyms]",
				 "[unknown]"... */
	uint64_t address; /* address of the frame for kernel code and generated code; else its file
			     offset */
	/* Build id of the file; NULL: not known, or the code is the kernel's. */
	const uint8_t *build_id;
	uint32_t build_id_bytes;
};

/*
 * Returns the symbols of a frame, by the symbols in the recording. Every frame of a stack is a
 * return address, except the innermost frame of an event: stackmap_recording_event_frames() knows
 * the difference. The frame of an interrupted instruction counts as a return address: it is the
 * instruction's address plus one byte. NULL: no memory.
 */
const struct stackmap_frame *stackmap_recording_frame(struct stackmap_recording *recording,
						      uint64_t frame, int is_return_address);

#define STACKMAP_NO_STACK UINT32_MAX

struct stackmap_event {
	uint64_t time;	/* time of the event: CLOCK_MONOTONIC, ns */
	uint64_t value; /* value of the event, in the unit of its source */
	uint64_t leaf;	/* innermost frame of the event, if the stacks do not have it: the pc of a
			   sample; else 0 */
	uint32_t source;
	uint32_t tid;
	uint32_t cpu;
	/* index of the event's kernel stack, or STACKMAP_NO_STACK; user_stack likewise */
	uint32_t kernel_stack;
	uint32_t user_stack;
	int kernel_cut; /* not 0: the kernel stack lacks frames */
	int user_cut;
	const char *kernel_end; /* why the stack ends, as in stackmap_call_stack; or why the event
				   has no stack: "no_frames" */
	const char *user_end;
	uint32_t repeats; /* number of further equal events that this event stands for; `value` is
			     then the sum of all values. 0 except in a summary, and if
			     is_counted_only */
	int is_counted_only; /* not 0: the event was only counted, as its ring was full or the
				kernel aggregates; `time` is the time at which the count was read */
};

/*
 * Passes all events to `each`, in the order of time. Stops at the first non-zero return of `each`
 * and returns it; or -EBADMSG, -ENOMEM. `each` may call every function except close.
 */
int stackmap_recording_events(struct stackmap_recording *recording,
			      int (*each)(void *arg, const struct stackmap_event *event), void *arg,
			      struct stackmap_error *error);

#define STACKMAP_EVENT_FRAMES_MAX 1024 /* a number of frames that no event exceeds */

/*
 * The frames of an event, innermost first: kernel frames, then user frames. Writes the first `max`
 * frames and returns their number, or -ENOMEM.
 */
int stackmap_recording_event_frames(struct stackmap_recording *recording,
				    const struct stackmap_event *event,
				    const struct stackmap_frame **frames, uint32_t max);

struct stackmap_count {
	const char *name; /* name of the cause or reason: "ring_full"; an element with NULL ends an
			     array */
	const char *meaning;
	uint64_t count;
};

/*
 * The account of all events: produced = recorded + counted_only + the sum of lost. Each array lists
 * every cause; causes that did not occur have 0.
 */
struct stackmap_ledger {
	uint64_t produced;
	uint64_t recorded;
	const struct stackmap_count *lost; /* numbers of lost events, by cause */
	/* Numbers of recorded events without a kernel stack, by reason. */
	const struct stackmap_count *without_kernel;
	const struct stackmap_count *without_user;
	const struct stackmap_count *user_ends; /* numbers of recorded events with a user stack, by
						   the reason why the stack ends */
	const struct stackmap_count *notes;	/* numbers of other things that the recording lacks;
						   these things are not events */
	uint64_t counted_only; /* number of events that were only counted, as their ring was full:
				  they have their stacks, but no time */
};

/* Returns the ledger of the recording; NULL: the recording was not finished. */
const struct stackmap_ledger *stackmap_recording_ledger(const struct stackmap_recording *recording);

#ifdef __cplusplus
}
#endif
#endif
