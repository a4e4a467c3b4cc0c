/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decoded entries of ftrace's ring, in a form that is cheap to pass from one process to another (a
 * batch).
 *
 * A stack is an entry of its own. The stack belongs to the last event of the same thread, CPU and
 * context; entries of an interrupt may lie between the event and the stack. A deferred user stack
 * is an entry with the cookie of its events, on any CPU, before or after the events.
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
	/* a new event source, whose number `kind` is the count of sources before; payload:
	 * "system:event", NUL-terminated */
	FTRACE_SOURCE,
	FTRACE_TASK,  /* payload: name of the thread `tid`, FTRACE_COMM_BYTES long */
	FTRACE_EVENT, /* an event of the source `kind` */
	FTRACE_STACK_ID,
	FTRACE_STACK,	   /* kernel stack; payload: addresses, innermost first */
	FTRACE_USER_STACK, /* user stack; payload: addresses, innermost first */
	FTRACE_COOKIE,	   /* `value`: the cookie of the event's deferred user stack */
	/* a deferred user stack; `value`: the cookie; `id` of the stack, or `reason` why it is
	 * missing */
	FTRACE_ANSWER,
	FTRACE_GAP, /* the ring has lost entries of this CPU before this entry */
	/* number of lost entries in `value`, for the cause `reason`; 0: unknown number */
	FTRACE_LOST,
	FTRACE_WHATS,
};

/* The reason for a missing deferred stack: values of the kernel's enum user_stack_reason. */
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
	u64 time; /* time of the entry, ns on the ring's clock */
	u64 value;
	u32 tid;
	u32 id;
	u32 reason;
	u32 bytes; /* length of the payload in bytes */
	u16 cpu;
	u16 kind;
	u8 what;    /* enum ftrace_what */
	u8 context; /* enum ftrace_context */
	u16 reserved;
};

/* A callback that receives entries. The first non-zero result ends the reading and is returned. */
typedef int ftrace_take(void *arg, const struct ftrace_entry *entry, const void *payload);

/* A batch: entries that the sandbox sends to its parent, one directly after the other, each
 * followed by its payload. */
#define FTRACE_BATCH_BYTES (256U << 10)

/* Appends an entry to a batch that has *used bytes so far. False: the batch is full. */
bool ftrace_batch_put(u8 batch[FTRACE_BATCH_BYTES], u32 *used, const struct ftrace_entry *entry,
		      const void *payload);

/* Checks all entries (kind, context, payload, end of texts) and passes them to take(). -EBADMSG:
 * an invalid batch; or the result of take(). */
int ftrace_batch_read(const u8 *batch, u32 bytes, ftrace_take *take, void *arg);

/* Decodes records of a ring to entries, by the kernel's format descriptions (decode.c). */
struct ftrace_decoder;
struct tep_handle;
struct tep_record;

/* Creates a decoder. The handle must outlive the decoder. -ENOMEM. */
int ftrace_decoder_create(struct tep_handle *formats, ftrace_take *take, void *arg,
			  struct ftrace_decoder **out);
void ftrace_decoder_free(struct ftrace_decoder **decoder);

/* Decodes a record to one or more entries and passes each entry to take(). The caller passes the
 * records of a CPU in the order of its ring. -EBADMSG: the record is shorter than its format, or
 * `cpu` is not below FTRACE_CPUS_MAX. */
int ftrace_decode(struct ftrace_decoder *decoder, struct tep_record *record, u32 cpu);

#endif
