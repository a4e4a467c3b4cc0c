/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The expected hashes are those of CPython, whose hash of bytes is SipHash-1-3, with a key of zeros
 * (PYTHONHASHSEED=0). */
#include "keyed_hash.h"

#include <string.h>

#include "unit_test.h"

static u64 hash_of_words(const char *text, u32 words, u64 key)
{
	struct keyed_hash hash;
	u64 word;

	keyed_hash_begin(&hash, key, 0);
	for (u32 i = 0; i < words; i++) {
		memcpy(&word, text + i * sizeof(word), sizeof(word));
		keyed_hash_add(&hash, word);
	}
	return keyed_hash_end(&hash, words);
}

TEST(hashes_are_those_of_another_program)
{
	static const char text[] = "abcdefghijklmnopqrstuvwxyz012345";

	assert_int_equal(hash_of_words(text, 1, 0), 4574395652268504554ULL);
	assert_int_equal(hash_of_words(text, 2, 0), (u64)-7712962755478248686LL);
	assert_int_equal(hash_of_words(text, 3, 0), 4804482773596238556ULL);
	assert_int_equal(hash_of_words(text, 4, 0), 2103107030450927692ULL);
	assert_int_not_equal(hash_of_words(text, 4, 1), 2103107030450927692ULL);
}
