/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of Java that run in a frame whose method java_rule.c has found: the words that lead
 * from a method to its name, and the functions that a compiler has put into the method (inlined
 * functions).
 *
 * The compiler describes some addresses of its code, sorted: all return addresses at which the
 * thread may stop, but not those of most other instructions. A described address leads to a scope,
 * a sequence of numbers: the distance of the scope of the caller (0: none), and the number of the
 * scope's method in an array. The scopes of an address are therefore the functions that run there,
 * innermost first. Addresses that are not described have no inlined functions here: what the
 * machine itself assumes for them, the scopes of the next described address, may be wrong.
 *
 * The file is included behind java_rule.c.
 */
#include "unwind.h"

#ifdef UNWIND_KNOWS_JAVA

#define POOL_TEXT 1 /* the tag of a text in the pool of constants */
#define WORDS_MASK (JAVA_WORDS_ROOM - 1)

_Static_assert((JAVA_WORDS_ROOM & WORDS_MASK) == 0, "a mask bounds an index");

/* The word of java->words_read at a byte offset, shifted so that the number at the offset is
 * lowest. The caller cuts off the higher bits. The number must not go on in the next word. */
CORE_PART u64 java_number_at(const struct java_walk *java, u32 offset)
{
	u32 index = offset / 8;

	core_one_register(index);
	return java->words_read[index & WORDS_MASK] >> 8 * (offset & 7);
}

/* Reads memory that leads to a name. A missing page is waited for if java->waits. */
CORE_PART bool java_read_for_name(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return unwind_peek(unwind, address, buffer, bytes) ||
	       (core_reload(unwind->java.waits) && unwind_read(unwind, address, buffer, bytes));
}

CORE_SUBPROGRAM bool java_read_object_words(struct unwind *unwind, u64 address)
{
	return java_read_for_name(unwind, address, unwind->java.words_read, 8 * JAVA_WORDS);
}

/* Sets *text to the address of the text that has this number in the pool of constants. */
CORE_PART bool java_text_address_find(struct unwind *unwind, u64 number, u64 *text)
{
	struct java_walk *java = &unwind->java;
	const struct java_layout *layout = &java->layout;

	return number && number < java->half &&
	       java_read_for_name(unwind, java->tags + layout->tags_data + number, &java->byte,
				  1) &&
	       core_reload(java->byte) == POOL_TEXT &&
	       java_read_for_name(unwind, java->pool + layout->pool_bytes + 8 * number, text, 8);
}

/*
 * Finds the constant part, the pool, the class and the name of java->method, and sets
 * java->complete to the number of the source file's name. The class must lead back to the pool.
 */
CORE_SUBPROGRAM bool java_find_parts_of_method(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	const struct java_layout *layout = &java->layout;
	u64 number;

	if (java->method & 7 ||
	    !java_read_for_name(unwind, java->method + layout->method_const, &java->constants, 8) ||
	    !java_read_object_words(unwind, java->constants))
		return false;
	java->pool = java_number_at(java, layout->const_pool);
	number = java_number_at(java, layout->const_name) & 0xffff;
	if (!java_read_object_words(unwind, java->pool))
		return false;
	java->holder = java_number_at(java, layout->pool_class);
	java->tags = java_number_at(java, layout->pool_tags);
	java->half = java_number_at(java, layout->pool_count);
	java->complete = java_number_at(java, layout->pool_file);
	return java_read_for_name(unwind, java->holder + layout->class_pool, &java->word, 8) &&
	       core_reload(java->word) == java->pool &&
	       java_text_address_find(unwind, number, &java->name);
}

/* True if all bytes of a text are there. */
CORE_SUBPROGRAM bool java_fault_in_text(struct unwind *unwind, u64 text)
{
	struct java_walk *java = &unwind->java;

	return java_read_for_name(unwind, text, &java->word, 8) &&
	       java_read_for_name(unwind, text + JAVA_TEXT_FROM - 1 + JAVA_TEXT_BYTES(java->word),
				  &java->byte, 1);
}

CORE_SUBPROGRAM bool java_find_method_without_wait(struct unwind *unwind)
{
	unwind->java.waits = 0;
	return java_find_parts_of_method(unwind);
}

CORE_SUBPROGRAM bool java_find_names_of_method(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;

	java->waits = 1;
	if (!java_find_parts_of_method(unwind) ||
	    !java_fault_in_text(unwind, core_reload(java->name)) ||
	    !java_read_for_name(unwind, java->holder + java->layout.class_name, &java->word, 8) ||
	    !java_fault_in_text(unwind, core_reload(java->word)))
		return false;
	if (!core_reload(java->complete) ||
	    !java_text_address_find(unwind, core_reload(java->complete), &java->file) ||
	    !java_fault_in_text(unwind, core_reload(java->file)))
		java->file = 0;
	return core_reload(unwind->budget) != 0;
}

/* --- inlined functions --- */

#define PLACE_STEPS_MAX 24
#define METHODS_MAX 0xffff
#define DIGITS_MAX 5
#define DIGIT_BITS 6
#define DIGIT_GOES_ON(digit) (((digit) + 64) >> 8) /* 1 if another digit follows */

/* Sets the addresses of what the machine knows about the block's code. */
CORE_PART bool java_code_data_find(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	const struct java_layout *layout = &java->layout;
	u64 from = java->blob, methods = java->blob;

	if (!java_read_word(unwind, java->blob + layout->scope_data, &java->scopes) ||
	    !java_read_word(unwind, java->blob + 4 * (u64)layout->scope_places, &java->word) ||
	    !unwind_peek(unwind, java->blob + 4 * (u64)layout->scope_methods, &java->half, 4))
		return false;
	if (layout->scope_apart) {
		from = core_reload(java->scopes);
		java->scopes = from + (java->word >> 32);
		if (!java_read_word(unwind, java->blob + layout->scope_apart, &java->other))
			return false;
		methods = core_reload(java->other);
	}
	java->methods = methods + core_reload(java->half);
	java->places = from + (u32)java->word;
	java->place_from = 0;
	java->place_end = ((u32)(java->word >> 32) - (u32)java->word) / sizeof(struct java_place);
	return true;
}

/* One step of a binary search for the description of java->distance. */
static long java_compare_place(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct java_walk *java = &unwind->java;
	u32 middle = (java->place_from + java->place_end) / 2;

	(void)i;
	if (java->place_from >= java->place_end ||
	    !unwind_peek(unwind, java->places + sizeof(java->place) * (u64)middle, &java->place,
			 sizeof(java->place)))
		return 1;
	if (java->place.distance < java->distance) {
		java->place_from = middle + 1;
	} else if (java->place.distance > java->distance) {
		java->place_end = middle;
	} else {
		java->scope = java->place.scope;
		return 1;
	}
	return 0;
}

/* The next number in java->numbers. A number consists of digits of 6 bits, the lowest first. */
CORE_PART u32 java_number_take(struct java_walk *java)
{
	u32 at = java->numbers_at, value = 0, is_digit = 1, count = 0;
	u32 first = is_below(java->layout.scope_numbers ^ JAVA_NUMBERS_FROM_1, 1);
	u64 digits;

	core_one_register(at);
	digits = core_load_u64((const u8 *)java->numbers + (at & 7));
	for (u32 i = 0; i < DIGITS_MAX; i++) {
		u32 digit = digits >> 8 * i & 0xff;

		value += is_digit * ((digit - first) << DIGIT_BITS * i);
		count += is_digit;
		is_digit &= DIGIT_GOES_ON(digit);
	}
	java->numbers_at += count;
	return value;
}

/* Adds the method of the current scope to java->chain, and goes on to the scope of its caller,
 * which lies before it. */
static long java_take_scope(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct java_walk *java = &unwind->java;
	u32 outer, method;

	core_one_register(i);
	if (i >= JAVA_CHAIN_MAX ||
	    !unwind_peek(unwind, java->scopes + java->scope, java->numbers, 2 * DIGITS_MAX))
		return 1;
	java->numbers_at = 0;
	outer = java_number_take(java);
	method = java_number_take(java) - 1;
	if (outer >= java->scope || method >= METHODS_MAX ||
	    !java_read_word(unwind, java->methods + 8 * (u64)method, &java->word))
		return 1;
	java->chain[i & (JAVA_CHAIN_MAX - 1)] = java->word;
	java->inlined = i;
	java->scope = outer;
	return !outer;
}

CORE_SUBPROGRAM bool java_inlined_find(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	bool is_bad;

	java->inlined = java->scope = 0;
	java->chain[0] = java->method;
	if (!java->is_compiled || !java->layout.scope_numbers)
		return true;
	if (!java_code_distance_find(unwind) || !java_code_data_find(unwind))
		return false;
	core_rare_loop(PLACE_STEPS_MAX, java_compare_place, &unwind);
	if (!core_reload(java->scope))
		return true;
	core_rare_loop(JAVA_CHAIN_MAX, java_take_scope, &unwind);
	/* The outermost scope must be that of the method which the block has code of. */
	is_bad = core_reload(java->scope) ||
		 java->chain[core_reload(java->inlined) & (JAVA_CHAIN_MAX - 1)] != java->method;
	if (is_bad) {
		java->inlined = 0;
		java->chain[0] = java->method;
	}
	return !is_bad;
}

#endif
