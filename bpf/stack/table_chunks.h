/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reads of a search for rules (core/unwind/rule_search.h): chunks of whole-file tables in the
 * engine's map, and code of the current task.
 */
#ifndef BPF_TABLE_CHUNKS_H
#define BPF_TABLE_CHUNKS_H

#include "state/engine_maps.h"
#include "unwind/rule_search.h"

CORE_INLINE const struct file_table_chunk *file_table_chunk(const struct file_table_search *search,
							    u32 index)
{
	u64 key = FILE_TABLE_KEY(search->number, index);

	return bpf_map_lookup_elem(&file_tables, &key);
}

/*
 * Notes when the table was last used. The root may be freed meanwhile, and its memory may hold
 * another chunk: in another root this word is the time of use, too, and in other chunks the word
 * has no meaning.
 */
CORE_INLINE void file_table_mark_used(struct file_table_search *search,
				      const struct file_table_chunk *root)
{
	u32 *used = (u32 *)&root->used;

	if (!search->now)
		search->now = FILE_TABLE_TIME(bpf_ktime_get_ns());
	if (atomic_load_relaxed(used) != search->now)
		atomic_store_relaxed(used, search->now);
}

CORE_INLINE bool rule_search_read(struct rule_search *search, u64 address, void *buffer, u32 bytes)
{
	return !bpf_probe_read_user(buffer, bytes, (const void *)address);
}

#endif
