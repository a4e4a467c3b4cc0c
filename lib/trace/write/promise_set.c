/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Linear probing, doubled at half full. A slot is freed by moving what follows it closer to where
 * it belongs (Knuth, The Art of Computer Programming, volume 3, algorithm 6.4R): no tombstones, as
 * promises come and go all the time. */
#include "trace/write/promise_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROMISE_SET_BITS_MIN 8
#define PROMISE_SET_BITS_MAX 30
#define WORD_BITS 64

static u32 slot_mask(const struct promise_set *set)
{
	return (1U << set->bits) - 1;
}

static u32 first_slot(const struct promise_set *set, u32 name)
{
	return (u32)((name * 0x9e3779b97f4a7c15ULL) >> (64 - set->bits));
}

static void place(struct promise_set *set, const struct promise *promise)
{
	u32 slot = first_slot(set, promise->name);

	while (set->slots[slot].name)
		slot = (slot + 1) & slot_mask(set);
	set->slots[slot] = *promise;
	set->count++;
}

static int grow(struct promise_set *set)
{
	struct promise_set larger = *set;

	larger.bits = set->slots ? set->bits + 1 : PROMISE_SET_BITS_MIN;
	larger.count = 0;
	if (larger.bits > PROMISE_SET_BITS_MAX)
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

static int note_given(struct promise_set *set, u32 index)
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

int promise_set_add(struct promise_set *set, u32 index)
{
	struct promise promise = {.name = index + 1};
	bool is_full = !set->slots || set->count >= 1U << (set->bits - 1);

	if ((is_full && grow(set)) || note_given(set, index))
		return -ENOMEM;
	place(set, &promise);
	return 0;
}

bool promise_set_was_given(const struct promise_set *set, u32 index)
{
	u32 word = index / WORD_BITS;

	return word < set->given_words && set->given[word] >> index % WORD_BITS & 1;
}

struct promise *promise_set_find(const struct promise_set *set, u32 index)
{
	u32 name = index + 1, slot;

	if (!promise_set_was_given(set, index))
		return NULL;
	for (slot = first_slot(set, name); set->slots[slot].name;
	     slot = (slot + 1) & slot_mask(set))
		if (set->slots[slot].name == name)
			return &set->slots[slot];
	return NULL;
}

/* Whether what is in `slot` may move to the hole before it: it is not in front of its first slot
 * then. */
static bool may_fill(const struct promise_set *set, u32 hole, u32 slot)
{
	u32 home = first_slot(set, set->slots[slot].name);

	return ((slot - home) & slot_mask(set)) >= ((slot - hole) & slot_mask(set));
}

static void promise_remove(struct promise_set *set, struct promise *promise)
{
	u32 hole = (u32)(promise - set->slots), slot = hole;

	for (;;) {
		slot = (slot + 1) & slot_mask(set);
		if (!set->slots[slot].name)
			break;
		if (!may_fill(set, hole, slot))
			continue;
		set->slots[hole] = set->slots[slot];
		hole = slot;
	}
	set->slots[hole] = (struct promise){0};
	set->count--;
}

void promise_set_free(struct promise_set *set)
{
	free(set->slots);
	free(set->given);
	memset(set, 0, sizeof(*set));
}

static void remove_when_done(struct promise_set *set, struct promise *promise)
{
	if (promise->answered && !promise->waiting)
		promise_remove(set, promise);
}

bool promise_set_answer(struct promise_set *set, u32 index, const struct trace_answer *answer)
{
	struct promise *promise = promise_set_find(set, index);
	bool gone_out = promise->gone_out;

	promise->answered = true;
	promise->answer = *answer;
	remove_when_done(set, promise);
	return gone_out;
}

static void settle(struct promise *promise, struct trace_event *event)
{
	promise->waiting--;
	if (!promise->answered) {
		promise->gone_out = true;
		return;
	}
	event_take_answer(event, &promise->answer);
}

void promise_set_settle(struct promise_set *set, struct trace_event *events, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		struct promise *promise = promise_set_find(set, events[i].user);

		if (!promise)
			continue;
		settle(promise, &events[i]);
		remove_when_done(set, promise);
	}
}
