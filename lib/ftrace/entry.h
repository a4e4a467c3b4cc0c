/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decoded entries of ftrace, cheap to pass from one process to another (a batch).
 *
 * A stack is an entry of its own. The stack belongs to the last event of the same thread, CPU and
 * context: an interrupt's entries may lie between them. A deferred user stack is an entry with the
 * cookie of its events, on any CPU, before or behind the events.
 */
#ifndef LIB_FTRACE_ENTRY_H
#define LIB_FTRACE_ENTRY_H

#include <stdbool.h>

#include "scalar.h"

#define FTRACE_COMM_BYTES 16
#define FTRACE_NAME_BYTES_MAX 256
#define FTRACE_FRAMES_MAX 1024
#define FTRACE_CPUS_MAX 65536U

enum ftrace_what {
	FTRACE_SOURCE, /* payload: "system:event", NUL-terminated; the next kind */
	FTRACE_TASK,   /* payload: FTRACE_COMM_BYTES, the name of `tid` */
	FTRACE_EVENT,  /* `kind` */
	FTRACE_STACK_ID,
	FTRACE_STACK,	   /* stack in full; payload: frames, innermost first */
	FTRACE_USER_STACK, /* stack in full; payload: addresses */
	FTRACE_COOKIE,	   /* `value` */
	FTRACE_ANSWER,	   /* `value`: the cookie; `id`, or `reason` */
	FTRACE_GAP,	   /* the ring has lost entries of this CPU, up to here */
	FTRACE_LOST,	   /* `value` lost entries for the cause `reason`; 0: unknown number */
	FTRACE_WHATS,
};

/* The reason of a missing deferred stack: enum user_stack_reason of the kernel. */
enum ftrace_reason {
	FTRACE_HAS_STACK,
	FTRACE_CHANGED,
	FTRACE_BUSY,
	FTRACE_RUNNING,
	FTRACE_FULL,
	FTRACE_NO_MEMORY,
};

enum ftrace_context {
	FTRACE_TASK_CONTEXT,
	FTRACE_SOFTIRQ,
	FTRACE_HARDIRQ,
	FTRACE_NMI,
	FTRACE_CONTEXTS
};

struct ftrace_entry {
	u64 time; /* of the ring's clock, ns */
	u64 value;
	u32 tid;
	u32 id;
	u32 reason;
	u32 bytes; /* of the payload */
	u16 cpu;
	u16 kind;
	u8 what;    /* enum ftrace_what */
	u8 context; /* enum ftrace_context */
	u16 reserved;
};

/* Receives entries; the first non-zero result ends the reading and is returned. */
typedef int ftrace_take(void *arg, const struct ftrace_entry *entry, const void *payload);

/* A batch: entries that the sandbox sends to its parent, one behind the other, each with its
 * payload. */
#define FTRACE_BATCH_BYTES (256U << 10)

/* Appends to a batch with *used bytes. False: the batch is full. */
bool ftrace_batch_put(u8 batch[FTRACE_BATCH_BYTES], u32 *used, const struct ftrace_entry *entry,
		      const void *payload);

/* Checks all entries (kind, context, payload, end of texts) and passes them to take(). -EBADMSG:
 * an invalid batch; or the result of take(). */
int ftrace_batch_read(const u8 *batch, u32 bytes, ftrace_take *take, void *arg);

/* Decodes records of a ring to entries, by the kernel's format descriptions (decode.c). */
struct ftrace_decoder;
struct tep_handle;
struct tep_record;

/* -ENOMEM. The handle must outlive the decoder. */
int ftrace_decoder_create(struct tep_handle *formats, ftrace_take *take, void *arg,
			  struct ftrace_decoder **out);
void ftrace_decoder_free(struct ftrace_decoder **decoder);

/* Records of a CPU come in the order of its ring. -EBADMSG: the record is shorter than its format.
 */
int ftrace_decode(struct ftrace_decoder *decoder, struct tep_record *record, u32 cpu);

#endif
