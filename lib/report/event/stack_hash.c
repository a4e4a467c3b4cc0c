/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of each stack are hashed once, since a recording has few stacks for its many
 * events. */
#include "stack_hash.h"

#include <endian.h>
#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/event/stack_end.h"

/*
 * The objects of a recording are its mappings and modules; their ids are cached. The id of an
 * object that is known by name (FRAME_BY_NAME) is hashed for each frame, since few frames have such
 * objects.
 */

/* A cached hash. */
struct known_hash {
	bool is_made;
	struct stack_hash hash;
};

struct frame_identities {
	struct trace_reader *reader;
	const char *host;
	const struct trace_module *modules, *kernel;
	const struct trace_mapping *mappings;
	u32 module_count, mapping_count;
	struct known_hash *ids; /* ids of the modules, then those of the mappings */
	char **module_paths;	/* paths of the modules: "[ext4]" */
};

static int make_module_paths(struct frame_identities *identities)
{
	u64 count = (u64)identities->module_count + identities->mapping_count;
	u64 bytes = count * sizeof(*identities->ids) +
		    identities->module_count * sizeof(*identities->module_paths);

	if (trace_reader_count_memory(identities->reader, bytes))
		return -ENOMEM;
	identities->ids = calloc(count ?: 1, sizeof(*identities->ids));
	identities->module_paths =
		calloc(identities->module_count ?: 1, sizeof(*identities->module_paths));
	if (!identities->ids || !identities->module_paths)
		return -ENOMEM;
	for (u32 i = 0; i < identities->module_count; i++) {
		if (asprintf(&identities->module_paths[i], "[%s]", identities->modules[i].name) <
		    0) {
			identities->module_paths[i] = NULL;
			return -ENOMEM;
		}
	}
	return 0;
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
	if (make_module_paths(identities))
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

/* --- object and offset of a frame --- */

static bool has_symbol_name(const struct trace_symbol *symbol)
{
	return symbol && *symbol->name;
}

static void locate_kernel_frame(const struct frame_identities *identities,
				struct frame_place *place, u64 frame)
{
	const struct trace_module *module = identities->kernel;
	struct frame_object *object = &place->object;
	u64 base = 0;

	/* Most kernel frames are in the kernel image, which is checked first. */
	if (!module || frame < module->start || frame >= module->end)
		module = trace_reader_module_of(identities->reader, frame);
	object->is_kernel = true;
	object->path = module && strcmp(module->name, "vmlinux") != 0
			       ? identities->module_paths[module - identities->modules]
			       : "[kernel.kallsyms]";
	object->kind = FRAME_BY_HOST;
	if (module) {
		base = module->start;
		place->record = module - identities->modules;
		object->build_id = module->build_id;
		object->build_id_bytes = module->build_id_bytes;
	} else if (has_symbol_name(place->symbol)) {
		base = place->symbol->start;
		object->kind = FRAME_BY_NAME;
		object->name = place->symbol->name;
	}
	if (object->build_id_bytes)
		object->kind = FRAME_BY_BUILD_ID;
	place->offset = frame - base;
	place->start = place->symbol ? place->symbol->start - base : 0;
}

static void locate_generated_code(struct frame_place *place, const struct trace_mapping *mapping,
				  u64 offset)
{
	u64 start = place->symbol ? place->symbol->start : 0;

	if (has_symbol_name(place->symbol)) {
		place->object.kind = FRAME_BY_NAME;
		place->object.name = place->symbol->name;
		place->offset = offset - start;
		return;
	}
	place->object.kind = FRAME_BY_HOST;
	place->offset = mapping->base + offset;
	place->start = place->symbol ? mapping->base + start : 0;
}

static void locate_user_frame(const struct frame_identities *identities, struct frame_place *place,
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
		locate_generated_code(place, mapping, FRAME_OFFSET(frame));
		return;
	}
	object->kind = object->build_id_bytes ? FRAME_BY_BUILD_ID : FRAME_BY_HOST;
	place->offset = FRAME_OFFSET(frame);
	place->start = place->symbol ? place->symbol->start : 0;
}

struct frame_place frame_identities_find_place(const struct frame_identities *identities, u64 frame,
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
		locate_kernel_frame(identities, &place, frame);
	else
		locate_user_frame(identities, &place, frame);
	return place;
}

/* --- ids of objects --- */

static void hash_add_number(SHA2_CTX *hash, u64 number)
{
	u64 bytes = htole64(number);

	SHA256Update(hash, (const u8 *)&bytes, sizeof(bytes));
}

static void hash_add_text(SHA2_CTX *hash, const char *text)
{
	SHA256Update(hash, (const u8 *)text, strlen(text) + 1);
}

void frame_object_id(const struct frame_object *object, const char *host, u8 id[FRAME_OBJECT_BYTES])
{
	u8 digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX hash;

	SHA256Init(&hash);
	hash_add_number(&hash, object->kind);
	switch (object->kind) {
	case FRAME_UNKNOWN:
	case FRAMES_OMITTED:
		break;
	case FRAME_BY_BUILD_ID:
		hash_add_number(&hash, object->build_id_bytes);
		SHA256Update(&hash, object->build_id, object->build_id_bytes);
		break;
	case FRAME_BY_NAME:
		hash_add_text(&hash, object->name);
		break;
	case FRAME_BY_HOST:
		hash_add_text(&hash, host);
		hash_add_text(&hash, object->path);
		break;
	}
	SHA256Final(digest, &hash);
	memcpy(id, digest, FRAME_OBJECT_BYTES);
}

struct frame_identity frame_identities_of_place(struct frame_identities *identities,
						const struct frame_place *place)
{
	struct known_hash made = {}, *id = &made;
	struct frame_identity identity = {.offset = place->offset};

	if (place->record != FRAME_NO_RECORD && place->object.kind != FRAME_BY_NAME)
		id = &identities->ids[place->record];
	if (!id->is_made) {
		frame_object_id(&place->object, identities->host, id->hash.byte);
		id->is_made = true;
	}
	memcpy(identity.object, id->hash.byte, sizeof(identity.object));
	return identity;
}

struct stack_hashes {
	struct frame_identities *identities;
	const struct trace_stack *stacks;
	struct known_hash
		*sides; /* hash of the stack as a kernel part or user part, by stack index */
	struct frame_identity *frames; /* identities of the frames that are being hashed; as many as
					  the deepest stack has */
};

/* --- the hashed bytes --- */

static void hash_add_frame(SHA2_CTX *hash, const struct frame_identity *frame)
{
	SHA256Update(hash, frame->object, sizeof(frame->object));
	hash_add_number(hash, frame->offset);
}

static void hash_add_stack_part(SHA2_CTX *hash, const struct stack_hash_part *side)
{
	SHA256Update(hash, (const u8 *)side->end, strlen(side->end) + 1);
	SHA256Update(hash, side->frames.byte, sizeof(side->frames.byte));
}

static struct stack_hash finish_hash(SHA2_CTX *hash)
{
	u8 digest[SHA256_DIGEST_LENGTH];
	struct stack_hash taken;

	SHA256Final(digest, hash);
	memcpy(taken.byte, digest, sizeof(taken.byte));
	return taken;
}

struct stack_hash stack_hash_frames(const struct frame_identity *frames, u32 depth)
{
	SHA2_CTX hash;

	SHA256Init(&hash);
	for (u32 i = 0; i < depth; i++)
		hash_add_frame(&hash, &frames[i]);
	return finish_hash(&hash);
}

struct stack_hash stack_hash_join(enum stack_leaf leaf, const struct frame_identity *frame,
				  const struct stack_hash_part *kernel,
				  const struct stack_hash_part *user)
{
	SHA2_CTX hash;

	SHA256Init(&hash);
	hash_add_number(&hash, leaf);
	if (leaf != STACK_LEAF_NONE)
		hash_add_frame(&hash, frame);
	hash_add_stack_part(&hash, kernel);
	hash_add_stack_part(&hash, user);
	return finish_hash(&hash);
}

enum stack_leaf stack_leaf_of(const struct trace_event *event)
{
	if (!event->leaf)
		return STACK_LEAF_NONE;
	return FRAME_IS_KERNEL(event->leaf) ? STACK_LEAF_KERNEL : STACK_LEAF_USER;
}

/* --- stacks of a recording --- */

int stack_hashes_create(struct trace_reader *reader, struct stack_hashes **out)
{
	struct stack_hashes *hashes = calloc(1, sizeof(*hashes));
	u32 count, deepest = 0;

	if (!hashes)
		return -ENOMEM;
	count = trace_reader_stacks(reader, &hashes->stacks);
	for (u32 i = 0; i < count; i++)
		if (hashes->stacks[i].depth > deepest)
			deepest = hashes->stacks[i].depth;
	if (!trace_reader_count_memory(reader, (u64)count * sizeof(*hashes->sides) +
						       (u64)deepest * sizeof(*hashes->frames))) {
		hashes->sides = calloc(count ?: 1, sizeof(*hashes->sides));
		hashes->frames = calloc(deepest ?: 1, sizeof(*hashes->frames));
	}
	if (!hashes->sides || !hashes->frames ||
	    frame_identities_create(reader, &hashes->identities))
		stack_hashes_free(&hashes);
	else
		*out = hashes;
	return hashes ? 0 : -ENOMEM;
}

void stack_hashes_free(struct stack_hashes **hashes)
{
	struct stack_hashes *old = *hashes;

	*hashes = NULL;
	if (!old)
		return;
	frame_identities_free(&old->identities);
	free(old->sides);
	free(old->frames);
	free(old);
}

static struct frame_identity find_frame_identity(struct stack_hashes *hashes, u64 frame,
						 enum frame_role role)
{
	const struct frame_place place =
		frame_identities_find_place(hashes->identities, frame, role);

	return frame_identities_of_place(hashes->identities, &place);
}

static struct stack_hash_part hash_stack_part(struct stack_hashes *hashes, u32 stack, u32 reason)
{
	bool has_stack = stack != TRACE_NO_STACK;
	const struct trace_stack *frames = has_stack ? &hashes->stacks[stack] : NULL;
	struct known_hash *side = has_stack ? &hashes->sides[stack] : NULL;
	const char *end = stack_end_of(frames, reason)->name;

	if (!side)
		return (struct stack_hash_part){end, stack_hash_frames(NULL, 0)};
	if (!side->is_made) {
		for (u32 i = 0; i < frames->depth; i++)
			hashes->frames[i] =
				find_frame_identity(hashes, frames->frames[i], FRAME_RETURN);
		*side = (struct known_hash){true, stack_hash_frames(hashes->frames, frames->depth)};
	}
	return (struct stack_hash_part){end, side->hash};
}

struct stack_hash stack_hashes_of_event(struct stack_hashes *hashes,
					const struct trace_event *event)
{
	const struct stack_hash_part kernel =
		hash_stack_part(hashes, event->kernel, event->kernel_reason);
	const struct stack_hash_part user =
		hash_stack_part(hashes, event->user, event->user_reason);
	enum stack_leaf leaf = stack_leaf_of(event);
	struct frame_identity frame = {};

	if (leaf != STACK_LEAF_NONE)
		frame = find_frame_identity(hashes, event->leaf, FRAME_LEAF);
	return stack_hash_join(leaf, &frame, &kernel, &user);
}
