/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Definitions of maps by kind. User space sets the sizes that are unknown at build time. */
#ifndef BPF_MAP_H
#define BPF_MAP_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define MAP_OF(name, kind, flags, entries, key_type, value_type)                                   \
	struct {                                                                                   \
		__uint(type, kind);                                                                \
		__uint(map_flags, flags);                                                          \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} name SEC(".maps")

#define ARRAY_MAP(name, entries, value) MAP_OF(name, BPF_MAP_TYPE_ARRAY, 0, entries, u32, value)

/* Memory that user space can map, too. */
#define SHARED_ARRAY_MAP(name, entries, value)                                                     \
	MAP_OF(name, BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE, entries, u32, value)

/* A hash map that allocates memory for its elements only. */
#define HASH_MAP(name, entries, key, value)                                                        \
	MAP_OF(name, BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC, entries, key, value)

#endif
