/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What instances share of mappings and rules (abi/engine.h): user space gives the maps of the
 * engine to each instance before it loads, so the same file has the same number in all of them.
 */
#ifndef BPF_ENGINE_MAPS_H
#define BPF_ENGINE_MAPS_H

#include <bpf/bpf_helpers.h>

#include "engine.h"
#include "file_table.h"
#include "mapping.h"
#include "rule_cache.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct engine_state);
} engine_state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAPPINGS_MAX);
	__type(key, struct mapping_key);
	__type(value, u32);
} mapping_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, MAPPINGS_MAX);
	__type(key, u32);
	__type(value, struct mapping_record);
} mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TASKS_MAX);
	__type(key, u32);
	__type(value, struct engine_task);
} engine_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rule_cache);
} rules SEC(".maps");

/* Written by user space alone, except when a table was used. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, FILE_TABLE_CHUNKS_MAX);
	__type(key, u64); /* FILE_TABLE_KEY */
	__type(value, struct file_table_chunk);
} file_tables SEC(".maps");

static __always_inline struct engine_state *engine_current(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&engine_state, &zero);
}

static __always_inline struct rule_cache *rules_current(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&rules, &zero);
}

#endif
