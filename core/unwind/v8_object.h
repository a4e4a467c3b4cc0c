/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects of V8. A word that holds an object's address is this address plus 1; a word that holds a
 * number has the number in its upper half. An object begins with the address of the object that
 * says its type (its map).
 *
 * The garbage collector copies an object that it moves, and then replaces the first word of the old
 * one by the address of the copy, without the 1. For a while, addresses in other objects and on the
 * stack are still those of the old one.
 */
#ifndef CORE_UNWIND_V8_OBJECT_H
#define CORE_UNWIND_V8_OBJECT_H

#include "unwind.h"

#ifdef UNWIND_KNOWS_V8

#define OBJECT_TAG 1
#define OBJECT_MASK 3
/* byte offset in a map of the type (16 bits) of the objects that have this map */
#define MAP_TYPE 12
#define TYPE_NONE 0xffff

#define NUMBER(word) ((word) >> 32)
#define IS_NUMBER(word) (!((word) << 32))

#define HASH_FACTOR 0x9e3779b97f4a7c15ULL

/* Reads `count` words of an object, from its word `first` on, to v8->word. */
CORE_PART bool v8_read_words(struct unwind *unwind, u64 object, u64 first, u32 count)
{
	return (object & OBJECT_MASK) == OBJECT_TAG &&
	       unwind_peek(unwind, object - OBJECT_TAG + 8 * first, unwind->v8.word, 8 * count);
}

/* The type of the objects that have this map; TYPE_NONE: unreadable. */
CORE_PART u32 v8_type_of_map(struct unwind *unwind, u64 map)
{
	struct v8_walk *v8 = &unwind->v8;
	u64 slot = map * HASH_FACTOR >> 32;

	core_one_register(slot);
	slot &= V8_MAPS - 1;
	if ((map & OBJECT_MASK) != OBJECT_TAG)
		return TYPE_NONE;
	if (v8->map[slot] == map)
		return v8->type[slot];
	if (!unwind_peek(unwind, map - OBJECT_TAG + MAP_TYPE, &v8->half, 2))
		return TYPE_NONE;
	v8->map[slot] = map;
	v8->type[slot] = v8->half;
	return v8->half;
}

/*
 * Reads the first words of an object to v8->word, or those of its copy if the object was moved, and
 * sets v8->object to the one that was read. Returns the type of the object.
 */
CORE_GLOBAL_PART int v8_object_read(struct unwind *unwind, u64 object, u32 count)
{
	struct v8_walk *v8;
	u64 first;

	core_one_register(count);
	if (core_is_null(unwind) || count > V8_WORDS || !v8_read_words(unwind, object, 0, count))
		return TYPE_NONE;
	v8 = &unwind->v8;
	first = core_reload(v8->word[0]);
	if (first && !(first & OBJECT_MASK)) {
		object = first + OBJECT_TAG;
		if (!v8_read_words(unwind, object, 0, count))
			return TYPE_NONE;
	}
	v8->object = object;
	return v8_type_of_map(unwind, core_reload(v8->word[0]));
}

#endif

#endif
