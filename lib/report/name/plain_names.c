/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plain_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"
#include "symbol/demangle/demangle.h"
#include "symbol/demangle/demangler.h"

struct plain_name {
	char *plain; /* NULL: it is not mangled */
	char mangled[];
};

struct plain_names {
	struct demangler *demangler;
	struct hash_index index;
	struct plain_name **names;
	u32 room;
};

static bool is_name(const void *names, u32 index, const void *mangled)
{
	return strcmp(((struct plain_name *const *)names)[index]->mangled, mangled) == 0;
}

static struct plain_name *create(struct demangler *demangler, const char *mangled)
{
	size_t bytes = strlen(mangled) + 1;
	struct plain_name *name = malloc(sizeof(*name) + bytes);

	if (!name)
		return NULL;
	name->plain = demangler_name(demangler, mangled);
	memcpy(name->mangled, mangled, bytes);
	return name;
}

static void name_free(struct plain_name *name)
{
	if (name)
		free(name->plain);
	free(name);
}

static struct plain_name *add(struct plain_names *names, const char *mangled, u32 hash)
{
	u32 place = names->index.count;
	struct plain_name *name = create(names->demangler, mangled);

	if (!name || array_make_room(names->names, place, names->room) ||
	    hash_index_add(&names->index, hash, place)) {
		name_free(name);
		return NULL;
	}
	names->names[place] = name;
	return name;
}

const char *plain_names_find(struct plain_names *names, const char *mangled)
{
	u32 hash, place;
	struct plain_name *name;

	if (!demangle_is_mangled(mangled))
		return mangled;
	hash = hash_text(mangled);
	place = hash_index_find(&names->index, hash, is_name, names->names, mangled);
	name = place == HASH_INDEX_NONE ? add(names, mangled, hash) : names->names[place];
	return name && name->plain ? name->plain : mangled;
}

int plain_names_create(struct plain_names **out)
{
	struct plain_names *names = calloc(1, sizeof(*names));
	int result = names ? demangler_create(&names->demangler) : -ENOMEM;

	if (result)
		free(names);
	else
		*out = names;
	return result;
}

void plain_names_free(struct plain_names **names)
{
	struct plain_names *old = *names;

	if (!old)
		return;
	for (u32 i = 0; i < old->index.count; i++)
		name_free(old->names[i]);
	free(old->names);
	hash_index_free(&old->index);
	demangler_free(&old->demangler);
	free(old);
	*names = NULL;
}
