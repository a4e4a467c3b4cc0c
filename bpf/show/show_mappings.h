/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file `mappings`: the files that frames of `stack_map_bin` refer to, in the text of
 * lib/format/mappings_text.h. It lists the kernel and its modules as they were at start, then the
 * mappings of user frames. Instances share the mapping numbers, so the list has files that only
 * other instances have met.
 *
 * A record holds its path from the file outwards; the path is printed from the root on.
 */
#ifndef BPF_SHOW_MAPPINGS_H
#define BPF_SHOW_MAPPINGS_H

#include "frame_text.h"
#include "reading.h"
#include "state/engine_maps.h"

#define MAPPINGS_AT_ONCE 1024 /* most mappings that one call shows */

/*
 * Made and filled by user space: the lines of the kernel and its modules. A value is as long as the
 * longest line.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 1);
} kernel_mappings SEC(".maps");

const volatile u32 kernel_mapping_count = 1;

struct path_put {
	struct seq_file *seq;
	const struct mapping_record *record;
	u32 at; /* index of the first byte of the component that is printed */
};

static __always_inline u8 path_byte(const struct mapping_record *record, u32 at)
{
	core_one_register(at);
	return at < MAPPING_PATH_BYTES ? record->path[at] : 0;
}

/* Prints one byte of a path, escaped, so that a line stays one line. */
static __always_inline void path_byte_print(struct seq_file *seq, u8 c)
{
	u8 octal[4] = {'\\', '0' + (c >> 6), '0' + (c >> 3 & 7), '0' + (c & 7)};

	if (!is_printable_ascii(c) || c == '\\')
		bpf_seq_write(seq, octal, sizeof(octal));
	else
		bpf_seq_write(seq, &c, 1);
}

static long path_component_print_byte(u32 i, struct path_put *put)
{
	u8 c = path_byte(put->record, put->at + i);

	if (!c)
		return 1;
	path_byte_print(put->seq, c);
	return 0;
}

/*
 * Prints a component of the path if the component begins at the i-th byte from the end of
 * record->path: at byte 0, or after a NUL.
 */
static long path_component_print(u32 i, struct path_put *put)
{
	u32 at = put->record->path_bytes - 1 - i;

	if (at >= MAPPING_PATH_BYTES)
		return 1;
	if (at && path_byte(put->record, at - 1))
		return 0;
	BPF_SEQ_PRINTF(put->seq, "/");
	put->at = at;
	bpf_loop(MAPPING_PATH_BYTES, path_component_print_byte, put, 0);
	return !at;
}

static __always_inline void path_print(struct seq_file *seq, const struct mapping_record *record)
{
	struct path_put put = {.seq = seq, .record = record};

	if (!record->path_bytes)
		file_name_substitute_print(seq, record);
	else if (!record->path_whole)
		BPF_SEQ_PRINTF(seq, "...");
	bpf_loop(MAPPING_PATH_BYTES, path_component_print, &put, 0);
}

static __always_inline void build_id_print(struct seq_file *seq,
					   const struct mapping_record *record)
{
	u32 i, bytes = atomic_load_acquire((u32 *)&record->build_id_bytes);

	if (!bytes || bytes > MAPPING_BUILD_ID_MAX)
		BPF_SEQ_PRINTF(seq, "-");
	else
		for (i = 0; i < MAPPING_BUILD_ID_MAX && i < bytes; i++)
			BPF_SEQ_PRINTF(seq, "%02x", record->build_id[i]);
}

static __always_inline void mapping_print(struct seq_file *seq, u32 number,
					  const struct mapping_record *record)
{
	BPF_SEQ_PRINTF(seq, "%u ", number);
	build_id_print(seq, record);
	BPF_SEQ_PRINTF(seq, " ");
	if (record->key.kind == MAPPING_FILE)
		path_print(seq, record);
	else if (record->key.kind == MAPPING_VDSO)
		BPF_SEQ_PRINTF(seq, "[vdso]");
	else
		BPF_SEQ_PRINTF(seq, "[anon]");
	BPF_SEQ_PRINTF(seq, "\n");
}

/*
 * True if the record was published. A record that lost the race for its key has an unused number.
 */
static __always_inline bool is_mapping_number_used(u32 number, const struct mapping_record *record)
{
	struct mapping_key key = record->key;
	const u32 *published = bpf_map_lookup_elem(&mapping_numbers, &key);

	return published && *published == number;
}

static __always_inline long show_user_mapping_line(struct file_show *show, u32 number)
{
	const struct mapping_record *record = bpf_map_lookup_elem(&mappings, &number);
	const struct engine_state *engine = current_engine_state();

	if (!record || !engine || number > engine->mapping_last) {
		show->reading->is_whole = 1;
		return 1;
	}
	if (is_mapping_number_used(number, record))
		mapping_print(show->seq, number, record);
	return 0;
}

static long show_mapping_line(u32 i, struct file_show *show)
{
	u32 line = show->reading->next;
	const void *text = bpf_map_lookup_elem(&kernel_mappings, &line);

	if (is_buffer_full(show->seq))
		return 1;
	if (text)
		BPF_SEQ_PRINTF(show->seq, "%s\n", (u64)text);
	else if (show_user_mapping_line(show, line - kernel_mapping_count + 1))
		return 1;
	show->reading->next++;
	return 0;
}

SEC("iter/bpf_map_elem")
int show_mappings(struct bpf_iter__bpf_map_elem *ctx)
{
	struct file_show show;
	int answer = file_show_begin(ctx, &show);

	if (answer != SHOW_MORE)
		return answer;
	bpf_loop(MAPPINGS_AT_ONCE, show_mapping_line, &show, 0);
	return SHOW_DONE;
}

#endif
