/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "demangle_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "intern.h"
#include "symbol/demangle/demangle.h"

struct demangle_cache {
	struct demangler *demangler;
	struct text_set mangled;
	char **plain; /* demangled name of each; NULL: the name is not mangled */
	u32 room;
};

const char *demangle_cache_find(struct demangle_cache *cache, const char *mangled)
{
	u32 count = cache->mangled.count, number;

	if (!demangle_is_mangled(mangled))
		return mangled;
	if (array_make_room(cache->plain, count, cache->room))
		return mangled;
	number = text_set_number(&cache->mangled, mangled);
	if (number == HASH_INDEX_NONE)
		return mangled;
	if (number == count)
		cache->plain[number] = demangler_name(cache->demangler, mangled);
	return cache->plain[number] ?: mangled;
}

struct demangle_failures demangle_cache_failures(const struct demangle_cache *cache)
{
	return demangler_failures(cache->demangler);
}

int demangle_cache_create(struct demangle_cache **out)
{
	struct demangle_cache *cache = calloc(1, sizeof(*cache));
	int result = cache ? demangler_create(&cache->demangler) : -ENOMEM;

	if (result) {
		free(cache);
		return result;
	}
	cache->mangled = TEXT_SET;
	*out = cache;
	return 0;
}

void demangle_cache_free(struct demangle_cache **cache)
{
	struct demangle_cache *old = *cache;

	if (!old)
		return;
	for (u32 i = 0; i < old->mangled.count; i++)
		free(old->plain[i]);
	free(old->plain);
	text_set_clear(&old->mangled);
	demangler_free(&old->demangler);
	free(old);
	*cache = NULL;
}
