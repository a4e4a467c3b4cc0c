/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects of a recording are its mappings and modules, whose ids are cached. Objects by name are
 * hashed each time, since few frames have them.
 */
#include "report/event/frame_identity.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sha2.h>

struct object_id {
	bool is_made;
	u8 id[FRAME_OBJECT_BYTES];
};

struct frame_identities {
	struct trace_reader *reader;
	const char *host;
	const struct trace_module *modules, *kernel;
	const struct trace_mapping *mappings;
	u32 module_count, mapping_count;
	struct object_id *ids; /* of the modules, followed by those of the mappings */
	char **module_paths;   /* "[ext4]" */
};

static int name_modules(struct frame_identities *identities)
{
	for (u32 i = 0; i < identities->module_count; i++) {
		if (asprintf(&identities->module_paths[i], "[%s]", identities->modules[i].name) <
		    0) {
			identities->module_paths[i] = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

static int make_room(struct frame_identities *identities)
{
	u64 count = (u64)identities->module_count + identities->mapping_count;
	u64 bytes = count * sizeof(*identities->ids) +
		    identities->module_count * sizeof(*identities->module_paths);

	if (trace_reader_take(identities->reader, bytes))
		return -ENOMEM;
	identities->ids = calloc(count ?: 1, sizeof(*identities->ids));
	identities->module_paths =
		calloc(identities->module_count ?: 1, sizeof(*identities->module_paths));
	return identities->ids && identities->module_paths ? name_modules(identities) : -ENOMEM;
}

int frame_identities_create(struct trace_reader *reader, struct frame_identities **out)
{
	struct frame_identities *identities = calloc(1, sizeof(*identities));

	if (!identities)
		return -ENOMEM;
	identities->reader = reader;
	identities->host = trace_reader_info(reader)->hostname;
	identities->module_count = trace_reader_modules(reader, &identities->modules);
	identities->mapping_count = trace_reader_mappings(reader, &identities->mappings);
	identities->kernel = trace_reader_kernel(reader);
	if (make_room(identities))
		frame_identities_free(&identities);
	else
		*out = identities;
	return identities ? 0 : -ENOMEM;
}

void frame_identities_free(struct frame_identities **identities)
{
	struct frame_identities *old = *identities;

	*identities = NULL;
	if (!old)
		return;
	for (u32 i = 0; old->module_paths && i < old->module_count; i++)
		free(old->module_paths[i]);
	free(old->module_paths);
	free(old->ids);
	free(old);
}

/* --- place of a frame --- */

/* Checks the kernel image first, as most kernel frames are in it. */
static const struct trace_module *module_of(const struct frame_identities *identities, u64 frame)
{
	const struct trace_module *kernel = identities->kernel;

	if (kernel && frame >= kernel->start && frame < kernel->end)
		return kernel;
	return trace_reader_module_of(identities->reader, frame);
}

static const char *kernel_path(const struct frame_identities *identities,
			       const struct trace_module *module)
{
	if (!module || !strcmp(module->name, "vmlinux"))
		return "[kernel.kallsyms]";
	return identities->module_paths[module - identities->modules];
}

static bool has_name(const struct trace_symbol *symbol)
{
	return symbol && *symbol->name;
}

static void place_kernel(const struct frame_identities *identities, struct frame_place *place,
			 u64 frame)
{
	const struct trace_module *module = module_of(identities, frame);
	struct frame_object *object = &place->object;
	u64 base = 0;

	object->is_kernel = true;
	object->path = kernel_path(identities, module);
	object->kind = FRAME_BY_HOST;
	if (module) {
		base = module->start;
		place->record = module - identities->modules;
		object->build_id = module->build_id;
		object->build_id_bytes = module->build_id_bytes;
	} else if (has_name(place->symbol)) {
		base = place->symbol->start;
		object->kind = FRAME_BY_NAME;
		object->name = place->symbol->name;
	}
	if (object->build_id_bytes)
		object->kind = FRAME_BY_BUILD_ID;
	place->offset = frame - base;
	place->start = place->symbol ? place->symbol->start - base : 0;
}

static void place_generated(struct frame_place *place, const struct trace_mapping *mapping,
			    u64 offset)
{
	u64 start = place->symbol ? place->symbol->start : 0;

	if (has_name(place->symbol)) {
		place->object.kind = FRAME_BY_NAME;
		place->object.name = place->symbol->name;
		place->offset = offset - start;
		return;
	}
	place->object.kind = FRAME_BY_HOST;
	place->offset = mapping->base + offset;
	place->start = place->symbol ? mapping->base + start : 0;
}

static void place_user(const struct frame_identities *identities, struct frame_place *place,
		       u64 frame)
{
	const struct trace_mapping *mapping =
		trace_reader_mapping(identities->reader, FRAME_MAPPING(frame));
	struct frame_object *object = &place->object;

	if (FRAME_IS_OMITTED(frame)) {
		object->kind = FRAMES_OMITTED;
		place->offset = FRAME_OFFSET(frame);
	}
	if (!mapping)
		return;
	place->record = identities->module_count + (mapping - identities->mappings);
	object->path = mapping->path;
	object->build_id = mapping->build_id;
	object->build_id_bytes = mapping->build_id_bytes;
	if (!object->build_id_bytes && mapping->kind == MAPPING_ANON) {
		place_generated(place, mapping, FRAME_OFFSET(frame));
		return;
	}
	object->kind = object->build_id_bytes ? FRAME_BY_BUILD_ID : FRAME_BY_HOST;
	place->offset = FRAME_OFFSET(frame);
	place->start = place->symbol ? place->symbol->start : 0;
}

struct frame_place frame_identities_place(const struct frame_identities *identities, u64 frame,
					  enum frame_role role)
{
	struct frame_place place = {
		.object = {.kind = FRAME_UNKNOWN, .path = ""},
		.record = FRAME_NO_RECORD,
		.symbol = trace_reader_symbol(identities->reader, frame, role == FRAME_RETURN),
	};

	if (role == FRAME_LEAF && place.symbol)
		frame = place.symbol->mapping
				? FRAME_USER(place.symbol->mapping, place.symbol->start)
				: place.symbol->start;
	if (FRAME_IS_KERNEL(frame))
		place_kernel(identities, &place, frame);
	else
		place_user(identities, &place, frame);
	return place;
}

/* --- ids of objects --- */

static void put_number(SHA2_CTX *hash, u64 number)
{
	u64 bytes = htole64(number);

	SHA256Update(hash, (const u8 *)&bytes, sizeof(bytes));
}

static void put_text(SHA2_CTX *hash, const char *text)
{
	SHA256Update(hash, (const u8 *)text, strlen(text) + 1);
}

void frame_object_id(const struct frame_object *object, const char *host, u8 id[FRAME_OBJECT_BYTES])
{
	u8 digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX hash;

	SHA256Init(&hash);
	put_number(&hash, object->kind);
	switch (object->kind) {
	case FRAME_UNKNOWN:
	case FRAMES_OMITTED:
		break;
	case FRAME_BY_BUILD_ID:
		put_number(&hash, object->build_id_bytes);
		SHA256Update(&hash, object->build_id, object->build_id_bytes);
		break;
	case FRAME_BY_NAME:
		put_text(&hash, object->name);
		break;
	case FRAME_BY_HOST:
		put_text(&hash, host);
		put_text(&hash, object->path);
		break;
	}
	SHA256Final(digest, &hash);
	memcpy(id, digest, FRAME_OBJECT_BYTES);
}

static bool is_kept(const struct frame_place *place)
{
	return place->record != FRAME_NO_RECORD && place->object.kind != FRAME_BY_NAME;
}

struct frame_identity frame_identities_of(struct frame_identities *identities,
					  const struct frame_place *place)
{
	struct object_id made, *kept = is_kept(place) ? &identities->ids[place->record] : &made;
	struct frame_identity identity = {.offset = place->offset};

	if (kept == &made || !kept->is_made) {
		frame_object_id(&place->object, identities->host, kept->id);
		kept->is_made = true;
	}
	memcpy(identity.object, kept->id, sizeof(identity.object));
	return identity;
}
