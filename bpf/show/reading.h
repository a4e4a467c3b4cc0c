/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One read of a file of an instance, from open to end of file.
 *
 * A file is an iterator over objects that the program does not look at. The kernel calls the
 * program once for each object, and the program prints the next part of the file, as much as there
 * is room for, since stacks differ a hundredfold in size. The objects are the elements of an array
 * without content, or, where the kernel refuses iterators over maps, the symbols of the kernel
 * (lib/capture/instance/files.c chooses). Object number `parts` ends the read, and more objects
 * follow it: the kernel calls the program once more with the number of the last object.
 *
 * The position of a read is kept by session, the kernel's number of the open file. The position of
 * a reader that stops before the end stays until its room is needed; the position that was unused
 * for the longest time is dropped first.
 *
 * The kernel collects the output in a buffer of eight pages and hands it to the reader when the
 * buffer is full, or at the end. A program that returns SHOW_AGAIN is called for the same element
 * once more, after the reader has taken the output: all output fits, and no record is cut in two
 * by a reset or a reader that stops.
 *
 * A read that cannot go on as it began fails: E2BIG is the one error that every reader reports.
 */
#ifndef BPF_READING_H
#define BPF_READING_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "kept_records.h"
#include "kernel/iterator.h"
#include "scalar.h"
#include "stack_map.h"
#include "state/instance.h"
#include "state/map.h"
#include "state/stack_tables.h"

#define READINGS_MAX 64 /* most reads under way at once, unfinished reads included */
/* most bytes that are printed at once: the record of the longest stack, or a line */
#define PRINT_AT_ONCE_MAX 6144
#define CLAIM_TRIES 8

/* Results of a program at an object; SHOW_MORE is used inside of the program only. */
enum { SHOW_DONE = 0, SHOW_AGAIN = 1, SHOW_MORE = 2 };

/* One call of the program. */
struct file_show {
	struct seq_file *seq;
	struct reading *reading;
};

ARRAY_MAP(elements, 1, u64);

/* Number of objects that print, set by user space. */
const volatile u32 parts = 1;

/* Not an LRU map: shared by many CPUs, such a map may drop entries in use. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, READINGS_MAX);
	__uint(key_size, 4);
	__uint(value_size, READING_BYTES(1));
} readings SEC(".maps");

/* Makes the read fail with E2BIG: no buffer has room for this line. */
static __always_inline int reading_fail_line_too_long(struct seq_file *seq)
{
	BPF_SEQ_PRINTF(seq, "%999999d", 0);
	return SHOW_DONE;
}

struct reading_search {
	u64 session;
	u64 oldest;
	u32 found; /* index of the position; READINGS_MAX: not found */
};

static long reading_match_session(u32 i, struct reading_search *search)
{
	u32 at = (search->session + i) % READINGS_MAX;
	struct reading *reading = bpf_map_lookup_elem(&readings, &at);

	if (!reading || reading->session != search->session)
		return 0;
	search->found = at;
	return 1;
}

/* Chooses a free position in `readings`, or the position that was unused for the longest time. */
static long choose_reading_unused_longest(u32 i, struct reading_search *search)
{
	u32 at = (search->session + i) % READINGS_MAX;
	struct reading *reading = bpf_map_lookup_elem(&readings, &at);
	u64 used = reading && reading->session ? reading->used : 0;

	if (used < search->oldest) {
		search->oldest = used;
		search->found = at;
	}
	return !used;
}

static __always_inline struct reading *reading_of_position(u32 at)
{
	return bpf_map_lookup_elem(&readings, &at);
}

static __always_inline struct reading *reading_find_by_session(u64 session)
{
	struct reading_search search = {.session = session, .found = READINGS_MAX};

	bpf_loop(READINGS_MAX, reading_match_session, &search, 0);
	return reading_of_position(search.found);
}

static __always_inline void reading_clear(struct reading *reading)
{
	reading->generation = reading->next = reading->part = 0;
	reading->is_begun = reading->is_whole = 0;
	reading->entries = reading->refs = reading->produced = 0;
	reading->counted = 0;
	__builtin_memset(reading->lost, 0, sizeof(reading->lost));
	reading->walked = reading->table_steps = reading->mapping_walks = 0;
	reading->script_joined = reading->script_unjoined = 0;
	reading->script_unknown = reading->script_missed = 0;
	__builtin_memset(reading->deferred, 0, sizeof(reading->deferred));
}

/*
 * Assigns a position to a session. False: other readers have taken all that were tried. A global
 * function: the search is verified once, and not for each try.
 */
__noinline int reading_claim(u64 session)
{
	struct reading_search search = {.session = session, .oldest = ~0ULL};
	struct reading *reading;
	u64 former;

	bpf_loop(READINGS_MAX, choose_reading_unused_longest, &search, 0);
	reading = reading_of_position(search.found);
	if (!reading)
		return false;
	former = atomic_load_relaxed(&reading->session);
	if (search.oldest ? reading->used != search.oldest : former)
		return false;
	if (atomic_cas_acq_rel(&reading->session, former, session) != former)
		return false;
	reading_clear(reading);
	return true;
}

/* Finds or claims the position of a read. NULL: the position was dropped. */
static __always_inline struct reading *reading_find_or_claim(const struct bpf_iter_meta *meta)
{
	u64 session = meta->session_id + 1;
	struct reading *reading = reading_find_by_session(session);
	u32 try;

	if (!meta->seq_num && !reading) {
		for (try = 0; try < CLAIM_TRIES; try++)
			if (reading_claim(session))
				break;
		reading = reading_find_by_session(session);
	}
	if (reading)
		reading->used = bpf_ktime_get_ns();
	return reading;
}

/* Ends a read. Fails if not the whole file was shown. */
static __always_inline int reading_end(const struct bpf_iter_meta *meta)
{
	struct reading *reading = reading_find_by_session(meta->session_id + 1);

	if (!reading || !reading->is_whole)
		return reading_fail_line_too_long(meta->seq);
	atomic_store_release(&reading->session, 0);
	return SHOW_DONE;
}

/*
 * True if at most half of the buffer is used. Each call then shows much, and the last objects are
 * not used up for a few bytes each.
 */
static __always_inline bool has_buffer_room(struct seq_file *seq)
{
	return seq->count <= seq->size / 2;
}

static __always_inline bool is_buffer_full(struct seq_file *seq)
{
	return seq->count + PRINT_AT_ONCE_MAX > seq->size;
}

/*
 * Begins a call of the program. SHOW_MORE: the program prints now. The program returns any other
 * result at once.
 */
static __always_inline int file_show_begin(const struct bpf_iter__bpf_map_elem *ctx,
					   struct file_show *show)
{
	show->seq = ctx->meta->seq;
	if (ctx->meta->seq_num > parts)
		return SHOW_DONE;
	if (ctx->meta->seq_num == parts)
		return reading_end(ctx->meta);
	if (!has_buffer_room(show->seq))
		return SHOW_AGAIN;
	show->reading = reading_find_or_claim(ctx->meta);
	if (!show->reading)
		return reading_fail_line_too_long(show->seq);
	return show->reading->is_whole ? SHOW_DONE : SHOW_MORE;
}

static __always_inline bool is_table_of_generation(void *table, u64 generation)
{
	const struct table_header *header = table;

	return header && (!generation || header->generation == generation);
}

/*
 * Returns the table of the generation in which the read began. A read that begins now takes the
 * current table. NULL: the map was reset twice meanwhile. The table is valid until the program
 * ends.
 */
static __always_inline void *table_of_reading(struct reading *reading)
{
	void *table = stack_table_of_role(TABLE_CURRENT);

	if (!is_table_of_generation(table, reading->generation))
		table = stack_table_of_role(TABLE_PREVIOUS);
	if (!is_table_of_generation(table, reading->generation))
		return NULL;
	reading->generation = ((const struct table_header *)table)->generation;
	return table;
}

/* Sums over the per-CPU counters of a stack map's generation. */

struct line_sums {
	void *table;
	u64 inserts;
	u64 drops;
};

static long add_table_counters_of_cpu(u32 i, struct line_sums *sums)
{
	const struct table_cpu *line;
	u32 cause;

	if (i >= geometry.cpus)
		return 1;
	line = table_line(sums->table, &geometry, i);
	sums->inserts += line->inserts;
	for (cause = 0; cause < TABLE_DROP_COUNT; cause++)
		sums->drops += line->drops[cause];
	return 0;
}

static __always_inline struct line_sums sum_table_counters(void *table)
{
	struct line_sums sums = {.table = table};

	bpf_loop(CONFIG_CPUS_MAX + 1, add_table_counters_of_cpu, &sums, 0);
	return sums;
}

static __always_inline u64 count_inserts_of_table(void *table)
{
	return sum_table_counters(table).inserts;
}

#endif
