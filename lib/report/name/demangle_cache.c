/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "demangle_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"
#include "symbol/demangle/demangle.h"
#include "symbol/demangle/demangler.h"

struct demangled_name {
	char *plain; /* NULL: it is not mangled */
	char mangled[];
};

struct demangle_cache {
	struct demangler *demangler;
	struct hash_index index;
	struct demangled_name **names;
	u32 room;
};

static bool is_name(const void *names, u32 index, const void *mangled)
{
	return strcmp(((struct demangled_name *const *)names)[index]->mangled, mangled) == 0;
}

static struct demangled_name *create(struct demangler *demangler, const char *mangled)
{
	size_t bytes = strlen(mangled) + 1;
	struct demangled_name *name = malloc(sizeof(*name) + bytes);

	if (!name)
		return NULL;
	name->plain = demangler_name(demangler, mangled);
	memcpy(name->mangled, mangled, bytes);
	return name;
}

static void name_free(struct demangled_name *name)
{
	if (name)
		free(name->plain);
	free(name);
}

static struct demangled_name *add(struct demangle_cache *cache, const char *mangled, u32 hash)
{
	u32 place = cache->index.count;
	struct demangled_name *name = create(cache->demangler, mangled);

	if (!name || array_make_room(cache->names, place, cache->room) ||
	    hash_index_add(&cache->index, hash, place)) {
		name_free(name);
		return NULL;
	}
	cache->names[place] = name;
	return name;
}

const char *demangle_cache_find(struct demangle_cache *cache, const char *mangled)
{
	u32 hash, place;
	struct demangled_name *name;

	if (!demangle_is_mangled(mangled))
		return mangled;
	hash = hash_text(mangled);
	place = hash_index_find(&cache->index, hash, is_name, cache->names, mangled);
	name = place == HASH_INDEX_NONE ? add(cache, mangled, hash) : cache->names[place];
	return name && name->plain ? name->plain : mangled;
}

int demangle_cache_create(struct demangle_cache **out)
{
	struct demangle_cache *cache = calloc(1, sizeof(*cache));
	int result = cache ? demangler_create(&cache->demangler) : -ENOMEM;

	if (result)
		free(cache);
	else
		*out = cache;
	return result;
}

void demangle_cache_free(struct demangle_cache **cache)
{
	struct demangle_cache *old = *cache;

	if (!old)
		return;
	for (u32 i = 0; i < old->index.count; i++)
		name_free(old->names[i]);
	free(old->names);
	hash_index_free(&old->index);
	demangler_free(&old->demangler);
	free(old);
	*cache = NULL;
}
