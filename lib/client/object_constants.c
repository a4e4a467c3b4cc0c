/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The object's types say where in its section a constant lies; libbpf names the section's map after
 * the object, so it is known by its end. */
#include "client/object_constants.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scalar.h"

#define SECTION ".rodata"

static struct bpf_map *section_map(const struct bpf_object *object)
{
	const size_t suffix = sizeof(SECTION) - 1;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		const char *name = bpf_map__name(map);
		size_t length = strlen(name);

		if (length >= suffix && !strcmp(name + length - suffix, SECTION))
			return map;
	}
	return NULL;
}

static const struct btf_var_secinfo *find_variable(const struct btf *btf, const char *name)
{
	s32 section = btf__find_by_name_kind(btf, SECTION, BTF_KIND_DATASEC);
	const struct btf_type *type = section > 0 ? btf__type_by_id(btf, section) : NULL;

	for (u32 i = 0; type && i < btf_vlen(type); i++) {
		const struct btf_var_secinfo *variable = &btf_var_secinfos(type)[i];
		const struct btf_type *named = btf__type_by_id(btf, variable->type);

		if (!strcmp(btf__name_by_offset(btf, named->name_off), name))
			return variable;
	}
	return NULL;
}

/* libbpf takes a section's values as a whole. */
static int set_bytes(struct bpf_map *map, const struct btf_var_secinfo *variable, const void *value)
{
	size_t bytes = 0;
	const void *old = bpf_map__initial_value(map, &bytes);
	char *values;
	int result;

	if (!old || variable->offset + variable->size > bytes)
		return -EINVAL;
	values = malloc(bytes);
	if (!values)
		return -ENOMEM;
	memcpy(values, old, bytes);
	memcpy(values + variable->offset, value, variable->size);
	result = bpf_map__set_initial_value(map, values, bytes);
	free(values);
	return result;
}

int object_constant_set(const struct bpf_object *object, const char *name, const void *value,
			size_t bytes)
{
	const struct btf_var_secinfo *variable = find_variable(bpf_object__btf(object), name);
	struct bpf_map *map = section_map(object);

	if (!map || !variable || variable->size != bytes)
		return -EINVAL;
	return set_bytes(map, variable, value);
}
