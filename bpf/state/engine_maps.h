/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps of mappings, rules and tasks that instances share (abi/deferral.h). User space gives the
 * engine's maps to each instance before it loads, so a file has the same number in all instances.
 */
#ifndef BPF_ENGINE_MAPS_H
#define BPF_ENGINE_MAPS_H

#include "deferral.h"
#include "file_table.h"
#include "map.h"
#include "mapping.h"
#include "rule_cache.h"
#include "script.h"

SHARED_ARRAY_MAP(engine_state, 1, struct engine_state);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAPPINGS_MAX);
	__type(key, struct mapping_key);
	__type(value, u32);
} mapping_numbers SEC(".maps");

SHARED_ARRAY_MAP(mappings, MAPPINGS_MAX, struct mapping_record);

HASH_MAP(engine_tasks, TASKS_MAX, u32, struct engine_task);

SHARED_ARRAY_MAP(rules, 1, struct rule_cache);

/* Written by user space; programs only note the use of a table. */
HASH_MAP(file_tables, FILE_TABLE_CHUNKS_MAX, u64,
	 struct file_table_chunk); /* key: FILE_TABLE_KEY() */

HASH_MAP(script_numbers, SCRIPTS_MAX, u64, u32); /* key: hash of the record's contents */
HASH_MAP(script_records, SCRIPTS_MAX, u32, struct script_record);
SHARED_ARRAY_MAP(script_ids, 1, struct script_cache);

/* Programs insert requests to compare code with a file; user space writes the results. */
HASH_MAP(moved_code, MOVED_CODE_MAX, struct moved_key, struct moved_code);

static __always_inline struct engine_state *current_engine_state(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&engine_state, &zero);
}

static __always_inline struct rule_cache *current_rule_cache(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&rules, &zero);
}

#endif
