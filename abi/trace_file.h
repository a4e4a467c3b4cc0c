/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of a recording: a file header, then blocks up to an end block. docs/man/stackmap-data.5
 * describes every byte.
 *
 * Each block carries its own lengths and checksum, so a file that was cut off anywhere reads back
 * up to its last whole block. Event blocks depend on no other event block; stack blocks share one
 * dictionary of frames, which grows in the order of the file. Stacks, sources and mappings are in
 * the file before the first block of events that names them, cgroups before the first block of
 * tasks.
 *
 * A deferred user stack has a placeholder: an index like any stack, but no frames. A later block
 * gives the placeholder's stack.
 *
 * A payload is a set of columns, because values of one kind compress better side by side: the
 * lengths of the columns as varints, then the columns. Fixed-width fields are little-endian.
 */
#ifndef STACKMAP_ABI_TRACE_FILE_H
#define STACKMAP_ABI_TRACE_FILE_H

#include "scalar.h"

#define TRACE_FILE_MAGIC                                                                           \
	{                                                                                          \
		's', 't', 'a', 'c', 'k', 'm', 'a', 'p'                                             \
	}
#define TRACE_FILE_MAGIC_BYTES 8
#define TRACE_FILE_VERSION 3
/* version of a recording in which one event may stand for several equal events */
#define TRACE_FILE_VERSION_SUMMARY 4
#define TRACE_FILE_VERSION_TIMES 5   /* version of a recording with accounts of threads' time */
#define TRACE_FILE_VERSION_COUNTED 6 /* version of a recording whose events may be counted only */
/* version of a recording whose events may have a trace and a span */
#define TRACE_FILE_VERSION_CONTEXTS 7
/* version of a recording whose events may have a second value */
#define TRACE_FILE_VERSION_FURTHER 8
#define TRACE_FILE_VERSION_LOSSES 9 /* version of a recording whose sources may have ledgers */
/* version of a recording whose counted events have a row for each power of two of their values */
#define TRACE_FILE_VERSION_AGGREGATES 10
/* version of a recording whose events may have attributes of their threads */
#define TRACE_FILE_VERSION_ATTRIBUTES 11
#define TRACE_FILE_VERSION_CGROUPS 2 /* first version in which tasks have a cgroup */
/* first version with symbol addresses; before, all symbols had a name */
#define TRACE_FILE_VERSION_ADDRESSES 3
#define TRACE_FILE_LITTLE_ENDIAN 1

/* These 16 bytes keep their meaning in every version. */
struct trace_file_header {
	u8 magic[TRACE_FILE_MAGIC_BYTES];
	u8 byte_order;
	u8 reserved; /* always 0 */
	u16 version;
	u32 checksum; /* CRC-32 of the 12 bytes before this member */
};
ABI_SIZE(struct trace_file_header, 16);
ABI_OFFSET(struct trace_file_header, checksum, 12);

#define TRACE_BLOCK_TYPES(X)                                                                       \
	X(INFO, "info", "where, when and how the recording was made; the first block")             \
	X(SOURCES, "sources", "event sources, in the order of their kinds")                        \
	X(MODULES, "modules", "the kernel and its modules")                                        \
	X(MAPPINGS, "mappings", "files and anonymous memory that user frames lie in")              \
	X(STACKS, "stacks", "call stacks, in the order of their indexes")                          \
	X(TASKS, "tasks", "names of threads")                                                      \
	X(EVENTS, "events", "events of one CPU, in the order of time")                             \
	X(SYMBOLS, "symbols", "names and bounds of functions")                                     \
	X(LEDGER, "ledger", "the account of all events")                                           \
	X(END, "end", "the last block: the recording was finished")                                \
	X(RESOLUTIONS, "resolutions", "what deferred stacks turned out to be")                     \
	X(CGROUPS, "cgroups", "what tasks were in, in the order of their numbers")                 \
	X(TIMES, "times", "accounts of threads' time")                                             \
	X(CONTEXTS, "contexts", "traces and spans, in the order of their numbers")                 \
	X(LOSSES, "losses", "the account of each source, in the order of their kinds")             \
	X(PROCESSES, "processes", "process contexts: attributes that processes publish")           \
	X(ATTRIBUTES, "attributes",                                                                \
	  "attributes that threads publish, in the order of their numbers")

#define X(id, name, meaning) ABI_ENUM_ENTRY(TRACE_BLOCK, id)
enum trace_block_type { TRACE_BLOCK_TYPES(X) TRACE_BLOCK_TYPE_COUNT };
#undef X

enum trace_coding { TRACE_CODING_PLAIN = 0, TRACE_CODING_ZSTD = 1 };

#define TRACE_BLOCK_MAGIC 0x4b4c4253U /* "SBLK" */
#define TRACE_BLOCK_COLUMNS_MAX 16U
#define TRACE_BLOCK_RAW_MAX (4U << 20)
#define TRACE_BLOCK_EVENTS_MAX 65536U
#define TRACE_STRING_MAX 65535U
#define TRACE_PROCESS_BYTES_MAX 16384U /* most bytes of a process context */

struct trace_block_header {
	u32 magic;
	u32 checksum;	  /* CRC-32 of the rest of this header and of the stored payload */
	u8 type;	  /* enum trace_block_type */
	u8 coding;	  /* enum trace_coding */
	u16 cpu;	  /* EVENTS: CPU of the events; other blocks: 0 */
	u32 sequence;	  /* 0 for the first block; each further block adds 1 */
	u32 stored_bytes; /* bytes of the payload in the file */
	u32 raw_bytes;	  /* bytes of the decompressed payload, <= TRACE_BLOCK_RAW_MAX */
	u32 records;
	u32 columns;	/* number of columns, at most TRACE_BLOCK_COLUMNS_MAX */
	u64 first_time; /* EVENTS: times of the first and of the last record; other blocks: 0 */
	u64 last_time;
};
ABI_SIZE(struct trace_block_header, 48);
ABI_OFFSET(struct trace_block_header, type, 8);
ABI_OFFSET(struct trace_block_header, records, 24);
ABI_OFFSET(struct trace_block_header, first_time, 32);

/* The columns of each type of block. */
enum trace_record_column { RECORD_NUMBERS, RECORD_TEXT, RECORD_COLUMNS };
enum trace_stack_column {
	STACK_COLUMN_IDS,
	STACK_COLUMN_SHAPES,
	STACK_COLUMN_ORDER,
	STACK_COLUMN_REGIONS,
	STACK_COLUMN_OFFSETS,
	STACK_COLUMNS
};
enum trace_resolution_column {
	RESOLUTION_COLUMN_PLACEHOLDERS,
	RESOLUTION_COLUMN_STACKS,
	RESOLUTION_COLUMN_LEAF, /* a number column: codes, then bits */
	RESOLUTION_COLUMN_LEAF_BITS,
	RESOLUTION_COLUMNS
};
enum trace_event_column {
	/* the keys that the events of the block have: thread and kind, and their stacks */
	EVENT_COLUMN_TASKS,
	EVENT_COLUMN_KERNEL,
	EVENT_COLUMN_USER,
	EVENT_COLUMN_ORDER,
	EVENT_COLUMN_TIME, /* a number column: codes, then bits; the next two, too */
	EVENT_COLUMN_TIME_BITS,
	EVENT_COLUMN_LEAF,
	EVENT_COLUMN_LEAF_BITS,
	EVENT_COLUMN_VALUE,
	EVENT_COLUMN_VALUE_BITS,
	EVENT_COLUMNS,
	/* only in a summary, and in blocks of events that are counted only; a number column */
	EVENT_COLUMN_REPEATS = EVENT_COLUMNS,
	EVENT_COLUMN_REPEATS_BITS,
	EVENT_COLUMNS_SUMMARY,
	/* only in blocks of which an event has a context; a number column */
	EVENT_COLUMN_CONTEXT = EVENT_COLUMNS_SUMMARY,
	EVENT_COLUMN_CONTEXT_BITS,
	EVENT_COLUMNS_CONTEXTS,
	/* only in blocks of which an event has a further value; a number column */
	EVENT_COLUMN_FURTHER = EVENT_COLUMNS_CONTEXTS,
	EVENT_COLUMN_FURTHER_BITS,
	EVENT_COLUMNS_FURTHER
};

/*
 * A number column holds one code byte for each number, and the bits that the code leaves open:
 *
 *   number < 8          code = number
 *   2^e <= number < 2^(e+1), 3 <= e <= 32
 *                       code = 8 + (e - 3) * 8 + the three bits below the top one; then e - 3 bits
 *   larger              code = NUMBER_WIDE, then 64 bits
 *
 * Codes are few and skewed, so they compress. The open bits are noise and are stored as they are,
 * packed from the lowest bit of the first byte upwards.
 */
#define NUMBER_SMALL 8U
#define NUMBER_EXPONENT_MIN 3U
#define NUMBER_EXPONENT_MAX 32U
#define NUMBER_WIDE 255U

/*
 * Keys are numbers that follow one another in patterns: frames from caller to callee, and the keys
 * of events, which hold all of an event except its time, leaf and value. An ORDER column encodes
 * each key as a symbol: its rank among the last KEY_SUCCESSORS distinct keys that followed the key
 * before it, latest first, or KEY_SYMBOL_NEW for the next key that was not used before, or
 * KEY_SYMBOL_ANY + the key.
 */
#define KEY_SUCCESSORS 4U
#define KEY_SYMBOL_NEW KEY_SUCCESSORS
#define KEY_SYMBOL_ANY (KEY_SUCCESSORS + 1)

/*
 * A stack in a key or a resolution is a number: the reason for a missing stack, or KEY_STACK_BASE
 * + the signed difference between the stack's index and the highest index so far in the block (at
 * first 0). New stacks therefore have small numbers.
 */
#define KEY_STACK_BASE 16U

#endif
