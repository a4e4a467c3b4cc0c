// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A hash table with open addressing and linear probing, at most half full, that
 * only grows. The one write that others can see is a compare-and-swap of a free
 * slot against a finished element (the publication idiom of RCU, with a CAS for
 * the pointer store because writers race):
 *
 *   1. Probe. If a slot has the same upper hash bits and its element equals the
 *      stack: add a reference, done.
 *   2. At the first free slot: reserve room in the pool (one fetch_add takes the
 *      ticket of the entry and the words), and build the element there, in
 *      private.
 *   3. CAS the free slot to point at the element. Success: done. Failure:
 *      compare the winner's element like any other. If it equals the stack,
 *      done; else probe on with the built element.
 *   4. An element that was built and is not needed becomes the spare of this
 *      CPU; its ticket is returned.
 *
 * The map has no duplicates: slots never become free again, so two writers of
 * one stack probe the same slots in the same order, and the later writer meets
 * the earlier one's element before any free slot.
 *
 * Tickets count elements that are published or about to be: they are granted
 * only below 2^bits, and returned when unused. Words are never returned to
 * `allocated`, since other writers may have taken the words after them; the
 * spare is how unused words are used again.
 */

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/errno.h>

#include "stack_hash.h"
#include "stack_map.h"

#define TICKET BIT_ULL(32)
#define ALLOCATED_ENTRIES(allocated) ((allocated) >> 32)
#define ALLOCATED_WORDS(allocated) ((u32)(allocated))
#define SPARE(word, capacity) ((u64)(capacity) << 32 | ((word) + 1))
#define SPARE_CAPACITY(spare) ((u32)((spare) >> 32))
#define SLOT(hash, word) (((hash) & ~0xffffffffULL) | ((word) + 1))
#define POOL_WORD(slot_or_spare) ((u32)(slot_or_spare) - 1)
#define NO_WORD (~0U)

/* The state of one search for a stack, from its first probe to its id. */
struct search {
	void *table;
	const struct stackid_geometry *geometry;
	const struct stackid_stack *stack;
	struct stackid_cpu *line;
	u64 hash;
	u64 built;    /* slot value of the built element; 0: not built */
	u64 capacity; /* words of the built element */
	s64 result;
};

static struct stackid_cpu *stackid_line(struct stackid_header *header, u32 cpu)
{
	struct stackid_cpu *lines = (struct stackid_cpu *)(header + 1);

	return &lines[cpu];
}

static u64 *stackid_slot(void *table, const struct stackid_geometry *geometry,
			 u32 index)
{
	return (u64 *)((u8 *)table + geometry->slots_offset) + index;
}

static struct stackid_element *
stackid_element(void *table, const struct stackid_geometry *geometry, u32 word)
{
	return (struct stackid_element *)((u8 *)table + geometry->pool_offset +
					  8 * (u64)word);
}

static u64 identity_of(const struct stackid_stack *stack, u64 hash)
{
	return STACKID_IDENTITY(stack->depth, stack->flags, hash);
}

static s64 count_drop(struct stackid_cpu *line, enum stackid_drop cause,
		      s64 error)
{
	atomic64_inc(&line->drops[cause]);
	return error;
}

/*
 * Makes unused words the spare, which the next element that this CPU builds may
 * use.
 */
static void spare_put(struct stackid_cpu *line, u32 word, u64 capacity)
{
	u64 displaced = xchg(&line->spare, SPARE(word, capacity));

	if (displaced)
		atomic64_add(SPARE_CAPACITY(displaced), &line->wasted);
}

/* Takes the spare if it has @need words; else 0. */
static u64 spare_take(struct stackid_cpu *line, u32 need)
{
	u64 spare = READ_ONCE(line->spare);

	if (SPARE_CAPACITY(spare) < need)
		return 0;
	spare = xchg(&line->spare, 0);
	if (!spare || SPARE_CAPACITY(spare) >= need)
		return spare;
	spare_put(line, POOL_WORD(spare), SPARE_CAPACITY(spare));
	return 0;
}

static u32 words_needed(const struct search *search)
{
	return STACKID_ELEMENT_HEADER_WORDS + search->stack->words;
}

static void ticket_return(struct search *search)
{
	struct stackid_header *header = search->table;

	atomic64_fetch_add(-TICKET, &header->allocated);
}

static u32 refuse_stack(struct search *search, enum stackid_drop cause)
{
	search->result = count_drop(search->line, cause, -ENOSPC);
	return NO_WORD;
}

/*
 * Counts one more entry, for an element in the spare: the words of an element
 * that this CPU has built but not published.
 */
static u32 reserve_ticket(struct search *search, u64 spare)
{
	struct stackid_header *header = search->table;
	u64 allocated = atomic64_fetch_add(TICKET, &header->allocated);

	if (ALLOCATED_ENTRIES(allocated) < 1ULL << search->geometry->bits) {
		search->capacity = SPARE_CAPACITY(spare);
		return POOL_WORD(spare);
	}
	ticket_return(search);
	spare_put(search->line, POOL_WORD(spare), SPARE_CAPACITY(spare));
	return refuse_stack(search, STACKID_DROP_TABLE_FULL);
}

/* Counts one more entry, and takes words of the pool for its element. */
static u32 reserve_words(struct search *search, u32 need)
{
	struct stackid_header *header = search->table;
	u64 allocated = atomic64_fetch_add(TICKET + need, &header->allocated);
	u32 word = ALLOCATED_WORDS(allocated);
	u32 pool_words = search->geometry->pool_words;

	if (word + need > pool_words) {
		ticket_return(search);
		if (word < pool_words)
			atomic64_add(pool_words - word, &search->line->wasted);
		return refuse_stack(search, STACKID_DROP_POOL_FULL);
	}
	if (ALLOCATED_ENTRIES(allocated) >= 1ULL << search->geometry->bits) {
		ticket_return(search);
		spare_put(search->line, word, need);
		return refuse_stack(search, STACKID_DROP_TABLE_FULL);
	}
	search->capacity = need;
	return word;
}

/*
 * Reserves room for the element, or NO_WORD. Plain loads refuse a full table
 * without an atomic.
 */
static u32 reserve_room(struct search *search)
{
	struct stackid_header *header = search->table;
	u64 allocated = atomic64_read(&header->allocated);
	u32 need = words_needed(search);
	u64 spare;

	if (ALLOCATED_ENTRIES(allocated) >= 1ULL << search->geometry->bits)
		return refuse_stack(search, STACKID_DROP_TABLE_FULL);
	spare = spare_take(search->line, need);
	if (spare)
		return reserve_ticket(search, spare);
	if (ALLOCATED_WORDS(allocated) + need > search->geometry->pool_words)
		return refuse_stack(search, STACKID_DROP_POOL_FULL);
	return reserve_words(search, need);
}

/*
 * Builds the element: sets search->built. -ENOSPC: there is no room, and
 * search->result says so.
 */
static int build_element(struct search *search)
{
	u32 word = reserve_room(search);

	if (word == NO_WORD)
		return -ENOSPC;
	stackid_element_fill(stackid_element(search->table, search->geometry,
					     word),
			     search->stack,
			     identity_of(search->stack, search->hash));
	search->built = SLOT(search->hash, word);
	return 0;
}

/* Returns the entry and the words of the built element, if there is one. */
static void discard_element(struct search *search)
{
	if (!search->built)
		return;
	ticket_return(search);
	spare_put(search->line, POOL_WORD(search->built), search->capacity);
}

/* Adds a reference if the element of a slot equals the searched stack. */
static bool slot_matches(const struct search *search, u64 slot)
{
	struct stackid_element *element;

	if (!slot || slot >> 32 != search->hash >> 32)
		return false;
	element = stackid_element(search->table, search->geometry,
				  POOL_WORD(slot));
	if (!stackid_element_equal(element, search->stack,
				   identity_of(search->stack, search->hash)))
		return false;
	atomic64_inc(&element->ref_count);
	return true;
}

/*
 * Tries to publish the built element in a free slot. Returns 0, or the value of
 * the slot if another writer was first. Pairs with READ_ONCE() in probe_slot()
 * and in stackid_map_at(): a reader that finds the slot set reads the finished
 * element.
 */
static u64 publish_element(struct search *search, u64 *slot)
{
	u64 winner = cmpxchg(slot, 0, search->built);

	if (winner)
		return winner;
	atomic64_inc(&search->line->inserts);
	if (search->capacity > words_needed(search))
		atomic64_add(search->capacity - words_needed(search),
			     &search->line->wasted);
	return 0;
}

/* One probe; true ends the search. */
static bool probe_slot(struct search *search, u32 i)
{
	u32 index = ((u32)search->hash + i) & search->geometry->slot_mask;
	u64 *slot = stackid_slot(search->table, search->geometry, index);
	u64 found = READ_ONCE(*slot);

	if (!found) {
		if (!search->built && build_element(search))
			return true;
		found = publish_element(search, slot);
		if (!found) {
			search->result = stackid_map_id(search->table, index);
			return true;
		}
	}
	if (!slot_matches(search, found))
		return false;
	if (search->built)
		atomic64_inc(&search->line->lost_races);
	discard_element(search);
	search->result = stackid_map_id(search->table, index);
	return true;
}

/* The whole search, for a stack that is not in its first slot. */
static noinline s64 search_slots(void *table,
				 const struct stackid_geometry *geometry,
				 const struct stackid_stack *stack,
				 struct stackid_cpu *line, u64 hash)
{
	struct search search = {
		.table = table,
		.geometry = geometry,
		.stack = stack,
		.line = line,
		.hash = hash,
	};

	for (u32 i = 0; i < STACKID_PROBES_MAX; i++)
		if (probe_slot(&search, i))
			break;
	if (search.result)
		return search.result;
	discard_element(&search);
	return count_drop(line, STACKID_DROP_PROBE_LIMIT, -ENOSPC);
}

u32 stackid_map_id(void *table, u32 index)
{
	struct stackid_header *header = table;

	return header->id_tag | index;
}

s64 stackid_map_get_id(void *table, const struct stackid_geometry *geometry,
		       u32 cpu, const struct stackid_stack *stack)
{
	struct stackid_header *header = table;
	struct stackid_cpu *line = stackid_line(table, cpu);
	struct search search = { .table = table,
				 .geometry = geometry,
				 .stack = stack };
	u32 index;

	if (stack->words == 0 || stack->words > STACKID_DEPTH_MAX)
		return -EINVAL;
	search.hash = stackid_hash(stack, header->seed);
	index = (u32)search.hash & geometry->slot_mask;
	if (slot_matches(&search,
			 READ_ONCE(*stackid_slot(table, geometry, index))))
		return stackid_map_id(table, index);
	return search_slots(table, geometry, stack, line, search.hash);
}

struct stackid_element *stackid_map_at(void *table,
				       const struct stackid_geometry *geometry,
				       u32 index)
{
	u64 slot = READ_ONCE(*stackid_slot(table, geometry, index));

	return slot ? stackid_element(table, geometry, POOL_WORD(slot)) : NULL;
}
