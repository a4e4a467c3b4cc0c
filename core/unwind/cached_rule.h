/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lookup and insertion in the cache of abi/rule_cache.h. Any number of readers and writers, in any
 * context.
 */
#ifndef CORE_CACHED_RULE_H
#define CORE_CACHED_RULE_H

#include <stdbool.h>

#include "env.h"
#include "rule_cache.h"

/*
 * Looks up the rule of a pc's key, or of an aligned block of code (a granule) that contains the pc.
 * False: the cache has no rule, and *rule is untouched.
 *
 * BPF: the object's program includes cached_rule.c. `cache` is the map's value.
 */
CORE_INLINE bool rule_cache_get(const struct rule_cache *cache, const struct rule_key *key,
				struct unwind_rule *rule);

/* Looks up the rule of exactly this key, never that of a granule. */
CORE_GLOBAL int rule_cache_get_exact(const struct rule_cache *cache, const struct rule_key *key,
				     struct unwind_rule *rule);

/* Inserts a rule. The previous entry at the same index is overwritten. */
CORE_INLINE void rule_cache_put(struct rule_cache *cache, const struct rule_key *key,
				const struct unwind_rule *rule);

#endif
