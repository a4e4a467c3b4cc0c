/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entries are in an arena; the hash table indexes an array of their addresses. */
#include "intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static u32 hash_intern_key(const struct intern_key *key)
{
	return hash_end(hash_words(0, key, sizeof(*key)));
}

static bool is_entry_of_key(const void *entries, u32 index, const void *key)
{
	return memcmp(((void *const *)entries)[index], key, sizeof(struct intern_key)) == 0;
}

static void *add_entry(struct intern *table, const struct intern_key *key, u32 hash)
{
	void *entry;

	if (array_make_room(table->entries, table->count, table->room))
		return NULL;
	entry = arena_alloc(&table->arena, table->entry_bytes);
	if (!entry || hash_index_add(&table->index, hash, table->count))
		return NULL;
	memset(entry, 0, table->entry_bytes);
	memcpy(entry, key, sizeof(*key));
	table->entries[table->count++] = entry;
	return entry;
}

void *intern_find_or_add_entry(struct intern *table, const struct intern_key *key)
{
	u32 hash = hash_intern_key(key);
	u32 found = hash_index_find(&table->index, hash, is_entry_of_key, table->entries, key);

	return found == HASH_INDEX_NONE ? add_entry(table, key, hash) : table->entries[found];
}

/* The three steps prefetch the slot, the address of the entry, and the whole entry. */
void intern_prefetch_entry(const struct intern *table, const struct intern_key *key, u32 step)
{
	u32 hash = hash_intern_key(key), place;

	if (step == 0) {
		hash_index_prefetch_slot(&table->index, hash);
		return;
	}
	place = hash_index_first_candidate(&table->index, hash);
	if (place == HASH_INDEX_NONE)
		return;
	if (step == 1) {
		__builtin_prefetch(&table->entries[place]);
		return;
	}
	__builtin_prefetch(table->entries[place], 1);
	__builtin_prefetch((char *)table->entries[place] + table->entry_bytes - 1, 1);
}

void intern_free_index(struct intern *table)
{
	hash_index_free(&table->index);
}

void intern_clear(struct intern *table)
{
	size_t entry_bytes = table->entry_bytes;

	hash_index_free(&table->index);
	arena_free(&table->arena);
	free(table->entries);
	*table = (struct intern){.arena.limit = UINT64_MAX, .entry_bytes = entry_bytes};
}

static bool is_text_at_index(const void *texts, u32 index, const void *key)
{
	return strcmp(((const char *const *)texts)[index], key) == 0;
}

static u32 add_text_to_set(struct text_set *set, const char *text, u32 hash)
{
	const char *copy;

	if (array_make_room(set->texts, set->count, set->room))
		return HASH_INDEX_NONE;
	copy = arena_string(&set->arena, text);
	if (!copy || hash_index_add(&set->index, hash, set->count))
		return HASH_INDEX_NONE;
	set->texts[set->count] = copy;
	return set->count++;
}

u32 text_set_find(const struct text_set *set, const char *text)
{
	return hash_index_find(&set->index, hash_text(text), is_text_at_index, set->texts, text);
}

u32 text_set_find_or_add_number(struct text_set *set, const char *text)
{
	u32 hash = hash_text(text);
	u32 found = hash_index_find(&set->index, hash, is_text_at_index, set->texts, text);

	return found == HASH_INDEX_NONE ? add_text_to_set(set, text, hash) : found;
}

const char *text_set_intern(struct text_set *set, const char *text)
{
	u32 number = text_set_find_or_add_number(set, text);

	return number == HASH_INDEX_NONE ? NULL : set->texts[number];
}

void text_set_clear(struct text_set *set)
{
	hash_index_free(&set->index);
	arena_free(&set->arena);
	free(set->texts);
	*set = TEXT_SET;
}

static bool is_text_at(const void *data, u32 offset, const void *text)
{
	return strcmp((const char *)data + offset, text) == 0;
}

int text_pool_put(struct text_pool *pool, const char *text, u32 *offset)
{
	u32 hash = hash_text(text);
	u32 found = hash_index_find(&pool->index, hash, is_text_at, pool->data, text);
	size_t bytes = strlen(text) + 1;

	if (found == HASH_INDEX_NONE) {
		if (bytes > TEXT_POOL_BYTES_MAX - pool->bytes ||
		    array_make_rooms(pool->data, pool->bytes + bytes, pool->room) ||
		    hash_index_add(&pool->index, hash, pool->bytes))
			return -ENOMEM;
		found = pool->bytes;
		memcpy(pool->data + found, text, bytes);
		pool->bytes += bytes;
	}
	*offset = found;
	return 0;
}

int text_pool_init(struct text_pool *pool)
{
	u32 empty;

	*pool = (struct text_pool){};
	return text_pool_put(pool, "", &empty);
}

char *text_pool_take(struct text_pool *pool)
{
	char *data = pool->data;

	hash_index_free(&pool->index);
	*pool = (struct text_pool){};
	return data;
}
