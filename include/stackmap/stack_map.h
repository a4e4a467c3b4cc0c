/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stack map inside one process: gives each call stack a 4-byte id. Equal stacks have equal ids.
 *
 * A map holds at most 2^bits unique stacks. Creation takes all of its memory: twice the table, one
 * in use and one for the next reset; pages are touched only when used. Frames are any 64-bit
 * values, innermost first.
 *
 * | stackmap_map_... | context                                   | at the same time as others   |
 * |------------------|-------------------------------------------|------------------------------|
 * | get_id           | any, signal handlers included; lock-free  | all but free                 |
 * | find             | any, signal handlers included; lock-free  | all but free                 |
 * | stat             | threads                                   | all but free                 |
 * | reset            | threads; waits for the three above to end | all but free; one at a time  |
 * | create           | threads                                   |                              |
 * | free             | threads                                   | no other call                |
 *
 * A signal handler must not call reset: it could wait for the very call that it interrupted.
 *
 * If the map, or a place that a result needs, is NULL: create, get_id, find and reset return
 * -EINVAL; free and stat do nothing.
 */
#ifndef STACKMAP_STACK_MAP_H
#define STACKMAP_STACK_MAP_H

#include <stdint.h>

#include "stackmap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STACKMAP_BITS_MIN 10
#define STACKMAP_BITS_MAX 20
#define STACKMAP_BITS_DEFAULT 14
/* The most frames of a stack; a deeper stack is cut and marked truncated. */
#define STACKMAP_DEPTH_MAX 511

struct stackmap_map;

/*
 * Creates a map. `bits` is in [STACKMAP_BITS_MIN, STACKMAP_BITS_MAX]. `pool_bytes` is the memory
 * for frames: 0 for the default (256 bytes for each of 2^bits stacks), else in [8192, 503316480].
 * Returns 0 and *out, which the caller passes to stackmap_map_free(); or -ERANGE, -ENOMEM, and *out
 * is untouched. `error` may be NULL.
 */
int stackmap_map_create(unsigned int bits, uint64_t pool_bytes, struct stackmap_map **out,
			struct stackmap_error *error);

/* Frees the map and sets *map to NULL. No other call on the map may be running or follow. */
void stackmap_map_free(struct stackmap_map **map);

/*
 * Returns the id (> 0, fits 32 bits) of a stack of `depth` frames and adds one to its reference
 * count. -EINVAL: the stack has no frames. -ENOSPC: the stack is new, and there is no room (see
 * stackmap_map_stat::drops). The call uses about 5 KiB of the caller's stack: give signal handlers
 * an alternate stack with room for it.
 */
int64_t stackmap_map_get_id(struct stackmap_map *map, const uint64_t *frames, uint32_t depth);

struct stackmap_stack {
	uint64_t ref_count; /* number of calls of get_id that returned the id */
	uint32_t depth;	    /* frames stored */
	int truncated;	    /* not 0: the stack had more frames than STACKMAP_DEPTH_MAX */
};

/*
 * Looks up the stack of an id. Writes the first `max` frames to `frames` (NULL if `max` is 0).
 * Returns 0; -ESTALE: the id is from before a reset; -ENOENT: this map never gave the id.
 */
int stackmap_map_find(struct stackmap_map *map, uint32_t id, struct stackmap_stack *stack,
		      uint64_t *frames, uint32_t max);

enum stackmap_map_drop {
	STACKMAP_DROP_POOL_FULL,   /* number of refused stacks for whose frames there was no room */
	STACKMAP_DROP_TABLE_FULL,  /* number of stacks refused because 2^bits stacks were stored */
	STACKMAP_DROP_PROBE_LIMIT, /* number of stacks refused because 64 slots in a row held other
				      stacks */
	STACKMAP_DROP_RESETTING,   /* number of stacks refused because a reset was running; always 0
				      for a map in a process */
	STACKMAP_DROP_COUNT
};

/*
 * Counters since the creation of the map or its last reset. While no get_id runs: refs + all drops
 * = number of calls of get_id with frames.
 */
struct stackmap_map_stat {
	uint64_t generation; /* number of the generation: it starts at 1, and each reset adds one */
	uint64_t entries;    /* unique stacks */
	uint64_t max_entries;
	uint64_t pool_used; /* bytes of the pool that are used */
	uint64_t pool_max;
	uint64_t refs; /* sum of all reference counts; hits = refs - inserts */
	uint64_t inserts;
	uint64_t drops[STACKMAP_DROP_COUNT];
	uint64_t lost_races; /* how often another thread stored the same stack first */
};

/* Reads all counters. The function goes through the whole table, and a reset waits for it. */
void stackmap_map_stat(struct stackmap_map *map, struct stackmap_map_stat *stat);

/*
 * Empties the map while it is in use; ids given out before become stale. No call of get_id is
 * refused or lost by a reset. `old` (or NULL) gets the final statistics of the emptied generation:
 * every call is counted in exactly one generation. -EBUSY: another reset is running.
 */
int stackmap_map_reset(struct stackmap_map *map, struct stackmap_map_stat *old);

#ifdef __cplusplus
}
#endif
#endif
