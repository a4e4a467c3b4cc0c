/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash of a key selects the cache entry and is the start of the seal, a checksum over key and
 * rule, so that both cost four multiplications together. Each step of the seal is a bijection of
 * the previous value: two entries of one key that differ in one word never have the same seal.
 */
#include "cached_rule.h"

/*
 * Odd numbers with half of the bits set: 2^64 over the golden ratio, and two factors of splitmix64.
 */
#define SEAL_PLACE 0x9e3779b97f4a7c15ULL
#define SEAL_CODE 0xbf58476d1ce4e5b9ULL
#define SEAL_WORD 0x94d049bb133111ebULL

union rule_words {
	struct unwind_rule rule;
	u64 word[2];
};

CORE_PART u64 add_word_to_rule_checksum(u64 seal, u64 word, u64 factor)
{
	seal = (seal ^ word) * factor;
	return seal ^ seal >> 29;
}

CORE_PART u64 hash_key(const struct rule_key *key)
{
	return add_word_to_rule_checksum(add_word_to_rule_checksum(0, key->place, SEAL_PLACE),
					 key->code, SEAL_CODE);
}

CORE_PART u64 checksum_of_cached_rule(u64 key, u64 first, u64 second)
{
	return add_word_to_rule_checksum(add_word_to_rule_checksum(key, first, SEAL_WORD), second,
					 SEAL_PLACE);
}

CORE_PART u64 cache_entry_index(u64 key)
{
	return key >> (64 - RULE_CACHE_BITS);
}

CORE_GLOBAL int rule_cache_get_exact(const struct rule_cache *cache, const struct rule_key *key,
				     struct unwind_rule *rule)
{
	const struct cached_rule *entry;
	union rule_words words;
	u64 hash;

	if (core_is_null(cache) || core_is_null(key) || core_is_null(rule))
		return false;
	hash = hash_key(key);
	entry = &cache->entry[cache_entry_index(hash)];
	words.word[0] = atomic_load_relaxed(&entry->word[0]);
	words.word[1] = atomic_load_relaxed(&entry->word[1]);
	if (atomic_load_relaxed(&entry->seal) !=
	    checksum_of_cached_rule(hash, words.word[0], words.word[1]))
		return false;
	*rule = words.rule;
	return true;
}

CORE_PART bool get_granule_rule(const struct rule_cache *cache, const struct rule_key *key,
				u64 bytes, struct unwind_rule *rule)
{
	struct rule_key granule = rule_key_of_granule(key, bytes);

	/* At the first byte of a block (a granule), an interrupted pc needs its own rule. */
	return (!(key->place & RULE_KEY_INTERRUPTED) || key->place & (bytes - 1)) &&
	       rule_cache_get_exact(cache, &granule, rule);
}

/* The look-ups are not a loop: Linux 6.1 refuses a loop that ends with a call. */
CORE_INLINE bool rule_cache_get(const struct rule_cache *cache, const struct rule_key *key,
				struct unwind_rule *rule)
{
	_Static_assert(RULE_GRANULE_MIN * RULE_GRANULE_STEP * RULE_GRANULE_STEP == RULE_GRANULE_MAX,
		       "three granules");
	return (!key->code &&
		(get_granule_rule(cache, key, RULE_GRANULE_MAX, rule) ||
		 get_granule_rule(cache, key, RULE_GRANULE_MAX / RULE_GRANULE_STEP, rule) ||
		 get_granule_rule(cache, key, RULE_GRANULE_MIN, rule))) ||
	       rule_cache_get_exact(cache, key, rule);
}

CORE_INLINE void rule_cache_put(struct rule_cache *cache, const struct rule_key *key,
				const struct unwind_rule *rule)
{
	u64 hash = hash_key(key);
	struct cached_rule *entry = &cache->entry[cache_entry_index(hash)];
	union rule_words words = {.rule = *rule};

	atomic_store_relaxed(&entry->seal,
			     checksum_of_cached_rule(hash, words.word[0], words.word[1]));
	atomic_store_relaxed(&entry->word[0], words.word[0]);
	atomic_store_relaxed(&entry->word[1], words.word[1]);
}
