/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbpf takes a path, so it gets the path of the memfd in /proc/self/fd. If a step fails, libbpf
 * gets no path and searches all types.
 */
#include "capture/feature/kernel_types.h"

#include <errno.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "capture/feature/kernel_btf.h"
#include "intern.h"

/*
 * A first pass over all types stores where each type begins. The types with wanted names are put
 * into the list `taken`. Then each type of the list is copied; the types that it refers to are
 * appended to the list, until the end of the list is reached.
 */

#define FLAVOR "___"

struct bytes {
	u8 *bytes;
	u32 count, room;
};

struct subset {
	const u8 *types; /* the BTF records of all types of the kernel */
	u32 type_bytes;
	const char *strings;
	u32 string_bytes;
	u32 *starts; /* offset in `types` of each type */
	u32 count, start_room;
	u32 *places; /* by the kernel's id of a type: the type's id in the subset; 0 = not in the
			subset */
	u32 *taken;  /* the kernel's ids of the types in the subset, in the order of the subset */
	u32 taken_count, taken_room;
	struct bytes out_types, out_strings;
};

static int add_name_without_flavor(struct text_set *names, const char *name)
{
	const char *flavor = NULL, *at = name;
	char *plain;
	u32 number;

	if (!*name)
		return 0;
	/* NAME___FLAVOR stands for NAME of the kernel (libbpf). */
	while ((at = strstr(at + 1, FLAVOR)))
		flavor = at;
	plain = strndup(name, flavor ? (size_t)(flavor - name) : strlen(name));
	number = plain ? text_set_find_or_add_number(names, plain) : HASH_INDEX_NONE;
	free(plain);
	return number == HASH_INDEX_NONE ? -ENOMEM : 0;
}

static bool is_copied_kind(u32 kind)
{
	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION || kind == BTF_KIND_ENUM ||
	       kind == BTF_KIND_ENUM64 || kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_INT ||
	       kind == BTF_KIND_FLOAT || kind == BTF_KIND_FWD;
}

static int collect_names_of_object_types(const struct btf *named, struct text_set *names)
{
	int result = 0;

	for (u32 id = 1; id < btf__type_cnt(named) && !result; id++) {
		const struct btf_type *type = btf__type_by_id(named, id);

		if (is_copied_kind(btf_kind(type)))
			result = add_name_without_flavor(
				names, btf__name_by_offset(named, type->name_off));
	}
	return result;
}

/* The size of a type's record in BTF, in bytes; 0: unknown kind. */
static size_t size_of_type(const struct btf_type *type)
{
	static const struct {
		u8 once, each;
	} behind[] = {
		[BTF_KIND_INT] = {4, 0},
		[BTF_KIND_ARRAY] = {sizeof(struct btf_array), 0},
		[BTF_KIND_STRUCT] = {0, sizeof(struct btf_member)},
		[BTF_KIND_UNION] = {0, sizeof(struct btf_member)},
		[BTF_KIND_ENUM] = {0, sizeof(struct btf_enum)},
		[BTF_KIND_ENUM64] = {0, sizeof(struct btf_enum64)},
		[BTF_KIND_FUNC_PROTO] = {0, sizeof(struct btf_param)},
		[BTF_KIND_VAR] = {sizeof(struct btf_var), 0},
		[BTF_KIND_DATASEC] = {0, sizeof(struct btf_var_secinfo)},
		[BTF_KIND_DECL_TAG] = {sizeof(struct btf_decl_tag), 0},
		[BTF_KIND_TYPE_TAG] = {0, 0},
	};
	u32 kind = btf_kind(type);

	if (kind == BTF_KIND_UNKN || kind >= sizeof(behind) / sizeof(*behind))
		return 0;
	return sizeof(*type) + behind[kind].once + (size_t)behind[kind].each * btf_vlen(type);
}

static const struct btf_type *type_at_offset(const struct subset *subset, u32 start)
{
	return (const struct btf_type *)(subset->types + start);
}

static int read_btf_header(struct subset *subset, const void *raw, size_t raw_bytes)
{
	const struct btf_header *header = raw;
	u64 types, strings;

	if (raw_bytes < sizeof(*header) || header->magic != BTF_MAGIC)
		return -EINVAL;
	types = (u64)header->hdr_len + header->type_off;
	strings = (u64)header->hdr_len + header->str_off;
	if (types + header->type_len > raw_bytes || strings + header->str_len > raw_bytes ||
	    types % 4 || !header->str_len)
		return -EINVAL;
	subset->types = (const u8 *)raw + types;
	subset->type_bytes = header->type_len;
	subset->strings = (const char *)raw + strings;
	subset->string_bytes = header->str_len;
	return subset->strings[header->str_len - 1] ? -EINVAL : 0;
}

static int find_type_starts(struct subset *subset)
{
	u32 at = 0;

	while (at < subset->type_bytes) {
		u32 left = subset->type_bytes - at;
		size_t bytes = left >= sizeof(struct btf_type)
				       ? size_of_type(type_at_offset(subset, at))
				       : 0;

		if (!bytes || bytes > left)
			return -EINVAL;
		if (array_make_room(subset->starts, subset->count, subset->start_room))
			return -ENOMEM;
		subset->starts[subset->count++] = at;
		at += bytes;
	}
	subset->places = calloc(subset->count + 1, sizeof(*subset->places));
	return subset->places ? 0 : -ENOMEM;
}

/* Adds a type to the list of taken types unless the list has it, and replaces *id by the type's id
 * in the subset. */
static int add_type_to_subset(struct subset *subset, u32 *id)
{
	if (!*id)
		return 0;
	if (*id > subset->count)
		return -EINVAL;
	if (!subset->places[*id]) {
		if (array_make_room(subset->taken, subset->taken_count, subset->taken_room))
			return -ENOMEM;
		subset->taken[subset->taken_count++] = *id;
		subset->places[*id] = subset->taken_count;
	}
	*id = subset->places[*id];
	return 0;
}

static int add_named_types(struct subset *subset, const struct text_set *names)
{
	int result = 0;

	for (u32 i = 0; i < subset->count && !result; i++) {
		const struct btf_type *type = type_at_offset(subset, subset->starts[i]);
		u32 id = i + 1;

		if (!type->name_off || !is_copied_kind(btf_kind(type)))
			continue;
		if (type->name_off >= subset->string_bytes)
			return -EINVAL;
		if (text_set_find(names, subset->strings + type->name_off) != HASH_INDEX_NONE)
			result = add_type_to_subset(subset, &id);
	}
	return result;
}

static int append_bytes(struct bytes *to, const void *bytes, size_t count)
{
	if (array_make_rooms(to->bytes, (u64)to->count + count, to->room))
		return -ENOMEM;
	memcpy(to->bytes + to->count, bytes, count);
	to->count += count;
	return 0;
}

static int copy_type_name_to_subset(struct subset *subset, u32 *name)
{
	u32 place = subset->out_strings.count;
	const char *text = subset->strings + *name;

	if (!*name)
		return 0;
	if (*name >= subset->string_bytes)
		return -EINVAL;
	*name = place;
	return append_bytes(&subset->out_strings, text, strlen(text) + 1);
}

static int copy_struct_members_to_subset(struct subset *subset, struct btf_type *type)
{
	struct btf_member *members = btf_members(type);
	int result = 0;

	for (u32 i = 0; i < btf_vlen(type) && !result; i++)
		result = copy_type_name_to_subset(subset, &members[i].name_off)
				 ?: add_type_to_subset(subset, &members[i].type);
	return result;
}

/* Copies the names of enum values. `bytes`: the size of a value's record, which begins with the
 * name. */
static int copy_enum_values(struct subset *subset, struct btf_type *type, u32 bytes)
{
	u8 *values = (u8 *)(type + 1);
	int result = 0;

	for (u32 i = 0; i < btf_vlen(type) && !result; i++)
		result = copy_type_name_to_subset(subset, (u32 *)(values + (size_t)i * bytes));
	return result;
}

static int adapt_names_and_ids_of_copied_type(struct subset *subset, struct btf_type *type)
{
	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_struct_members_to_subset(subset, type);
	case BTF_KIND_ENUM:
		return copy_enum_values(subset, type, sizeof(struct btf_enum));
	case BTF_KIND_ENUM64:
		return copy_enum_values(subset, type, sizeof(struct btf_enum64));
	case BTF_KIND_ARRAY:
		return add_type_to_subset(subset, &btf_array(type)->type)
			       ?: add_type_to_subset(subset, &btf_array(type)->index_type);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return add_type_to_subset(subset, &type->type);
	case BTF_KIND_PTR:
		type->type = 0;
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_FWD:
		return 0;
	}
	return -EINVAL; /* no member can have another kind */
}

static int copy_type(struct subset *subset, u32 id)
{
	u32 start = subset->starts[id - 1], place = subset->out_types.count;
	const struct btf_type *type = type_at_offset(subset, start);
	struct btf_type *copy;

	if (append_bytes(&subset->out_types, type, size_of_type(type)))
		return -ENOMEM;
	copy = (struct btf_type *)(subset->out_types.bytes + place);
	return copy_type_name_to_subset(subset, &copy->name_off)
		       ?: adapt_names_and_ids_of_copied_type(subset, copy);
}

static int write_subset(const struct subset *subset, void **out, size_t *out_bytes)
{
	u32 types = subset->out_types.count, strings = subset->out_strings.count;
	struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(header),
		.type_len = types,
		.str_off = types,
		.str_len = strings,
	};
	u8 *raw = malloc(sizeof(header) + types + strings);

	if (!raw)
		return -ENOMEM;
	memcpy(raw, &header, sizeof(header));
	if (types)
		memcpy(raw + sizeof(header), subset->out_types.bytes, types);
	memcpy(raw + sizeof(header) + types, subset->out_strings.bytes, strings);
	*out = raw;
	*out_bytes = sizeof(header) + types + strings;
	return 0;
}

int type_subset_make(const void *raw, size_t raw_bytes, const struct btf *named, void **out,
		     size_t *out_bytes)
{
	struct subset subset = {};
	struct text_set names = TEXT_SET;
	int result = read_btf_header(&subset, raw, raw_bytes)
			     ?: collect_names_of_object_types(named, &names)
			     ?: find_type_starts(&subset)
			     ?: append_bytes(&subset.out_strings, "", 1)
			     ?: add_named_types(&subset, &names);

	for (u32 i = 0; i < subset.taken_count && !result; i++)
		result = copy_type(&subset, subset.taken[i]);
	result = result ?: write_subset(&subset, out, out_bytes);
	free(subset.starts);
	free(subset.places);
	free(subset.taken);
	free(subset.out_types.bytes);
	free(subset.out_strings.bytes);
	text_set_clear(&names);
	return result;
}

static Elf_Data *find_section_of_bpf_object(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		Elf64_Shdr *header = elf64_getshdr(section);
		const char *name = header ? elf_strptr(elf, names, header->sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/* The types in an object's section .BTF; NULL: no such section. */
static struct btf *read_object_types(const void *object, size_t bytes)
{
	struct btf *types = NULL;
	Elf_Data *data;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)object, bytes);
	data = find_section_of_bpf_object(elf, ".BTF");
	if (data)
		types = btf__new(data->d_buf, data->d_size);
	elf_end(elf);
	return types;
}

static void write_types_file(const void *bytes, size_t count, struct kernel_types *types)
{
	struct kernel_types written = {.file = memfd_create("kernel-types", MFD_CLOEXEC)};

	if (written.file < 0)
		return;
	snprintf(written.path, sizeof(written.path), "/proc/self/fd/%d", written.file);
	if (write(written.file, bytes, count) == (ssize_t)count && !access(written.path, R_OK))
		*types = written;
	else
		close(written.file);
}

void kernel_types_make(const void *object, size_t bytes, struct kernel_types *types)
{
	struct kernel_btf_bytes raw;
	struct btf *named;
	size_t subset_bytes;
	void *subset;

	*types = (struct kernel_types){};
	if (kernel_btf_open(&raw))
		return;
	named = read_object_types(object, bytes);
	if (named && !type_subset_make(raw.bytes, raw.count, named, &subset, &subset_bytes)) {
		write_types_file(subset, subset_bytes, types);
		free(subset);
	}
	btf__free(named);
	kernel_btf_close(&raw);
}

const char *kernel_types_path(const struct kernel_types *types)
{
	return types->path[0] ? types->path : NULL;
}

void kernel_types_clear(struct kernel_types *types)
{
	if (types->path[0])
		close(types->file);
	*types = (struct kernel_types){};
}
