/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace and span that a thread works for, and attributes of its work, as the thread publishes
 * them (OpenTelemetry, OTEP 4947): a thread-local variable holds the address of a record, or NULL.
 *
 * The BPF programs read the variable of the current thread. The place of the variable differs from
 * process to process. A BPF program that meets a new process adds an entry to a map, by process id;
 * user space finds the place (lib/symbol/symbolizer/context_finder.h) and completes the entry.
 *
 * A read at the event does not wait for missing pages. Where the kernel calls back, the callback of
 * the event's cookie (abi/deferral.h) reads the context instead, and waits for the pages; the
 * context follows in a slot of its own.
 *
 * The attributes do not fit into a slot, and most events of a thread have the same ones. The slot
 * has their hash, and the bytes are in a table under the hash. The hash has a secret key, so bytes
 * with the right hash are the bytes of the event, whoever else has written to the table.
 */
#ifndef STACKMAP_ABI_THREAD_CONTEXT_H
#define STACKMAP_ABI_THREAD_CONTEXT_H

#include "rule.h"
#include "scalar.h"

#define THREAD_CONTEXT_SYMBOL "otel_thread_ctx_v1"

/*
 * The bytes of a record up to its attributes. A record counts only with `is_valid` 1, and only with
 * both ids or with none. An attribute is a byte with the number of its key, a byte with the length
 * of its value, and the value.
 */
struct thread_context_record {
	u64 trace[2]; /* 16 bytes, in the order of the text; all 0: none */
	u64 span;     /* 8 bytes, in the order of the text; 0: none */
	u8 is_valid;
	u8 flags;
	u16 attribute_bytes;
	/* the first bytes of the attributes; without attributes, bytes after the record */
	u8 attributes[4];
};
ABI_SIZE(struct thread_context_record, 32);
#define THREAD_CONTEXT_BYTES 28 /* number of bytes of the record that are read */

/*
 * An event's trace and span, and the hash of its attributes, as words of its slot. All 0: the event
 * has no context. No context has a trace with a span of 0, so words with a span of 0 say in the
 * first word why the event has no context yet:
 */
#define CONTEXT_WORDS 4
#define CONTEXT_SPAN 2 /* index of the span's word */
/* the memory of trace and span could not be read */
#define CONTEXT_UNREADABLE 1ULL
#define CONTEXT_AWAITED(cookie) (1ULL << 32 | (cookie)) /* the context of this cookie follows */

/* The word of the attributes. 0: the record has none; the least numbers are no hashes, but reasons
 * why the event has no attributes. */
#define CONTEXT_ATTRIBUTES 3	   /* index of the word */
#define ATTRIBUTES_UNREADABLE 1ULL /* the memory could not be read */
#define ATTRIBUTES_TOO_LONG 2ULL   /* more than ATTRIBUTE_BYTES_MAX */
#define ATTRIBUTES_LEAST_HASH 16ULL

/* A record of 640 bytes has as many; the specification advises against longer records. */
#define ATTRIBUTE_BYTES_MAX 612U
#define ATTRIBUTE_WORDS(bytes) (((bytes) + sizeof(u32) + 7) / 8)

/* The attributes of a record. The bytes after the last one, up to the end of the word, are 0. */
struct context_attributes {
	union {
		struct {
			u16 bytes;
			u16 program; /* context_place.execs, lower bits */
			u8 data[ATTRIBUTE_BYTES_MAX + 8];
		};
		u64 word[ATTRIBUTE_WORDS(ATTRIBUTE_BYTES_MAX) + 1];
	};
};
ABI_SIZE(struct context_attributes, 624);

/*
 * The table of attributes: sets of a few slots. The hash chooses the set. Attributes that the set
 * lacks take the place of those that came first; no reader takes anything out. The slot of an
 * overwritten record may be read meanwhile, so a reader compares the hash of what it has read.
 */
#define ATTRIBUTE_SETS 2048U /* a power of two */
#define ATTRIBUTE_WAYS 4U    /* slots of a set */
#define ATTRIBUTE_SLOTS (ATTRIBUTE_SETS * ATTRIBUTE_WAYS)

struct attribute_slot {
	u64 hash; /* 0: empty, or being written */
	u32 busy; /* 1: a program writes the slot */
	u32 turn; /* in the first slot of a set: number of records that were written to the set */
	struct context_attributes attributes;
};
ABI_SIZE(struct attribute_slot, 640);

/* How the address of the thread-local variable follows from the thread pointer. */
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

#define CONTEXT_PLACES_MAX 4096 /* most processes for which the place of the variable is kept */
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
