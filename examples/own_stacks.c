/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* own_stacks: gives the calls of a function ids by their stacks, and prints each stack once, with
 * how many calls it had. */
#include <inttypes.h>
#include <stdio.h>

#include <stackmap/here.h>
#include <stackmap/stack_map.h>

#define APART __attribute__((noinline, noclone))

static struct stackmap_map *map;
static uint32_t ids[16];
static int id_count;

static void note(uint32_t id)
{
	for (int i = 0; i < id_count; i++)
		if (ids[i] == id)
			return;
	ids[id_count++] = id;
}

/* Could be called in a signal handler as well. */
static APART void look(void)
{
	uint64_t frames[STACKMAP_HERE_DEPTH_MAX];
	int depth = stackmap_here(frames, STACKMAP_HERE_DEPTH_MAX);
	int64_t id = depth < 0 ? depth : stackmap_map_get_id(map, frames, depth);

	if (id > 0)
		note(id);
}

static void print(uint32_t id)
{
	uint64_t frames[STACKMAP_DEPTH_MAX];
	struct stackmap_stack stack;

	if (stackmap_map_find(map, id, &stack, frames, STACKMAP_DEPTH_MAX))
		return;
	printf("%" PRIu64 " calls, %" PRIu32 " frames\n", stack.ref_count, stack.depth);
	for (uint32_t i = 0; i < stack.depth; i++)
		printf("    0x%" PRIx64 "\n", frames[i]);
}

int main(void)
{
	if (stackmap_map_create(STACKMAP_BITS_MIN, 0, &map, NULL))
		return 1;
	for (volatile int i = 0; i < 3; i++)
		look();
	look();
	for (int i = 0; i < id_count; i++)
		print(ids[i]);
	stackmap_map_free(&map);
	return 0;
}
