/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One read of a file of an instance, from open to end of file.
 *
 * The files are iterators over an array without content, `elements`: the kernel calls a program for
 * each of its elements, as often as there are some, and the program goes on where the read was.
 * That place is kept by session, the kernel's number of the open file. So an element prints as much
 * as there is room for, whatever it is: stacks differ a hundredfold in size.
 *
 * The kernel collects what is printed in a buffer of eight pages and hands it to the reader when
 * it is full, or at the end. A program that says "again" is called for the same element once more,
 * after the reader has taken what there is. So nothing is printed that does not fit, and no record
 * is cut in two by a reset or a reader that stops.
 *
 * A read that cannot go on as it began fails: E2BIG is the one error that every reader reports.
 */
#ifndef BPF_READING_H
#define BPF_READING_H

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "ledger.h"
#include "scalar.h"
#include "stack_tables.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file {
	unsigned long size;
	unsigned long count;
};

struct bpf_iter_meta {
	struct seq_file *seq;
	u64 session_id;
	u64 seq_num;
};

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *key; /* NULL: behind the last element */
};

#pragma clang attribute pop

#define READINGS_MAX 1024      /* at once; those that stopped before the end count until then */
#define PRINT_AT_ONCE_MAX 6144 /* bytes: a record of the longest stack, or a line */

enum { SHOW_DONE = 0, SHOW_AGAIN = 1 };

struct reading {
	u64 generation; /* 0: the read has just begun */
	u64 next;	/* what is shown next */
	u64 part;	/* of it: so many lines or bytes were shown */
	u64 is_whole;	/* all was shown */
	u64 entries;
	u64 refs;
	u64 produced;
	u64 lost[LOST_COUNT];
};

/* How many elements it takes is user space's to know. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} elements SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, READINGS_MAX);
	__type(key, u64);
	__type(value, struct reading);
} readings SEC(".maps");

/* No buffer has room for this line. */
static __always_inline int reading_fail(struct seq_file *seq)
{
	BPF_SEQ_PRINTF(seq, "%999999d", 0);
	return SHOW_DONE;
}

/* NULL: it is not known any more. */
static __always_inline struct reading *reading_of(const struct bpf_iter_meta *meta)
{
	u64 session = meta->session_id;
	struct reading *reading = bpf_map_lookup_elem(&readings, &session);
	struct reading fresh = {};

	if (reading || meta->seq_num)
		return reading;
	bpf_map_update_elem(&readings, &session, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&readings, &session);
}

/* Behind the last element: all of it must have been shown by now. */
static __always_inline int reading_end(const struct bpf_iter_meta *meta)
{
	u64 session = meta->session_id;
	struct reading *reading = bpf_map_lookup_elem(&readings, &session);

	if (!reading || !reading->is_whole)
		return reading_fail(meta->seq);
	bpf_map_delete_elem(&readings, &session);
	return SHOW_DONE;
}

/* Half a buffer: much can be shown at once, and the last elements do not run out over a few bytes
 * each. */
static __always_inline bool has_room(struct seq_file *seq)
{
	return seq->count <= seq->size / 2;
}

static __always_inline bool is_full(struct seq_file *seq)
{
	return seq->count + PRINT_AT_ONCE_MAX > seq->size;
}

static __always_inline bool is_generation(void *table, u64 generation)
{
	const struct table_header *header = table;

	return header && (!generation || header->generation == generation);
}

/* The table that the read began in, or begins in. NULL: the map was reset twice meanwhile. It stays
 * as it is until the program ends. */
static __always_inline void *reading_table(struct reading *reading)
{
	void *table = table_of(TABLE_CURRENT);

	if (!is_generation(table, reading->generation))
		table = table_of(TABLE_PREVIOUS);
	if (!is_generation(table, reading->generation))
		return NULL;
	reading->generation = ((const struct table_header *)table)->generation;
	return table;
}

#endif
