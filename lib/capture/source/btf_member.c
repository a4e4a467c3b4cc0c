/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "btf_member.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text_list.h"

/* Values of events are below 2^63, so the highest byte of a kernel address, ff, is left out. */
#define KERNEL_ADDRESS_BYTES 7

/* Returns the type that is left without typedefs and qualifiers. NULL: void. */
static const struct btf_type *resolve_btf_type(const struct btf *btf, u32 id)
{
	int plain = btf__resolve_type(btf, id);

	return plain <= 0 ? NULL : btf__type_by_id(btf, plain);
}

int btf_number_set_size_and_sign(const struct btf *btf, u32 id, struct source_number *out)
{
	const struct btf_type *type = resolve_btf_type(btf, id);
	u32 bytes;

	if (!type || !(btf_is_int(type) || btf_is_any_enum(type) || btf_is_ptr(type)))
		return -EINVAL;
	bytes = btf_is_ptr(type) ? KERNEL_ADDRESS_BYTES : type->size;
	if (!bytes || bytes > sizeof(u64))
		return -EINVAL;
	out->is_address = btf_is_ptr(type);
	out->number.bytes = bytes;
	out->number.is_signed = btf_is_int(type)	? btf_int_encoding(type) & BTF_INT_SIGNED
				: btf_is_any_enum(type) ? btf_kflag(type)
							: false;
	return 0;
}

struct place {
	u32 type;
	u32 bits;    /* offset of the member from the start of the structure, in bits */
	u32 of_bits; /* size of the bit field, in bits; 0: the member is not a bit field */
};

/* The most levels of unnamed structures, whose members count as members of the outer structure. */
#define NESTING_MAX 8

static bool find_struct_member_in_btf(const struct btf *btf, const struct btf_type *structure,
				      const char *name, size_t length, u32 nesting,
				      struct place *out)
{
	const struct btf_member *members = btf_members(structure);

	for (u32 i = 0; i < btf_vlen(structure); i++) {
		const char *found = btf__name_by_offset(btf, members[i].name_off);
		const struct btf_type *inner = resolve_btf_type(btf, members[i].type);
		struct place place = {
			.type = members[i].type,
			.bits = btf_member_bit_offset(structure, i),
			.of_bits = btf_member_bitfield_size(structure, i),
		};

		if (found[0] && strlen(found) == length && !memcmp(found, name, length)) {
			*out = place;
			return true;
		}
		if (!found[0] && inner && btf_is_composite(inner) && nesting < NESTING_MAX &&
		    find_struct_member_in_btf(btf, inner, name, length, nesting + 1, out)) {
			out->bits += place.bits;
			return true;
		}
	}
	return false;
}

static void list_member_names(const struct btf *btf, const struct btf_type *structure, u32 nesting,
			      char *names, size_t bytes)
{
	for (u32 i = 0; i < btf_vlen(structure); i++) {
		const struct btf_member *member = &btf_members(structure)[i];
		const char *name = btf__name_by_offset(btf, member->name_off);
		const struct btf_type *inner = resolve_btf_type(btf, member->type);

		word_list_add_word(names, bytes, name);
		if (!name[0] && inner && btf_is_composite(inner) && nesting < NESTING_MAX)
			list_member_names(btf, inner, nesting + 1, names, bytes);
	}
}

struct follower {
	const struct btf *btf;
	struct source_number *out;
	char *reason;
	size_t reason_bytes;
};

static __attribute__((format(printf, 3, 4))) int set_reason(const struct follower *follower,
							    int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(follower->reason, follower->reason_bytes, format, arguments);
	va_end(arguments);
	return -code;
}

/* Adds the offset of a member of the structure *type to the number; *type becomes the type of the
 * member. */
static int add_member_offset_to_number(const struct follower *follower, const char *name,
				       size_t length, u32 *type)
{
	const struct btf_type *structure = resolve_btf_type(follower->btf, *type);
	struct event_number *number = &follower->out->number;
	struct place place;
	char names[256] = "";

	if (!structure || !btf_is_composite(structure))
		return set_reason(follower, EINVAL, "no structure stands before %.*s", (int)length,
				  name);
	if (!find_struct_member_in_btf(follower->btf, structure, name, length, 0, &place)) {
		list_member_names(follower->btf, structure, 0, names, sizeof(names));
		return set_reason(follower, ENOENT, "%s has no member %.*s; it has %s",
				  btf__name_by_offset(follower->btf, structure->name_off),
				  (int)length, name, names[0] ? names : "none");
	}
	if (place.of_bits || place.bits % 8)
		return set_reason(follower, EOPNOTSUPP, "%.*s is a member of some bits",
				  (int)length, name);
	number->displacement[number->steps - 1] += place.bits / 8;
	*type = place.type;
	return 0;
}

/* Adds a pointer read to the number; *type, a pointer, becomes the type that it points to. */
static int add_pointer_read_to_number(const struct follower *follower, u32 *type)
{
	const struct btf_type *pointer = resolve_btf_type(follower->btf, *type);
	struct event_number *number = &follower->out->number;

	if (!pointer || !btf_is_ptr(pointer))
		return set_reason(follower, EINVAL, "no pointer stands before ->");
	if (number->steps == NUMBER_STEPS_MAX)
		return set_reason(follower, E2BIG, "more than %d pointers", NUMBER_STEPS_MAX);
	number->place = NUMBER_IN_KERNEL_MEMORY;
	number->steps++;
	*type = pointer->type;
	return 0;
}

int btf_member_follow(const struct btf *btf, u32 type, const char *path, struct source_number *out,
		      char *reason, size_t reason_bytes)
{
	struct source_number found = {.number.offset = out->number.offset};
	const struct follower follower = {btf, &found, reason, reason_bytes};
	int err = 0;

	while (*path && !err) {
		size_t length;

		if (!strncmp(path, "->", 2)) {
			err = add_pointer_read_to_number(&follower, &type);
			path += 2;
		} else if (*path == '.' && found.number.steps) {
			path++;
		} else {
			return set_reason(&follower, EINVAL, "-> or . is expected at %s", path);
		}
		length = strcspn(path, "-.");
		err = err ?: add_member_offset_to_number(&follower, path, length, &type);
		path += length;
	}
	if (!err && btf_number_set_size_and_sign(btf, type, &found))
		err = set_reason(&follower, EINVAL, "it is no number");
	if (!err)
		*out = found;
	return err;
}
