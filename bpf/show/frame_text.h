/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One frame as a line of text. Functions of user code have no names here, as that takes reading its
 * files; those of the kernel have, and an address that may not be seen is not printed instead of
 * one.
 */
#ifndef BPF_FRAME_TEXT_H
#define BPF_FRAME_TEXT_H

#include "reading.h"
#include "state/engine_maps.h"

const volatile u32 hides_addresses = 0; /* kptr_restrict, as it was at start */

/* What a terminal shows as it is. Beyond ASCII it would take a look at the bytes around it:
 * controls are among those characters, and bytes that are none. */
static __always_inline bool is_plain(u8 c)
{
	return c >= ' ' && c < 0x7f;
}

struct name_put {
	struct seq_file *seq;
	const struct mapping_record *record;
	u32 at;
};

/* A name is what somebody called a file: control characters would end lines, or be obeyed. */
static long name_put_byte(u32 i, struct name_put *name)
{
	u32 at = name->at + i;
	u8 c;

	core_one_register(at);
	if (at >= MAPPING_PATH_BYTES)
		return 1;
	c = name->record->path[at];
	if (!c)
		return 1;
	if (!is_plain(c))
		c = '?';
	bpf_seq_write(name->seq, &c, 1);
	return 0;
}

/* A file that is in no directory: memory with a descriptor. Or a path of which nothing is known. */
static __always_inline void nameless_put(struct seq_file *seq, const struct mapping_record *record)
{
	if (record->path_whole)
		BPF_SEQ_PRINTF(seq, "[unknown]");
	else
		BPF_SEQ_PRINTF(seq, "...");
}

/* The component of a path that begins at `at`. */
static __always_inline void name_put(struct seq_file *seq, const struct mapping_record *record,
				     u32 at)
{
	struct name_put name = {.seq = seq, .record = record, .at = at};

	if (!record->path_bytes)
		nameless_put(seq, record);
	else
		bpf_loop(MAPPING_PATH_BYTES, name_put_byte, &name, 0);
}

static __always_inline void user_frame_put(struct seq_file *seq, u64 frame)
{
	u32 number = FRAME_MAPPING(frame);
	struct mapping_record *record = bpf_map_lookup_elem(&mappings, &number);

	if (FRAME_IS_OMITTED(frame)) {
		BPF_SEQ_PRINTF(seq, "[%llu frames omitted]", FRAME_OFFSET(frame));
		return;
	}
	if (record && record->key.kind == MAPPING_FILE)
		name_put(seq, record, 0);
	else if (record && record->key.kind == MAPPING_VDSO)
		BPF_SEQ_PRINTF(seq, "[vdso]");
	else if (record && record->key.kind == MAPPING_ANON)
		BPF_SEQ_PRINTF(seq, "[anon]");
	else
		BPF_SEQ_PRINTF(seq, "[unknown]");
	BPF_SEQ_PRINTF(seq, "+0x%llx", FRAME_OFFSET(frame));
}

/* What has no name would be printed as its address. */
static __always_inline bool is_named(u64 frame)
{
	char text[4] = {};

	BPF_SNPRINTF(text, sizeof(text), "%pS", frame);
	return text[0] != '0';
}

/* A return address belongs to the call before it, even if that is the last of its function. What
 * was not called is at the address itself: the begin of a probed function. */
static __always_inline void kernel_frame_put(struct seq_file *seq, u64 frame, bool is_return)
{
	if (hides_addresses && !is_named(frame))
		BPF_SEQ_PRINTF(seq, "[unknown]");
	else if (is_return)
		BPF_SEQ_PRINTF(seq, "%pB", frame);
	else
		BPF_SEQ_PRINTF(seq, "%pS", frame);
}

static __always_inline void frame_name_put(struct seq_file *seq, u64 frame, bool is_return)
{
	if (FRAME_IS_KERNEL(frame))
		kernel_frame_put(seq, frame, is_return);
	else
		user_frame_put(seq, frame);
}

/* Frame i of a stack in the map. */
static __always_inline void frame_put(struct seq_file *seq, u64 frame, u32 i)
{
	BPF_SEQ_PRINTF(seq, "  [%u] ", i);
	frame_name_put(seq, frame, i || config.leaf);
	BPF_SEQ_PRINTF(seq, "\n");
}

#endif
