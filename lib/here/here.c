/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder on its own thread. The walk begins with the registers of this function, whose frame
 * is then removed. This embedder has its own copy of the core (CORE_EMBEDDED), so that all of the
 * copy can be checked to be async-signal-safe, and lib/user_unwind can be another embedder.
 *
 * Rules are not cached: the process does not learn when a library is replaced by another one at the
 * same address.
 */
#include "stackmap/here.h"

#include <errno.h>

#include "arch/host.h"
#include "here/own_memory.h"

#define CORE_EMBEDDED
#include "unwind/unwind.h"

_Static_assert(STACKMAP_HERE_DEPTH_MAX == STACK_USER_DEPTH_MAX - 1, "one frame is our own");

bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return own_memory_read(unwind->memory, address, buffer, bytes);
}

bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	struct own_code code;

	if (!own_memory_code(unwind->memory, pc, &code))
		return false;
	unwind->mapping = (struct unwind_mapping){
		.start = code.start,
		.end = code.end,
		.image = code.image,
	};
	return true;
}

#include "unwind/unwind_alone.c"

/* The function's own frame must exist until it returns: no tail call. */
__attribute__((noinline)) int stackmap_here(uint64_t *frames, int max)
{
	struct own_memory memory = {};
	struct unwind unwind = {.memory = &memory, .budget = UNWIND_BUDGET};
	int count = 0;

	if (max < 1 || !frames)
		return -EINVAL;
	registers_here(&unwind.registers);
	unwind_stack(&unwind, max < STACKMAP_HERE_DEPTH_MAX ? max + 1 : STACK_USER_DEPTH_MAX);
	/* The first frame is that of this function. */
	for (u32 i = 1; i < unwind.depth && count < max; i++)
		frames[count++] = unwind.frame[i];
	if (!count)
		return memory.error ? memory.error : -EFAULT;
	return count;
}
