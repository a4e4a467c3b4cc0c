/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace and span that a thread works for, as the thread publishes them (OpenTelemetry, OTEP
 * 4947): a thread-local variable holds the address of a record, or NULL.
 *
 * The BPF programs read the variable of the current thread. The place of the variable differs from
 * process to process. A BPF program that meets a new process adds an entry to a map, by process id;
 * user space finds the place (lib/symbol/symbolizer/context_finder.h) and completes the entry.
 *
 * A read at the event does not wait for missing pages. Where the kernel calls back, the callback of
 * the event's cookie (abi/deferral.h) reads the context instead, and waits for the pages; the
 * context follows in a slot of its own.
 */
#ifndef STACKMAP_ABI_THREAD_CONTEXT_H
#define STACKMAP_ABI_THREAD_CONTEXT_H

#include "rule.h"
#include "scalar.h"

#define THREAD_CONTEXT_SYMBOL "otel_thread_ctx_v1"

/* The bytes of a record up to its attributes. A record counts only with `is_valid` 1. */
struct thread_context_record {
	u64 trace[2]; /* 16 bytes, in the order of the text; all 0: none */
	u64 span;     /* 8 bytes, likewise */
	u8 is_valid;
	u8 flags;
	u16 attribute_bytes;
	/* the first bytes of the attributes; without attributes, bytes after the record */
	u8 attributes[4];
};
ABI_SIZE(struct thread_context_record, 32);
#define THREAD_CONTEXT_BYTES 28 /* number of bytes of the record that are read */

/*
 * An event's trace and span, as words of its slot. All 0: the event has no context. No context has
 * a trace with a span of 0, so words with a span of 0 say in the first word why the event has no
 * context yet:
 */
#define CONTEXT_WORDS 3
#define CONTEXT_SPAN 2					/* index of the span's word */
#define CONTEXT_UNREADABLE 1ULL				/* the memory could not be read */
#define CONTEXT_AWAITED(cookie) (1ULL << 32 | (cookie)) /* the context of this cookie follows */

/* Where the variable lies, relative to the thread pointer. */
enum context_way {
	CONTEXT_UNKNOWN, /* not known: user space has not looked yet */
	CONTEXT_NONE,	 /* no file of the process has the variable */
	CONTEXT_STATIC,	 /* the variable is at the address thread pointer + offset */
	/*
	 * the variable is at the address of the thread's block of the module + offset; the thread
	 * pointer leads to the vector of blocks (glibc: dtv)
	 */
	CONTEXT_DYNAMIC,
};

#define CONTEXT_PLACES_MAX 4096 /* processes */
#define CONTEXT_MODULES_MAX 65536

/* Where the thread-local variable lies in a process. */
struct context_place {
	u64 process; /* start_time and self_exec_id of the program, as in struct address_space */
	u64 execs;
	s64 offset;
	u32 module;
	u32 way;  /* enum context_way */
	u32 tgid; /* process id as the recorder sees it; the map's key is the kernel's process id */
	u32 reserved;
};
ABI_SIZE(struct context_place, 40);

/* The context of a blocked thread, kept until the event of the wait is written. */
struct waiting_context {
	u64 since; /* begin of the wait, as in struct blocked */
	u64 word[CONTEXT_WORDS];
};

#endif
