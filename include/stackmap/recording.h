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
 * 0 and *out, which the caller passes to stackmap_recording_close(); on failure *out is untouched.
 * -EBADMSG: the file is not a recording. -EPROTONOSUPPORT: the file is of a newer version. -ENOMEM,
 * or an error of open(). `error` may be NULL.
 */
int stackmap_recording_open(const char *path, struct stackmap_recording **out,
			    struct stackmap_error *error);

/* Frees the recording and sets *recording to NULL. */
void stackmap_recording_close(struct stackmap_recording **recording);

/*
 * Why the file ends early; NULL: the file is whole. Call this after the events were read: some
 * damage is found only then.
 */
const struct stackmap_error *stackmap_recording_damage(const struct stackmap_recording *recording);

struct stackmap_recording_info {
	uint64_t start_realtime;  /* begin of the recording, ns since the epoch */
	uint64_t start_monotonic; /* begin of the recording, CLOCK_MONOTONIC in ns, as in events */
	uint64_t frequency;	  /* CPU samples per second; 0: the recording has no samples */
	uint32_t cpus;
	const char *hostname;
	const char *kernel;  /* uname -r */
	const char *machine; /* uname -m */
	const char *command; /* the recorder's command line */
	const char *version; /* the recorder's version */
	int is_summary;	     /* not 0: an event may stand for several equal events, see
				stackmap_event.repeats */
};

const struct stackmap_recording_info *
stackmap_recording_info(const struct stackmap_recording *recording);

/* An event source. */
struct stackmap_source {
	const char *name; /* "cpu-clock", "sched:sched_switch" */
	const char *unit; /* unit of the events' values: "ns", "bytes"; "": no values */
};

/* Sources are numbered from 0 on. NULL: no source has this index. */
uint32_t stackmap_recording_source_count(const struct stackmap_recording *recording);
const struct stackmap_source *stackmap_recording_source(const struct stackmap_recording *recording,
							uint32_t index);

/*
 * The name and cgroup of a thread from a time on. A thread that was renamed, or moved to another
 * cgroup, has several entries.
 */
struct stackmap_task {
	uint64_t time; /* begin of this name and cgroup, in ns as in events; 0: before the recording
			*/
	uint32_t tid;
	uint32_t pid;
	const char *comm;
	const char *cgroup; /* "/system.slice"; "": not known */
};

/* Tasks are numbered from 0 on. NULL: no task has this index. */
uint32_t stackmap_recording_task_count(const struct stackmap_recording *recording);
const struct stackmap_task *stackmap_recording_task(const struct stackmap_recording *recording,
						    uint32_t index);

/* The entry with the name and cgroup that a thread had at the time of an event. NULL: the thread is
 * not known. */
const struct stackmap_task *stackmap_recording_task_at(const struct stackmap_recording *recording,
						       uint32_t tid, uint64_t time);

/* The kernel part or the user part of a call stack. Equal stacks are stored once. */
struct stackmap_call_stack {
	const uint64_t *frames; /* innermost first */
	uint32_t depth;		/* > 0 */
	int in_kernel;
	int cut;	 /* not 0: frames are missing */
	const char *end; /* why the stack ends: "root" if it is complete, else why it is cut */
};

/*
 * Stacks are numbered from 0 on, the same at each opening of a file. NULL: no stack has this index.
 */
uint32_t stackmap_recording_stack_count(const struct stackmap_recording *recording);
const struct stackmap_call_stack *
stackmap_recording_stack(const struct stackmap_recording *recording, uint32_t index);

/* The symbols of a frame. */
struct stackmap_frame {
	uint64_t frame; /* the number in a stack; equal code of a recording has equal numbers */
	int in_kernel;
	const char *label;    /* the function, or a substitute like "FILE+0xOFFSET"; never NULL */
	const char *function; /* demangled; NULL: not known */
	uint64_t offset;      /* bytes from the start of the function, if that is known */
	const char *object;   /* path of the file, "[kernel.kallsyms]", "[unknown]"... */
	uint64_t address;     /* address of kernel and generated code; else the file offset */
	const uint8_t *build_id; /* build id of the file; NULL: not known, or kernel code */
	uint32_t build_id_bytes;
};

/*
 * The symbols of a frame, from the symbols in the recording. Every frame of a stack is a return
 * address, except the innermost frame of an event: stackmap_recording_event_frames() knows the
 * difference. The frame of an interrupted instruction counts as a return address: it is the
 * instruction's address plus one byte. NULL: no memory.
 */
const struct stackmap_frame *stackmap_recording_frame(struct stackmap_recording *recording,
						      uint64_t frame, int is_return_address);

#define STACKMAP_NO_STACK UINT32_MAX

struct stackmap_event {
	uint64_t time;	/* ns, CLOCK_MONOTONIC */
	uint64_t value; /* value of the event, in the unit of the source */
	uint64_t leaf;	/* innermost frame, if the stacks do not have it: a sampled pc; else 0 */
	uint32_t source;
	uint32_t tid;
	uint32_t cpu;
	uint32_t kernel_stack; /* index of a stack, or STACKMAP_NO_STACK */
	uint32_t user_stack;
	int kernel_cut; /* not 0: frames are missing */
	int user_cut;
	const char *kernel_end; /* why the stack ends, as in stackmap_call_stack, or why there is no
				   stack: "no_frames" */
	const char *user_end;
	uint32_t repeats; /* number of further equal events that this event stands for; `value` is
			     then the sum of all values. 0 except in a summary, and if
			     is_counted_only */
	int is_counted_only; /* not 0: the event was only counted, as a ring was full; `time` is the
				time at which the count was read */
};

/*
 * Passes all events to `each`, in the order of time. Stops at the first non-zero return of `each`
 * and returns it; or -EBADMSG, -ENOMEM. `each` may call every function except close.
 */
int stackmap_recording_events(struct stackmap_recording *recording,
			      int (*each)(void *arg, const struct stackmap_event *event), void *arg,
			      struct stackmap_error *error);

#define STACKMAP_EVENT_FRAMES_MAX 1024 /* more than any event has */

/*
 * The frames of an event, innermost first: kernel frames, then user frames. Writes the first `max`
 * frames and returns their number, or -ENOMEM.
 */
int stackmap_recording_event_frames(struct stackmap_recording *recording,
				    const struct stackmap_event *event,
				    const struct stackmap_frame **frames, uint32_t max);

struct stackmap_count {
	const char *name; /* "ring_full"; NULL ends an array */
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
	const struct stackmap_count *lost; /* lost events by cause */
	const struct stackmap_count
		*without_kernel; /* recorded events without a kernel stack, by reason */
	const struct stackmap_count *without_user;
	const struct stackmap_count
		*user_ends; /* recorded events with a user stack, by the stack's end */
	const struct stackmap_count *notes; /* other things that the recording lacks; these counts
					       are not numbers of events */
	uint64_t counted_only; /* events that were only counted, as a ring was full: they have their
				  stacks, but no time */
};

/* NULL: the recording was not finished. */
const struct stackmap_ledger *stackmap_recording_ledger(const struct stackmap_recording *recording);

#ifdef __cplusplus
}
#endif
#endif
