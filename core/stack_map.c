/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash table with open addressing and linear probing, at most half full, that only grows. The one
 * write that others can see is a compare-and-swap of a free slot against a finished element (the
 * publication idiom of RCU, with a CAS for the pointer store because writers race):
 *
 *   1. Probe. If a slot has the same upper hash bits and its element equals the stack: add a
 *      reference, done.
 *   2. At the first free slot: reserve room in the pool (one fetch_add takes the entry's ticket and
 *      the words), and build the element there, in private.
 *   3. CAS the free slot to point at the element. Success: done. Failure: compare the winner's
 *      element like any other. If it equals the stack, done; else probe on with the built element.
 *   4. An element that was built in vain becomes the spare of this CPU; its ticket is returned.
 *
 * The map has no duplicates: slots never become free again, so two writers of one stack probe the
 * same slots in the same order, and the later writer meets the earlier one's element before any
 * free slot.
 *
 * Tickets count elements that are published or about to be: they are granted only below 2^bits, and
 * returned when unused. Words are never returned to `allocated`, since other writers may have taken
 * the words after them; the spare is how unused words are used again.
 */
#include "stack_map.h"

#include "stack_hash.h"

#define TICKET (1ULL << 32)
#define ALLOCATED_ENTRIES(allocated) ((allocated) >> 32)
#define ALLOCATED_WORDS(allocated) ((u32)(allocated))
#define SPARE(word, capacity) ((u64)(capacity) << 32 | ((word) + 1))
#define SPARE_CAPACITY(spare) ((u32)((spare) >> 32))
#define SLOT(hash, word) (((hash) & ~0xffffffffULL) | ((word) + 1))
#define POOL_WORD(slot_or_spare) ((u32)(slot_or_spare)-1)
#define NO_WORD (~0U)

/* The state of one search for a stack, from its first probe to its id. */
struct search {
	void *table;
	const volatile struct table_geometry *geometry;
	const struct stack *stack;
	struct table_cpu *line;
	u64 hash;
	u64 built;    /* slot value of the built element; 0: not built */
	u64 capacity; /* words of the built element */
	s64 result;
};

CORE_PART struct table_cpu *table_line(void *table, const volatile struct table_geometry *geometry,
				       u32 cpu)
{
	struct table_header *header = table;
	struct table_cpu *lines = (struct table_cpu *)(header + 1);

	core_one_register(cpu);
	if (cpu >= geometry->cpus)
		cpu = 0;
	return &lines[cpu];
}

CORE_PART u64 *table_slot(void *table, const volatile struct table_geometry *geometry, u32 index)
{
	return (u64 *)((u8 *)table + geometry->slots_offset) + (index & geometry->slot_mask);
}

CORE_PART struct table_view *table_element(void *table,
					   const volatile struct table_geometry *geometry, u32 word)
{
	core_one_register(word);
	if (word >= geometry->pool_words)
		return 0;
	return (struct table_view *)((u8 *)table + geometry->pool_offset + 8 * (u64)word);
}

CORE_PART u64 identity_of(const struct stack *stack, u64 hash)
{
	return IDENTITY(stack->depth, stack->flags, hash);
}

CORE_PART s64 count_drop(struct table_cpu *line, enum table_drop cause, s64 error)
{
	atomic_add_relaxed(&line->drops[cause], 1);
	return error;
}

/* Makes unused words the spare, which the next element that this CPU builds may use. */
CORE_PART void spare_put(struct table_cpu *line, u32 word, u64 capacity)
{
	u64 displaced = atomic_exchange_acq_rel(&line->spare, SPARE(word, capacity));

	if (displaced)
		atomic_add_relaxed(&line->wasted, SPARE_CAPACITY(displaced));
}

/* Takes the spare if it has `need` words; else 0. */
CORE_PART u64 spare_take(struct table_cpu *line, u32 need)
{
	u64 spare = atomic_load_relaxed(&line->spare);

	if (SPARE_CAPACITY(spare) < need)
		return 0;
	spare = atomic_exchange_acq_rel(&line->spare, 0);
	if (!spare || SPARE_CAPACITY(spare) >= need)
		return spare;
	spare_put(line, POOL_WORD(spare), SPARE_CAPACITY(spare));
	return 0;
}

CORE_PART u32 words_needed(const struct search *search)
{
	return TABLE_ELEMENT_HEADER_WORDS + search->stack->words;
}

CORE_PART void ticket_return(struct search *search)
{
	struct table_header *header = search->table;

	atomic_fetch_add_acq_rel(&header->allocated, -TICKET);
}

CORE_PART u32 refuse_stack(struct search *search, enum table_drop cause)
{
	search->result = count_drop(search->line, cause, -ENOSPC);
	return NO_WORD;
}

/*
 * Counts one more entry, for an element in the spare: the words of an element that this CPU has
 * built but not published.
 */
CORE_PART u32 reserve_ticket(struct search *search, u64 spare)
{
	struct table_header *header = search->table;
	u64 allocated = atomic_fetch_add_acq_rel(&header->allocated, TICKET);

	if (ALLOCATED_ENTRIES(allocated) < 1ULL << search->geometry->bits) {
		search->capacity = SPARE_CAPACITY(spare);
		return POOL_WORD(spare);
	}
	ticket_return(search);
	spare_put(search->line, POOL_WORD(spare), SPARE_CAPACITY(spare));
	return refuse_stack(search, TABLE_DROP_TABLE_FULL);
}

/* Counts one more entry, and takes words of the pool for its element. */
CORE_PART u32 reserve_words(struct search *search, u32 need)
{
	struct table_header *header = search->table;
	u64 allocated = atomic_fetch_add_acq_rel(&header->allocated, TICKET + need);
	u32 word = ALLOCATED_WORDS(allocated);
	u32 pool_words = search->geometry->pool_words;

	if (word + need > pool_words) {
		ticket_return(search);
		if (word < pool_words)
			atomic_add_relaxed(&search->line->wasted, pool_words - word);
		return refuse_stack(search, TABLE_DROP_POOL_FULL);
	}
	if (ALLOCATED_ENTRIES(allocated) >= 1ULL << search->geometry->bits) {
		ticket_return(search);
		spare_put(search->line, word, need);
		return refuse_stack(search, TABLE_DROP_TABLE_FULL);
	}
	search->capacity = need;
	return word;
}

/* Reserves room for the element, or NO_WORD. Plain loads refuse a full table without an atomic. */
CORE_PART u32 reserve_room(struct search *search)
{
	struct table_header *header = search->table;
	u64 allocated = atomic_load_relaxed(&header->allocated);
	u32 need = words_needed(search);
	u64 spare;

	if (ALLOCATED_ENTRIES(allocated) >= 1ULL << search->geometry->bits)
		return refuse_stack(search, TABLE_DROP_TABLE_FULL);
	spare = spare_take(search->line, need);
	if (spare)
		return reserve_ticket(search, spare);
	if (ALLOCATED_WORDS(allocated) + need > search->geometry->pool_words)
		return refuse_stack(search, TABLE_DROP_POOL_FULL);
	return reserve_words(search, need);
}

/* Builds the element: sets search->built. -ENOSPC: there is no room, and search->result says so. */
CORE_PART int build_element(struct search *search)
{
	u32 word = reserve_room(search);
	struct table_view *element = table_element(search->table, search->geometry, word);

	if (!element)
		return -ENOSPC;
	stack_element_fill(element, search->stack, identity_of(search->stack, search->hash));
	search->built = SLOT(search->hash, word);
	return 0;
}

/* Returns the entry and the words of the built element, if there is one. */
CORE_PART void discard_element(struct search *search)
{
	if (!search->built)
		return;
	ticket_return(search);
	spare_put(search->line, POOL_WORD(search->built), search->capacity);
}

/* The element of a slot if it equals the searched stack; else NULL. */
CORE_PART struct table_view *slot_match(const struct search *search, u64 slot)
{
	struct table_view *element;

	if (slot >> 32 != search->hash >> 32)
		return 0;
	element = table_element(search->table, search->geometry, POOL_WORD(slot));
	if (!element ||
	    !stack_element_equal(element, search->stack, identity_of(search->stack, search->hash)))
		return 0;
	return element;
}

CORE_PART int slot_matches(const struct search *search, u64 slot)
{
	struct table_view *element = slot_match(search, slot);

	if (!element)
		return 0;
	atomic_add_relaxed(&element->ref_count, 1);
	return 1;
}

/*
 * Tries to publish the built element in a free slot. Returns 0, or the value of the slot if another
 * writer was first.
 */
CORE_PART u64 publish_element(struct search *search, u64 *slot)
{
	u64 winner = atomic_cas_acq_rel(slot, 0, search->built);

	if (winner)
		return winner;
	atomic_add_relaxed(&search->line->inserts, 1);
	if (search->capacity > words_needed(search))
		atomic_add_relaxed(&search->line->wasted, search->capacity - words_needed(search));
	return 0;
}

/* One probe; 1 ends the search. */
static long probe_slot(u32 i, void *arg)
{
	struct search *search = arg;
	u32 index = ((u32)search->hash + i) & search->geometry->slot_mask;
	u64 *slot = table_slot(search->table, search->geometry, index);
	u64 found = atomic_load_consume(slot);

	if (!found) {
		if (!search->built && build_element(search))
			return 1;
		found = publish_element(search, slot);
		if (!found) {
			search->result = stack_map_id(search->table, index);
			return 1;
		}
	}
	if (!slot_matches(search, found))
		return 0;
	if (search->built)
		atomic_add_relaxed(&search->line->lost_races, 1);
	discard_element(search);
	search->result = stack_map_id(search->table, index);
	return 1;
}

/* The whole search, for a stack that is not in its first slot. */
CORE_OUTLINED s64 search_slots(void *table, const volatile struct table_geometry *geometry,
			       const struct stack *stack, struct table_cpu *line, u64 hash)
{
	struct search search = {
		.table = table,
		.geometry = geometry,
		.stack = stack,
		.line = line,
		.hash = hash,
		.built = core_unknown_zero(hash),
		.capacity = core_unknown_zero(hash),
		.result = core_unknown_zero(hash),
	};

	core_loop(TABLE_PROBES_MAX, probe_slot, &search);
	if (search.result)
		return search.result;
	discard_element(&search);
	return count_drop(line, TABLE_DROP_PROBE_LIMIT, -ENOSPC);
}

CORE_INLINE u32 stack_map_id(void *table, u32 index)
{
	struct table_header *header = table;

	return header->id_tag | index;
}

CORE_INLINE s64 stack_map_get_id(void *table, const volatile struct table_geometry *geometry,
				 u32 cpu, const struct stack *stack)
{
	struct table_header *header = table;
	struct table_cpu *line = table_line(table, geometry, cpu);
	struct search search = {.table = table, .geometry = geometry, .stack = stack};
	u32 index;

	if (stack->words == 0 || stack->words > STACK_USER_DEPTH_MAX)
		return -EINVAL;
	if (unlikely(atomic_load_relaxed(&header->resetting)))
		return count_drop(line, TABLE_DROP_RESETTING, -EINVAL);
	search.hash = stack_hash(stack, header->seed);
	index = (u32)search.hash & geometry->slot_mask;
	if (slot_matches(&search, atomic_load_consume(table_slot(table, geometry, index))))
		return stack_map_id(table, index);
	return search_slots(table, geometry, stack, line, search.hash);
}

#ifndef __bpf__
s64 stack_map_lookup(void *table, const struct table_geometry *geometry, const struct stack *stack)
{
	struct table_header *header = table;
	struct search search = {.table = table,
				.geometry = geometry,
				.stack = stack,
				.hash = stack_hash(stack, header->seed)};

	for (u32 i = 0; i < TABLE_PROBES_MAX; i++) {
		u32 index = ((u32)search.hash + i) & geometry->slot_mask;
		u64 slot = atomic_load_consume(table_slot(table, geometry, index));

		if (!slot)
			return -ENOENT;
		if (slot_match(&search, slot))
			return stack_map_id(table, index);
	}
	return -ENOENT;
}
#endif

CORE_INLINE struct table_view *stack_map_at(void *table,
					    const volatile struct table_geometry *geometry,
					    u32 index)
{
	u64 slot = atomic_load_consume(table_slot(table, geometry, index));

	return slot ? table_element(table, geometry, POOL_WORD(slot)) : 0;
}

CORE_INLINE int stack_map_find(void *table, const volatile struct table_geometry *geometry, u32 id,
			       struct table_view **out)
{
	struct table_view *element;
	u32 index = id & geometry->slot_mask;

	if (stack_map_id(table, index) != id)
		return id > geometry->slot_mask ? -ESTALE : -ENOENT;
	element = stack_map_at(table, geometry, index);
	if (!element)
		return -ENOENT;
	*out = element;
	return 0;
}

CORE_INLINE int stack_map_add_reference(void *table, const volatile struct table_geometry *geometry,
					u32 id)
{
	struct table_view *element;
	int result = stack_map_find(table, geometry, id, &element);

	if (!result)
		atomic_add_relaxed(&element->ref_count, 1);
	return result;
}
