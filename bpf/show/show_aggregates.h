/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file `aggregates` of an instance that aggregates: a line for each row that has events which
 * no reader has taken yet. Rows are of one CPU, one thread and one power of two, since a program
 * that prints cannot add up rows of others. A row that a program is writing, or a reader taking,
 * may show a number of the moment before beside one of the moment after.
 */
#ifndef BPF_SHOW_AGGREGATES_H
#define BPF_SHOW_AGGREGATES_H

#include "show_trace.h"

#define ROWS_AT_ONCE 4096 /* most rows that one call looks at */

static __always_inline void aggregate_print(struct seq_file *seq, const struct counted_place *place,
					    u32 cpu)
{
	const struct counted_row *row = place->row;
	const struct event_slot stacks = {.stamp = row->key.task,
					  .kernel = (u32)row->key.stacks,
					  .user = (u32)(row->key.stacks >> 32)};
	u64 count = row->count - row->reported_count, sum = row->value - row->reported_value;
	u32 kind = STAMP_KIND(stacks.stamp);
	const void *name = bpf_map_lookup_elem(&source_names, &kind);

	if (!name || !count)
		return;
	task_print(seq, COUNTED_TID(row->key.task));
	BPF_SEQ_PRINTF(seq, " [%03u] %s:", cpu, (u64)name);
	kernel_stack_print(seq, &stacks);
	user_stack_print(seq, &stacks);
	if (row->key.leaf) {
		BPF_SEQ_PRINTF(seq, " <leaf ");
		frame_name_print(seq, row->key.leaf, false);
		BPF_SEQ_PRINTF(seq, ">");
	}
	BPF_SEQ_PRINTF(seq, " count %llu", count);
	if (config.value)
		BPF_SEQ_PRINTF(seq, " sum %llu avg %llu min %llu max %llu", sum, sum / count,
			       ~place->range->least_inverted, place->range->most);
	BPF_SEQ_PRINTF(seq, "\n");
}

static long aggregate_show(u32 i, struct file_show *show)
{
	u64 next = show->reading->next;
	u32 cpu = next / config.counted_rows;
	struct counted_table *table = bpf_map_lookup_elem(&counted, &cpu);
	struct counted_place place;

	if (is_buffer_full(show->seq))
		return 1;
	if (!table) {
		show->reading->is_whole = 1;
		return 1;
	}
	place = counted_place_at(table, next);
	show->reading->next = next + 1;
	if (place.row && place.range && atomic_load_acquire(&place.row->state) == COUNTED_READY)
		aggregate_print(show->seq, &place, cpu);
	return 0;
}

SEC("iter/bpf_map_elem")
int show_aggregates(struct bpf_iter__bpf_map_elem *ctx)
{
	struct file_show show;
	int answer = file_show_begin(ctx, &show);

	if (answer != SHOW_MORE)
		return answer;
	bpf_loop(ROWS_AT_ONCE, aggregate_show, &show, 0);
	return SHOW_DONE;
}

#endif
