/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a recording: a file of `stackmap record`, or a part of a capture that is followed live
 * (stackmap/capture.h).
 *
 *   stackmap_recording_open() -> what it holds, in any order -> stackmap_recording_close()
 *
 * A file may hold any bytes. One that was cut off or damaged is opened and gives everything up to
 * its last whole block; stackmap_recording_damage() says where and why it ends there. All indexes
 * that are given out are valid. Texts of a recording are the bytes of others: a terminal must not
 * get them as they are.
 *
 * Sources, stacks and tasks are in memory; events are decoded as they are asked for, so that about
 * one block of each CPU is in memory, however long the recording is.
 *
 * Everything given out belongs to the recording and lives until stackmap_recording_close(), except
 * an event, which lives during the call that it is given to. A later version may add members at the
 * end of the structs: only pointers to them are given out. One thread at a time uses a recording.
 *
 * Without a recording (NULL), or a place or function that a result needs, open, events and
 * event_frames return -EINVAL, close does nothing, and the others return NULL or 0.
 *
 * A name that could keep a demangler busy for long is demangled in a child process without
 * privileges. The first such name starts it by fork(), and close ends it: while it has a recording,
 * a program must not wait for any child, as wait() does.
 */
#ifndef STACKMAP_RECORDING_H
#define STACKMAP_RECORDING_H

#include <stdint.h>

#include "stackmap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stackmap_recording;

/* 0 and *out, which the caller gives to stackmap_recording_close(); on failure *out is untouched.
 * -EBADMSG: not a recording; -EPROTONOSUPPORT: of a newer version; -ENOMEM; or what open() says.
 * `error` may be NULL. */
int stackmap_recording_open(const char *path, struct stackmap_recording **out,
			    struct stackmap_error *error);

/* Sets *recording to NULL. */
void stackmap_recording_close(struct stackmap_recording **recording);

/* NULL: the file is whole. Else why it ends early. To be asked after the events were read: some
 * damage is found only then. */
const struct stackmap_error *stackmap_recording_damage(const struct stackmap_recording *recording);

struct stackmap_recording_info {
	uint64_t start_realtime;  /* when it began: ns since the epoch, */
	uint64_t start_monotonic; /* and as events have it */
	uint64_t frequency;	  /* Hz of CPU samples; 0: there are none */
	uint32_t cpus;
	const char *hostname;
	const char *kernel;  /* uname -r */
	const char *machine; /* uname -m */
	const char *command; /* the recorder's command line */
	const char *version; /* the recorder's version */
	int is_summary;	     /* not 0: an event may stand for many, see repeats */
};

const struct stackmap_recording_info *
stackmap_recording_info(const struct stackmap_recording *recording);

/* What was recorded. */
struct stackmap_source {
	const char *name; /* "cpu-clock", "sched:sched_switch" */
	const char *unit; /* of its events' values: "ns", "bytes"; "": they have none */
};

/* Sources are numbered from 0 on. NULL: there is no such one. */
uint32_t stackmap_recording_source_count(const struct stackmap_recording *recording);
const struct stackmap_source *stackmap_recording_source(const struct stackmap_recording *recording,
							uint32_t index);

/* A thread, from a time on: a thread that was renamed, or moved to another cgroup, has several. */
struct stackmap_task {
	uint64_t time; /* as of events; 0: since before the recording */
	uint32_t tid;
	uint32_t pid;
	const char *comm;
	const char *cgroup; /* "/system.slice"; "": not known */
};

/* Tasks are numbered from 0 on. NULL: there is no such one. */
uint32_t stackmap_recording_task_count(const struct stackmap_recording *recording);
const struct stackmap_task *stackmap_recording_task(const struct stackmap_recording *recording,
						    uint32_t index);

/* What a thread was at the time of an event. NULL: not known. */
const struct stackmap_task *stackmap_recording_task_at(const struct stackmap_recording *recording,
						       uint32_t tid, uint64_t time);

/* One side, kernel or user, of a call stack. Equal stacks are stored once. */
struct stackmap_call_stack {
	const uint64_t *frames; /* innermost first */
	uint32_t depth;		/* > 0 */
	int in_kernel;
	int cut;	 /* not 0: frames that were there are not known */
	const char *end; /* how it ends on its outer side: "root", or why it is cut */
};

/* Stacks are numbered from 0 on, the same at each opening of a file. NULL: there is no such one. */
uint32_t stackmap_recording_stack_count(const struct stackmap_recording *recording);
const struct stackmap_call_stack *
stackmap_recording_stack(const struct stackmap_recording *recording, uint32_t index);

/* What a frame is called. */
struct stackmap_frame {
	uint64_t frame; /* as in a stack: equal for equal code of a recording */
	int in_kernel;
	const char *label;	 /* the function, else "FILE+0xOFFSET" or the like; never NULL */
	const char *function;	 /* demangled; NULL: not known */
	uint64_t offset;	 /* bytes from the start of the function, if that is known */
	const char *object;	 /* path of its file, "[kernel.kallsyms]", "[unknown]"... */
	uint64_t address;	 /* of kernel and generated code; else the offset in the file */
	const uint8_t *build_id; /* of the file; NULL: not known, or of the kernel */
	uint32_t build_id_bytes;
};

/*
 * The names of a frame, by the symbols in the recording. All frames are return addresses but the
 * innermost of an event: stackmap_recording_event_frames() knows which. What a signal interrupted
 * counts as such: its frame is one byte behind the beginning of the instruction. NULL: no memory.
 */
const struct stackmap_frame *stackmap_recording_frame(struct stackmap_recording *recording,
						      uint64_t frame, int is_return_address);

#define STACKMAP_NO_STACK UINT32_MAX

struct stackmap_event {
	uint64_t time;	/* ns, CLOCK_MONOTONIC */
	uint64_t value; /* in the unit of its source */
	uint64_t leaf;	/* innermost frame, if it is in no stack: a sampled pc; else 0 */
	uint32_t source;
	uint32_t tid;
	uint32_t cpu;
	uint32_t kernel_stack; /* number of a stack, or STACKMAP_NO_STACK */
	uint32_t user_stack;
	int kernel_cut; /* not 0: frames that were there are not known */
	int user_cut;
	const char *kernel_end; /* as of the stack, or why there is none: "no_frames" */
	const char *user_end;
	uint32_t repeats; /* of a summary: how many equal events it stands for besides itself; its
			     value is then the sum of their values. Else 0 */
};

/* All events in the order of time. Stops at the first non-zero return of `each` and returns it; or
 * -EBADMSG, -ENOMEM. `each` may call everything but close. */
int stackmap_recording_events(struct stackmap_recording *recording,
			      int (*each)(void *arg, const struct stackmap_event *event), void *arg,
			      struct stackmap_error *error);

#define STACKMAP_EVENT_FRAMES_MAX 1024 /* more than an event has */

/* The frames of an event, innermost first: those of the kernel, then those of the user. Writes the
 * first `max`, and returns how many it has written, or -ENOMEM. */
int stackmap_recording_event_frames(struct stackmap_recording *recording,
				    const struct stackmap_event *event,
				    const struct stackmap_frame **frames, uint32_t max);

struct stackmap_count {
	const char *name; /* "ring_full"; NULL ends an array */
	const char *meaning;
	uint64_t count;
};

/* The account of all events: produced = recorded + the sum of lost. Arrays have every cause, those
 * that did not occur with 0. */
struct stackmap_ledger {
	uint64_t produced;
	uint64_t recorded;
	const struct stackmap_count *lost; /* events, by cause */
	const struct stackmap_count
		*without_kernel; /* recorded events without that stack, by reason */
	const struct stackmap_count *without_user;
	const struct stackmap_count *user_ends; /* recorded events with a user stack, by its end */
	const struct stackmap_count *notes;	/* what else the recording lacks; no events */
};

/* NULL: the recording was not finished. */
const struct stackmap_ledger *stackmap_recording_ledger(const struct stackmap_recording *recording);

#ifdef __cplusplus
}
#endif
#endif
