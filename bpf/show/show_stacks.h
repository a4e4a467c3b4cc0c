/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files `stack_map` and `stack_map_bin`: every stack of one generation, in the order of its
 * slots. A stack that is stored during a read is shown if the read has not passed its slot.
 */
#ifndef BPF_SHOW_STACKS_H
#define BPF_SHOW_STACKS_H

#include "frame_text.h"
#include "reading.h"
#include "stack/text_kind.h"
#include "stack_map_bin.h"

#define SLOTS_AT_ONCE 4096 /* most slots that one call looks at */

struct stack_show {
	struct file_show file;
	void *table;
};

/* The stack that a call prints. */
struct stack_put {
	struct seq_file *seq;
	struct reading *reading;
	const struct table_view *stack;
};

static __always_inline u64 frame_in_map(const struct table_view *stack, u32 i)
{
	u32 flags = IDENTITY_FLAGS(stack->identity);
	u32 word = flags & STACK_NARROW ? i / 2 : i;

	core_one_register(word);
	if (word >= STACK_WORDS_MAX)
		return 0;
	if (flags & STACK_NARROW)
		return FRAME_NARROW_TOP | (u32)(stack->word[word] >> (i % 2 * 32));
	return stack->word[word];
}

/*
 * A frame as abi/stack.h defines it. The map holds the pc of interrupted kernel code, so 1 is
 * added.
 */
static __always_inline u64 frame_in_file_format(const struct table_view *stack, u32 i)
{
	u64 frame = frame_in_map(stack, i);

	if (i && FRAME_IS_KERNEL(frame) &&
	    text_kind_search(frame_in_map(stack, i - 1)) == TEXT_ENTRY)
		frame += FRAME_BEHIND_INTERRUPTED;
	return frame;
}

static long frame_print_text(u32 i, struct stack_put *put)
{
	u32 frame = put->reading->part - 1; /* part 0 of a stack is its head line */

	if (frame >= IDENTITY_DEPTH(put->stack->identity) || is_buffer_full(put->seq))
		return 1;
	frame_print(put->seq, frame_in_file_format(put->stack, frame), frame);
	put->reading->part++;
	return 0;
}

/* Prints a stack. 1: the buffer is full, and the next call continues the stack. */
static __always_inline long stack_print_text(struct stack_show *show,
					     const struct table_view *stack)
{
	struct stack_put put = {
		.seq = show->file.seq, .reading = show->file.reading, .stack = stack};
	u32 depth = IDENTITY_DEPTH(stack->identity);

	if (is_buffer_full(show->file.seq))
		return 1;
	if (!show->file.reading->part) {
		BPF_SEQ_PRINTF(show->file.seq, "stack_id %u [ref %llu, depth %u]\n",
			       stack_map_id(show->table, show->file.reading->next),
			       stack->ref_count, depth);
		show->file.reading->part = 1;
	}
	bpf_loop(STACK_WORDS_MAX, frame_print_text, &put, 0);
	if (show->file.reading->part <= depth || is_buffer_full(show->file.seq))
		return 1;
	if (IDENTITY_FLAGS(stack->identity) & STACK_TRUNCATED)
		BPF_SEQ_PRINTF(show->file.seq, "  ...\n");
	BPF_SEQ_PRINTF(show->file.seq, "\n");
	return 0;
}

static long frame_print_binary(u32 i, struct stack_put *put)
{
	u64 frame;

	if (i >= IDENTITY_DEPTH(put->stack->identity))
		return 1;
	frame = frame_in_file_format(put->stack, i);
	if (hides_addresses && FRAME_IS_KERNEL(frame))
		frame = 0;
	bpf_seq_write(put->seq, &frame, sizeof(frame));
	return 0;
}

static __always_inline long stack_print_binary(struct stack_show *show,
					       const struct table_view *stack)
{
	struct stack_put put = {
		.seq = show->file.seq, .reading = show->file.reading, .stack = stack};
	u64 refs = stack->ref_count;
	struct stack_map_bin_record record = {
		.stack_id = stack_map_id(show->table, show->file.reading->next),
		.depth = IDENTITY_DEPTH(stack->identity),
		.ref_count = refs > ~0U ? ~0U : refs,
		.flags = IDENTITY_FLAGS(stack->identity) & STACK_TRUNCATED,
	};

	if (is_buffer_full(show->file.seq))
		return 1;
	bpf_seq_write(show->file.seq, &record, sizeof(record));
	bpf_loop(STACK_WORDS_MAX, frame_print_binary, &put, 0);
	return 0;
}

static __always_inline long show_stack_of_slot(struct stack_show *show, bool is_binary)
{
	struct reading *reading = show->file.reading;
	const struct table_view *stack;

	if (reading->next > geometry.slot_mask)
		return 1;
	stack = stack_map_at(show->table, &geometry, reading->next);
	if (stack && (is_binary ? stack_print_binary(show, stack) : stack_print_text(show, stack)))
		return 1;
	reading->part = 0;
	reading->next++;
	return 0;
}

static long show_stack_of_slot_as_text(u32 i, struct stack_show *show)
{
	return show_stack_of_slot(show, false);
}

static long show_stack_of_slot_as_binary(u32 i, struct stack_show *show)
{
	return show_stack_of_slot(show, true);
}

static __always_inline void print_binary_file_header(struct seq_file *seq, void *table)
{
	struct stack_map_bin_header header = {
		.magic = STACK_MAP_BIN_MAGIC,
		.version = STACK_MAP_BIN_VERSION,
		.count = count_inserts_of_table(table),
	};

	bpf_seq_write(seq, &header, sizeof(header));
}

static __always_inline int stacks_show(struct bpf_iter__bpf_map_elem *ctx, bool is_binary)
{
	struct stack_show show;
	int answer = file_show_begin(ctx, &show.file);
	struct reading *reading = show.file.reading;

	if (answer != SHOW_MORE)
		return answer;
	show.table = table_of_reading(reading);
	if (!show.table)
		return reading_fail_line_too_long(show.file.seq);
	if (is_binary && !reading->is_begun)
		print_binary_file_header(show.file.seq, show.table);
	reading->is_begun = 1;
	if (is_binary)
		bpf_loop(SLOTS_AT_ONCE, show_stack_of_slot_as_binary, &show, 0);
	else
		bpf_loop(SLOTS_AT_ONCE, show_stack_of_slot_as_text, &show, 0);
	reading->is_whole = reading->next > geometry.slot_mask;
	return SHOW_DONE;
}

SEC("iter/bpf_map_elem")
int show_stack_map(struct bpf_iter__bpf_map_elem *ctx)
{
	return stacks_show(ctx, false);
}

SEC("iter/bpf_map_elem")
int show_stack_map_bin(struct bpf_iter__bpf_map_elem *ctx)
{
	return stacks_show(ctx, true);
}

#endif
