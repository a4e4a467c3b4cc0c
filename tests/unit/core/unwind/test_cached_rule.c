/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cache of rules, with one writer and with several that write the same few entries in parallel.
 */
#include "unwind/cached_rule.h"

#include <pthread.h>
#include <string.h>

#include "unit_test.h"

#define THREADS 4
#define TURNS 400000
#define KEYS 8

static struct rule_cache cache;

/* Makes a rule that contains its key and the number of its write. */
static struct unwind_rule rule_of(u64 key, u32 writing)
{
	struct unwind_rule rule = {.cfa_offset = (s32)writing, .operand = key};

	memset(rule.slot, (int)(key ^ writing), sizeof(rule.slot));
	return rule;
}

static bool is_rule_of(const struct unwind_rule *rule, u64 key)
{
	struct unwind_rule expected = rule_of(key, (u32)rule->cfa_offset);

	return !memcmp(rule, &expected, sizeof(expected));
}

TEST(a_stored_rule_is_found)
{
	struct rule_key key = {.place = 0x12345678};
	struct unwind_rule rule = rule_of(1, 2), found = {0};

	memset(&cache, 0, sizeof(cache));
	assert_false(rule_cache_get(&cache, &key, &found));
	rule_cache_put(&cache, &key, &rule);
	assert_true(rule_cache_get(&cache, &key, &found));
	assert_memory_equal(&found, &rule, sizeof(rule));
	rule = rule_of(1, 3);
	rule_cache_put(&cache, &key, &rule);
	assert_true(rule_cache_get(&cache, &key, &found));
	assert_memory_equal(&found, &rule, sizeof(rule));
}

TEST(each_part_of_a_key_counts)
{
	const struct rule_key key = {.place = 77, .code = 99};
	const struct rule_key others[] = {
		{78, 99}, {77, 98}, {77, 0}, {99, 77}, {77 | RULE_KEY_INTERRUPTED, 99}};
	struct unwind_rule rule = rule_of(1, 2), found;

	memset(&cache, 0, sizeof(cache));
	rule_cache_put(&cache, &key, &rule);
	for (u32 i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(rule_cache_get(&cache, &others[i], &found));
	assert_true(rule_cache_get(&cache, &key, &found));
}

/* The rule of a granule serves interrupted pcs from its second byte on and calls inside of it, but
 * no key of another kind. */
TEST(a_granule_serves_what_lies_in_it)
{
	struct unwind_rule rule, found;

	memset(&cache, 0, sizeof(cache));
	for (u64 bytes = RULE_GRANULE_MIN; bytes <= RULE_GRANULE_MAX; bytes *= RULE_GRANULE_STEP) {
		u64 start = 0x4000 + 16 * bytes;
		struct rule_key inside = {.place = start + 1};
		struct rule_key key = rule_key_of_granule(&inside, bytes);

		rule = rule_of(bytes / 2, 0);
		rule_cache_put(&cache, &key, &rule);
		for (u64 at = 0; at <= bytes + 1; at++) {
			struct rule_key call = {.place = start + at};
			struct rule_key interrupted = {.place = RULE_KEY_INTERRUPTED | call.place};
			struct rule_key other = {.place = call.place, .code = 1};

			assert_int_equal(rule_cache_get(&cache, &call, &found),
					 at > 0 && at <= bytes);
			assert_int_equal(rule_cache_get(&cache, &interrupted, &found),
					 at > 0 && at < bytes);
			assert_false(rule_cache_get(&cache, &other, &found));
		}
	}
}

static bool has_cached_rule_of_process(const struct rule_key *key,
				       const struct address_space *space)
{
	struct rule_key own = rule_key_of_address_space(key, space);
	struct unwind_rule found;

	return rule_cache_get_exact(&cache, &own, &found);
}

/* All parts of an address space's identity count; changes of its mappings do not. */
TEST(an_own_rule_serves_one_address_space)
{
	const struct address_space space = {.mm = 0x1000, .process = 7, .execs = 2, .sequence = 4};
	const struct address_space others[] = {{.mm = 0x1040, .process = 7, .execs = 2},
					       {.mm = 0x1000, .process = 8, .execs = 2},
					       {.mm = 0x1000, .process = 7, .execs = 3},
					       {.mm = 0}};
	const struct rule_key key = {.place = 0x4321}, next = {.place = 0x4322};
	struct rule_key own = rule_key_of_address_space(&key, &space),
			settled = rule_key_of_row_start(&key, &space);
	struct address_space later = space;
	struct unwind_rule rule = rule_of(1, 2), found;

	memset(&cache, 0, sizeof(cache));
	rule_cache_put(&cache, &own, &rule);
	assert_true(rule_cache_get_exact(&cache, &own, &found));
	assert_memory_equal(&found, &rule, sizeof(rule));
	later.sequence = 6;
	assert_true(has_cached_rule_of_process(&key, &later));
	assert_false(rule_cache_get(&cache, &key, &found));
	assert_false(rule_cache_get_exact(&cache, &settled, &found));
	for (u32 i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(has_cached_rule_of_process(&key, &others[i]));
	assert_false(has_cached_rule_of_process(&next, &space));
}

/* An entry with a wrong bit counts as empty. */
TEST(a_damaged_entry_is_empty)
{
	struct rule_key key = {.place = 5};
	struct unwind_rule rule = rule_of(1, 2), found;
	struct cached_rule *entry = NULL;

	memset(&cache, 0, sizeof(cache));
	rule_cache_put(&cache, &key, &rule);
	for (u32 i = 0; i < 1U << RULE_CACHE_BITS; i++)
		if (cache.entry[i].seal)
			entry = &cache.entry[i];
	assert_non_null(entry);
	for (u32 bit = 0; bit < 64; bit++) {
		entry->word[0] ^= 1ULL << bit;
		assert_false(rule_cache_get(&cache, &key, &found));
		entry->word[0] ^= 1ULL << bit;
		entry->word[1] ^= 1ULL << bit;
		assert_false(rule_cache_get(&cache, &key, &found));
		entry->word[1] ^= 1ULL << bit;
	}
	assert_true(rule_cache_get(&cache, &key, &found));
}

/* Finds keys that share one entry, so that writers collide. */
static void find_keys_of_same_cache_entry(struct rule_key keys[KEYS])
{
	static struct rule_cache probe;
	struct unwind_rule rule = rule_of(0, 0);
	struct rule_key first = {.place = 1}, found_by = {0};
	struct cached_rule *entry = NULL;
	u32 count = 1;

	rule_cache_put(&probe, &first, &rule);
	for (u32 i = 0; i < 1U << RULE_CACHE_BITS; i++)
		if (probe.entry[i].seal)
			entry = &probe.entry[i];
	assert_non_null(entry);
	keys[0] = first;
	while (count < KEYS) {
		u64 seal = entry->seal;

		found_by.place++;
		rule_cache_put(&probe, &found_by, &rule);
		if (entry->seal != seal && found_by.place != first.place)
			keys[count++] = found_by;
	}
}

struct worker {
	pthread_t thread;
	const struct rule_key *keys;
	u32 number;
	u64 found, torn;
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	for (u32 i = 0; i < TURNS; i++) {
		u32 key = (i * 7 + worker->number) % KEYS, other = (key + i % 3) % KEYS;
		struct unwind_rule rule = rule_of(key, i * THREADS + worker->number);

		rule_cache_put(&cache, &worker->keys[key], &rule);
		if (!rule_cache_get(&cache, &worker->keys[other], &rule))
			continue;
		worker->found++;
		worker->torn += !is_rule_of(&rule, other);
	}
	return NULL;
}

TEST(torn_entries_are_never_returned)
{
	struct worker workers[THREADS] = {0};
	struct rule_key keys[KEYS];
	u64 found = 0;

	find_keys_of_same_cache_entry(keys);
	memset(&cache, 0, sizeof(cache));
	for (u32 i = 0; i < THREADS; i++) {
		workers[i].keys = keys;
		workers[i].number = i;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (u32 i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		assert_int_equal(workers[i].torn, 0);
		found += workers[i].found;
	}
	assert_true(found > 0);
}
