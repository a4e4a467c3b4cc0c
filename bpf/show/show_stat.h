/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file `stack_map_stat`. Hits have no counter: the reference count of a stack is 1 for its
 * insertion plus its hits. The sum needs a walk over the table, and output begins after the walk.
 *
 * The ledger covers the instance's whole life. Losses are read before produced events: events in
 * between count as recorded, so the number of recorded events is never negative. Causes that
 * programs cannot know are left out, since 0 would be a claim: runs that the kernel refused are
 * counted where only user space may ask, and events that were read are in their reader's account.
 */
#ifndef BPF_SHOW_STAT_H
#define BPF_SHOW_STAT_H

#include "reading.h"
#include "show_trace.h"
#include "state/rings.h"
#include "state/scratch_slots.h"
#include "state/triggers.h"

#define SLOTS_SUMMED_AT_ONCE 4096

struct table_sum {
	void *table;
	struct reading *reading;
};

static long slot_add_to_sums(u32 i, struct table_sum *sum)
{
	struct reading *reading = sum->reading;
	const struct table_view *stack;

	if (reading->next > geometry.slot_mask)
		return 1;
	stack = stack_map_at(sum->table, &geometry, reading->next++);
	if (stack) {
		reading->entries++;
		reading->refs += stack->ref_count;
	}
	return 0;
}

static __always_inline void scratch_add_counters(struct reading *reading,
						 const struct scratch *scratch)
{
	const volatile struct scratch_counters *counters = &scratch->counters;
	u64 refused = env_volatile(&scratch->refused), paused = counters->lost[LOST_PAUSED];
	u32 cause;

	for (cause = 0; cause < LOST_COUNT; cause++)
		if (cause != LOST_PAUSED)
			reading->lost[cause] += counters->lost[cause];
	reading->lost[LOST_PAUSED] += paused;
	reading->lost[LOST_NESTED] += refused;
	reading->produced += counters->produced + paused + refused;
	reading->counted += counters->counted;
}

static __always_inline void walk_counters_add(struct reading *reading,
					      const struct scratch *scratch)
{
	const volatile struct scratch_counters *counters = &scratch->counters;

	for (u32 stop = 0; stop < STOP_COUNT; stop++)
		reading->deferred[stop] += counters->deferred[stop];
	reading->walked += counters->walked;
	reading->table_steps += counters->table_steps;
	reading->mapping_walks += scratch->search.walks;
	reading->script_joined += counters->script_joined;
	reading->script_unjoined += counters->script_unjoined;
	reading->script_unknown += counters->script_unknown;
	reading->script_missed += counters->script_missed;
}

static long cpu_add_counters(u32 cpu, struct reading **context)
{
	const struct cpu_scratch *own = bpf_map_lookup_elem(&scratch_slots, &cpu);
	const struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	const struct counted_table *table = bpf_map_lookup_elem(&counted, &cpu);
	struct reading *reading = *context;
	u32 i;

	if (!own || !ring)
		return 1;
	reading->lost[LOST_RESET] += ring->reset;
	if (table)
		reading->counted -= table->discarded;
	for (i = 0; i < SCRATCH_SLOTS; i++) {
		scratch_add_counters(reading, &own->scratch[i]);
		walk_counters_add(reading, &own->scratch[i]);
		/*
		 * Without this barrier clang 19 keeps all sums on the BPF stack, which is too small
		 * on 6.1.
		 */
		barrier_compiler();
	}
	return 0;
}

static __always_inline u64 percent(u64 part, u64 whole)
{
	return whole ? part * 100 / whole : 0;
}

static __always_inline u64 pool_bytes_used(const struct table_header *header)
{
	u32 words = header->allocated;

	return 8ULL * (words < geometry.pool_words ? words : geometry.pool_words);
}

/* The fill level of the map's entries or of its pool of words, whichever is higher. */
static __always_inline u64 fill_percent(const struct reading *reading,
					const struct table_header *table)
{
	u64 entries = percent(reading->entries, 1ULL << geometry.bits);
	u64 pool = percent(pool_bytes_used(table), 8ULL * geometry.pool_words);

	return entries > pool ? entries : pool;
}

static __always_inline void table_counters_print(struct seq_file *seq,
						 const struct reading *reading, void *table)
{
	u64 hits = reading->refs - reading->entries, drops = sum_table_counters(table).drops;
	u64 calls = reading->refs + drops;

	BPF_SEQ_PRINTF(seq, "entries: %llu / %llu\n", reading->entries, 1ULL << geometry.bits);
	BPF_SEQ_PRINTF(seq, "pool: %llu / %llu\n", pool_bytes_used(table),
		       8ULL * geometry.pool_words);
	BPF_SEQ_PRINTF(seq, "full: %llu%%\n", fill_percent(reading, table));
	BPF_SEQ_PRINTF(seq, "table_size: %llu\n", geometry.slot_mask + 1ULL);
	BPF_SEQ_PRINTF(seq, "successes: %llu\n", reading->refs);
	BPF_SEQ_PRINTF(seq, "hits: %llu\n", hits);
	BPF_SEQ_PRINTF(seq, "drops: %llu\n", drops);
	BPF_SEQ_PRINTF(seq, "success_rate: %llu%%\n", percent(reading->refs, calls));
	BPF_SEQ_PRINTF(seq, "hit_rate: %llu%%\n", percent(hits, calls));
	BPF_SEQ_PRINTF(seq, "generation: %llu\n", reading->generation);
}

/*
 * True if programs count events that were lost for this cause. Three causes (spool_full, clock,
 * not_stored) occur only on the way to a store.
 */
static __always_inline bool is_counted_cause(enum ledger_lost cause)
{
	return cause != LOST_RECURSION && cause != LOST_WRITE_ERROR &&
	       (cause < LOST_SPOOL_FULL || cause == LOST_TABLE_FULL);
}

static __always_inline void ledger_lines_print(struct seq_file *seq, const struct reading *reading)
{
	u64 recorded = reading->produced - reading->counted;
	u32 cause;

	for (cause = 0; cause < LOST_COUNT; cause++)
		recorded -= reading->lost[cause];
	BPF_SEQ_PRINTF(seq, "produced: %llu\n", reading->produced);
	BPF_SEQ_PRINTF(seq, "recorded: %llu\n", recorded);
	BPF_SEQ_PRINTF(seq, "counted_only: %llu\n", reading->counted);
#define X(id, name, meaning)                                                                       \
	if (is_counted_cause(LOST_##id))                                                           \
		BPF_SEQ_PRINTF(seq, name ": %llu\n", reading->lost[LOST_##id]);
	LEDGER_LOST(X)
#undef X
}

/*
 * Prints the event that has stopped the instance (abi/trigger_state.h), with the clock of the file
 * `trace`.
 */
static __always_inline void stop_event_print(struct seq_file *seq)
{
	u32 key = 0, kind;
	const struct trigger_state *state = bpf_map_lookup_elem(&triggers, &key);
	u64 time = state ? state->stop_time : 0;
	const void *name;

	if (!time || bpf_ktime_get_ns() <= time + state->delay)
		return;
	kind = state->stop_kind - 1;
	name = bpf_map_lookup_elem(&source_names, &kind);
	if (name)
		BPF_SEQ_PRINTF(seq, "stopped_by: %s\n", (u64)name);
	BPF_SEQ_PRINTF(seq, "stopped_at: %llu.%06llu\n", time / 1000000000, time / 1000 % 1000000);
}

static __always_inline void walk_counters_print(struct seq_file *seq, const struct reading *reading)
{
	BPF_SEQ_PRINTF(seq, "user_walked: %llu\n", reading->walked);
	BPF_SEQ_PRINTF(seq, "user_table_frames: %llu\n", reading->table_steps);
	BPF_SEQ_PRINTF(seq, "user_mapping_walks: %llu\n", reading->mapping_walks);
	BPF_SEQ_PRINTF(seq, "script_loops: %llu\n", reading->script_joined);
	BPF_SEQ_PRINTF(seq, "unjoined_scripts: %llu\n", reading->script_unjoined);
	BPF_SEQ_PRINTF(seq, "unnamed_scripts: %llu\n", reading->script_unknown);
	BPF_SEQ_PRINTF(seq, "deep_scripts: %llu\n", reading->script_missed);
#define X(id, name, meaning)                                                                       \
	if (STOP_IS_DEFERRAL(STOP_##id))                                                           \
		BPF_SEQ_PRINTF(seq, "user_deferred_" name ": %llu\n", reading->deferred[STOP_##id]);
	STOP_REASONS(X)
#undef X
}

SEC("iter/bpf_map_elem")
int show_stack_map_stat(struct bpf_iter__bpf_map_elem *ctx)
{
	struct table_sum sum;
	struct file_show show;
	int answer = file_show_begin(ctx, &show);

	if (answer != SHOW_MORE)
		return answer;
	sum.reading = show.reading;
	sum.table = table_of_reading(show.reading);
	if (!sum.table)
		return reading_fail_line_too_long(show.seq);
	bpf_loop(SLOTS_SUMMED_AT_ONCE, slot_add_to_sums, &sum, 0);
	if (show.reading->next <= geometry.slot_mask)
		return SHOW_DONE;
	bpf_loop(CONFIG_CPUS_MAX, cpu_add_counters, &show.reading, 0);
	table_counters_print(show.seq, show.reading, sum.table);
	walk_counters_print(show.seq, show.reading);
	ledger_lines_print(show.seq, show.reading);
	stop_event_print(show.seq);
	show.reading->is_whole = 1;
	return SHOW_DONE;
}

#endif
