/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The multipliers are taken from splitmix64 and xxHash: the upper bits of a product depend on all
 * bits of the word.
 */
#include "hash_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BITS_MIN 8

static u32 slot_mask_of_table(const struct hash_index *table)
{
	return (1U << table->bits) - 1;
}

u32 hash_index_find(const struct hash_index *table, u32 hash, hash_index_is is, const void *things,
		    const void *key)
{
	u32 mask = slot_mask_of_table(table);

	if (!table->slots)
		return HASH_INDEX_NONE;
	for (u32 at = hash & mask; table->slots[at].place; at = (at + 1) & mask)
		if (table->slots[at].hash == hash && is(things, table->slots[at].place - 1, key))
			return table->slots[at].place - 1;
	return HASH_INDEX_NONE;
}

static void insert_hash_slot(struct hash_index *table, struct hash_slot slot)
{
	u32 at = slot.hash & slot_mask_of_table(table);

	while (table->slots[at].place)
		at = (at + 1) & slot_mask_of_table(table);
	table->slots[at] = slot;
}

static int grow_hash_table(struct hash_index *table)
{
	struct hash_index grown = {.bits = table->slots ? table->bits + 1 : BITS_MIN,
				   .count = table->count};

	if (grown.bits > 31)
		return -ENOMEM;
	grown.slots = calloc(1UL << grown.bits, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (u32 i = 0; table->slots && i <= slot_mask_of_table(table); i++)
		if (table->slots[i].place)
			insert_hash_slot(&grown, table->slots[i]);
	free(table->slots);
	*table = grown;
	return 0;
}

int hash_index_add(struct hash_index *table, u32 hash, u32 index)
{
	if (!table->slots || table->count >= 1U << (table->bits - 1))
		if (grow_hash_table(table))
			return -ENOMEM;
	insert_hash_slot(table, (struct hash_slot){.hash = hash, .place = index + 1});
	table->count++;
	return 0;
}

void hash_index_free(struct hash_index *table)
{
	free(table->slots);
	*table = (struct hash_index){};
}

void hash_index_clear(struct hash_index *table)
{
	if (table->slots)
		memset(table->slots, 0, sizeof(*table->slots) << table->bits);
	table->count = 0;
}

/* Hashes a text by words, because C++ names are long. */
u32 hash_text(const char *text)
{
	size_t bytes = strlen(text), rest = bytes % sizeof(u64);
	u64 hash = hash_words(hash_word(0, bytes), text, bytes - rest), last = 0;

	memcpy(&last, text + bytes - rest, rest);
	return hash_end(hash_word(hash, last));
}
