/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks up an id in a table that is not reset meanwhile. */
#ifndef LIB_STACK_MAP_TABLE_FIND_H
#define LIB_STACK_MAP_TABLE_FIND_H

#include "stack_map.h"
#include "stackmap/stack_map.h"

/* The results are those of stackmap_map_find(). */
int table_find(void *table, const struct table_geometry *geometry, u32 id,
	       struct stackmap_stack *stack, u64 *frames, u32 max);

#endif
