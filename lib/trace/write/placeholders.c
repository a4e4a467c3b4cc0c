/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Linear probing, doubled at half full. A slot is freed by moving what follows it closer to where
 * it belongs (Knuth, The Art of Computer Programming, volume 3, algorithm 6.4R): no tombstones, as
 * placeholders come and go all the time. */
#include "trace/write/placeholders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLACEHOLDERS_BITS_MIN 8
#define PLACEHOLDERS_BITS_MAX 30
#define WORD_BITS 64

static u32 slot_mask(const struct placeholders *set)
{
	return (1U << set->bits) - 1;
}

static u32 first_slot(const struct placeholders *set, u32 name)
{
	return (u32)((name * 0x9e3779b97f4a7c15ULL) >> (64 - set->bits));
}

static void place(struct placeholders *set, const struct placeholder *placeholder)
{
	u32 slot = first_slot(set, placeholder->name);

	while (set->slots[slot].name)
		slot = (slot + 1) & slot_mask(set);
	set->slots[slot] = *placeholder;
	set->count++;
}

static int grow(struct placeholders *set)
{
	struct placeholders larger = *set;

	larger.bits = set->slots ? set->bits + 1 : PLACEHOLDERS_BITS_MIN;
	larger.count = 0;
	if (larger.bits > PLACEHOLDERS_BITS_MAX)
		return -ENOMEM;
	larger.slots = calloc(1UL << larger.bits, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (u32 i = 0; set->slots && i <= slot_mask(set); i++)
		if (set->slots[i].name)
			place(&larger, &set->slots[i]);
	free(set->slots);
	*set = larger;
	return 0;
}

static int note_given(struct placeholders *set, u32 index)
{
	u32 word = index / WORD_BITS;
	u32 words = 2 * word + 1;
	u64 *given;

	if (word >= set->given_words) {
		given = reallocarray(set->given, words, sizeof(*given));
		if (!given)
			return -ENOMEM;
		memset(given + set->given_words, 0, (words - set->given_words) * sizeof(*given));
		set->given = given;
		set->given_words = words;
	}
	set->given[word] |= 1ULL << index % WORD_BITS;
	return 0;
}

int placeholders_add(struct placeholders *set, u32 index)
{
	struct placeholder placeholder = {.name = index + 1};
	bool is_full = !set->slots || set->count >= 1U << (set->bits - 1);

	if ((is_full && grow(set)) || note_given(set, index))
		return -ENOMEM;
	place(set, &placeholder);
	return 0;
}

bool placeholders_was_given(const struct placeholders *set, u32 index)
{
	u32 word = index / WORD_BITS;

	return word < set->given_words && set->given[word] >> index % WORD_BITS & 1;
}

struct placeholder *placeholders_find(const struct placeholders *set, u32 index)
{
	u32 name = index + 1, slot;

	if (!placeholders_was_given(set, index))
		return NULL;
	for (slot = first_slot(set, name); set->slots[slot].name;
	     slot = (slot + 1) & slot_mask(set))
		if (set->slots[slot].name == name)
			return &set->slots[slot];
	return NULL;
}

/* Whether what is in `slot` may move to the hole before it: it is not in front of its first slot
 * then. */
static bool may_fill(const struct placeholders *set, u32 hole, u32 slot)
{
	u32 home = first_slot(set, set->slots[slot].name);

	return ((slot - home) & slot_mask(set)) >= ((slot - hole) & slot_mask(set));
}

static void placeholder_remove(struct placeholders *set, struct placeholder *placeholder)
{
	u32 hole = (u32)(placeholder - set->slots), slot = hole;

	for (;;) {
		slot = (slot + 1) & slot_mask(set);
		if (!set->slots[slot].name)
			break;
		if (!may_fill(set, hole, slot))
			continue;
		set->slots[hole] = set->slots[slot];
		hole = slot;
	}
	set->slots[hole] = (struct placeholder){0};
	set->count--;
}

void placeholders_free(struct placeholders *set)
{
	free(set->slots);
	free(set->given);
	memset(set, 0, sizeof(*set));
}

static void remove_when_done(struct placeholders *set, struct placeholder *placeholder)
{
	if (placeholder->resolved && !placeholder->waiting)
		placeholder_remove(set, placeholder);
}

bool placeholders_resolve(struct placeholders *set, u32 index,
			  const struct trace_resolution *resolution)
{
	struct placeholder *placeholder = placeholders_find(set, index);
	bool gone_out = placeholder->gone_out;

	placeholder->resolved = true;
	placeholder->resolution = *resolution;
	remove_when_done(set, placeholder);
	return gone_out;
}

static void settle(struct placeholder *placeholder, struct trace_event *event)
{
	placeholder->waiting--;
	if (!placeholder->resolved) {
		placeholder->gone_out = true;
		return;
	}
	event_resolve(event, &placeholder->resolution);
}

void placeholders_settle(struct placeholders *set, struct trace_event *events, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		struct placeholder *placeholder = placeholders_find(set, events[i].user);

		if (!placeholder)
			continue;
		settle(placeholder, &events[i]);
		remove_when_done(set, placeholder);
	}
}
