/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash set with linear probing that doubles when it is half full, so every search ends at a free
 * slot. */
#include "trace/write/frame_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_SET_BITS_MIN 10
#define FRAME_SET_BITS_MAX 30

static u32 slot_of(const struct frame_set *set, u64 frame)
{
	u32 mask = (1U << set->bits) - 1;
	u32 slot = (u32)((frame * 0x9e3779b97f4a7c15ULL) >> (64 - set->bits));

	while (set->frames[slot] && set->frames[slot] != frame)
		slot = (slot + 1) & mask;
	return slot;
}

void frame_set_free(struct frame_set *set)
{
	free(set->frames);
	free(set->uses);
	memset(set, 0, sizeof(*set));
}

static void frame_set_insert(struct frame_set *set, u64 frame, u8 uses)
{
	u32 slot = slot_of(set, frame);

	set->count += !set->frames[slot];
	set->frames[slot] = frame;
	set->uses[slot] |= uses;
}

static int frame_set_grow(struct frame_set *set)
{
	struct frame_set larger = {.bits = set->bits ? set->bits + 1 : FRAME_SET_BITS_MIN};

	if (larger.bits > FRAME_SET_BITS_MAX)
		return -ENOMEM;
	larger.frames = calloc(1UL << larger.bits, sizeof(*larger.frames));
	larger.uses = calloc(1UL << larger.bits, sizeof(*larger.uses));
	if (!larger.frames || !larger.uses) {
		frame_set_free(&larger);
		return -ENOMEM;
	}
	for (u32 i = 0; set->frames && i < 1U << set->bits; i++)
		if (set->frames[i])
			frame_set_insert(&larger, set->frames[i], set->uses[i]);
	frame_set_free(set);
	*set = larger;
	return 0;
}

int frame_set_add(struct frame_set *set, u64 frame, u32 uses)
{
	if (!frame)
		return 0;
	if (!set->frames || set->count >= 1U << (set->bits - 1)) {
		int err = frame_set_grow(set);

		if (err)
			return err;
	}
	frame_set_insert(set, frame, (u8)uses);
	return 0;
}

int frame_set_each(const struct frame_set *set,
		   int (*each)(void *arg, u64 frame, bool return_address), void *arg)
{
	int result = 0;

	for (u32 i = 0; set->frames && !result && i < 1U << set->bits; i++) {
		if (set->uses[i] & FRAME_EXACT)
			result = each(arg, set->frames[i], false);
		if (!result && set->uses[i] & FRAME_RETURN_ADDRESS)
			result = each(arg, set->frames[i], true);
	}
	return result;
}
