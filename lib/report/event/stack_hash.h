/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash of the whole stack of an event, leaf and both sides, that is the same on every machine, at
 * every boot and in every recording: the first 128 bits of a SHA-256 over the identities of its
 * frames (struct frame_identity), not their addresses. Names of functions may come from an
 * attacker, so collisions must be hard to find.
 *
 * The hash of a side, that is of the kernel stack or the user stack, is the first 128 bits of the
 * SHA-256 over its frames, innermost first: the id of the object and the offset of each frame. The
 * hash of the whole stack covers
 *
 *    the side of the leaf (enum stack_leaf), its object and offset if there is a leaf
 *    the end of the kernel side, hash of its frames
 *    the end of the user side, hash of its frames
 *
 * with numbers as 64 bits, little-endian, and texts with their NUL. The end of a side, or the
 * reason for a missing side (report/event/stack_end.h), is part of the stack; a missing side has no
 * frames. The rows of a store have all these values, so the hash can be computed from the rows.
 */
#ifndef LIB_REPORT_STACK_HASH_H
#define LIB_REPORT_STACK_HASH_H

#include "trace/read/reader.h"

/*
 * The identity of a frame, which is the same on every machine, at every boot and in every
 * recording: an object, and an offset in the object. The kind is the first that applies:
 *
 *   build id   code of a file, by the file's offset; code of the kernel and its modules, by the
 *              distance from the load address, which removes KASLR
 *   name       generated code and BPF programs: the object is the function of that name
 *   host       all other code, by host and path: another machine cannot recognise it
 *   omitted    frames of a deep stack that are left out: the offset is their number
 *   unknown    one identity for all unknown frames
 *
 * A leaf is replaced by the start of its function if a symbol has it: samples of one loop have one
 * identity.
 *
 * The id of an object is the first 128 bits of a SHA-256 over its kind and the build id, the name,
 * or host and path. Numbers are hashed as 64 bits, little-endian, texts with their NUL, build ids
 * after their length: different lists give different bytes. File names and names of generated code
 * may come from an attacker, so collisions must be hard to find.
 */

#define FRAME_OBJECT_BYTES 16

/* The values are part of file formats and stores, so they never change. */
enum frame_identity_kind {
	FRAME_UNKNOWN = 0,
	FRAME_BY_BUILD_ID = 1,
	FRAME_BY_NAME = 2,
	FRAME_BY_HOST = 3,
	FRAMES_OMITTED = 4, /* frames that were omitted: the offset is their number */
};

/* The position of a frame in its stack. */
enum frame_role {
	FRAME_RETURN,	/* a return address: its code is that of the byte before it */
	FRAME_EXECUTED, /* innermost frame of a kernel part or user part without a leaf: the pc at
			   its entry or exit */
	FRAME_LEAF,
};

struct frame_identity {
	u8 object[FRAME_OBJECT_BYTES];
	u64 offset;
};

struct frame_object {
	enum frame_identity_kind kind;
	bool is_kernel; /* the kernel image, a module, or code generated in the kernel */
	u32 build_id_bytes;
	const u8 *build_id;
	const char *path; /* path of the object: "[kernel.kallsyms]", "[MODULE]", a file, "[anon]";
			     "": unknown */
	const char *name; /* FRAME_BY_NAME: the name of the function; else NULL */
};

/* A frame's object and its offset in the object, before the object is hashed. */
struct frame_place {
	struct frame_object object;
	u64 offset;
	/* The function around the frame, with its bounds as offsets in the object; NULL:
	 * unknown. */
	const struct trace_symbol *symbol;
	u64 start;
	u32 record; /* for frame_identities_of_place(): number of the module or mapping, or
		       FRAME_NO_RECORD */
};

#define FRAME_NO_RECORD UINT32_MAX

struct frame_identities;

/* The reader must outlive the identities. -ENOMEM. */
int frame_identities_create(struct trace_reader *reader, struct frame_identities **out);
void frame_identities_free(struct frame_identities **identities);

struct frame_place frame_identities_find_place(const struct frame_identities *identities, u64 frame,
					       enum frame_role role);
struct frame_identity frame_identities_of_place(struct frame_identities *identities,
						const struct frame_place *place);

/* Computes the id of an object without a cache. */
void frame_object_id(const struct frame_object *object, const char *host,
		     u8 id[FRAME_OBJECT_BYTES]);

/* The offset to look up in tables of functions. A return address may be after the end of the
 * calling function, so the byte before it is looked up. */
static inline u64 frame_identity_lookup_offset(u64 offset, enum frame_role role)
{
	return role == FRAME_RETURN && offset ? offset - 1 : offset;
}

struct stack_hash {
	u8 byte[16];
};

/* The values are part of the rows of stores, so they never change. */
enum stack_leaf { STACK_LEAF_NONE = 0, STACK_LEAF_KERNEL = 1, STACK_LEAF_USER = 2 };

struct stack_hash_part {
	const char *end; /* reason for the end: `name` of its struct stack_end */
	struct stack_hash frames;
};

struct stack_hash stack_hash_frames(const struct frame_identity *frames, u32 depth);
/* `frame` is the identity of the leaf; unused with STACK_LEAF_NONE. */
struct stack_hash stack_hash_join(enum stack_leaf leaf, const struct frame_identity *frame,
				  const struct stack_hash_part *kernel,
				  const struct stack_hash_part *user);

enum stack_leaf stack_leaf_of(const struct trace_event *event);

/* The hashes of the stacks of a recording. */
struct stack_hashes;

/* The reader must outlive the hashes. -ENOMEM. */
int stack_hashes_create(struct trace_reader *reader, struct stack_hashes **out);
void stack_hashes_free(struct stack_hashes **hashes);

struct stack_hash stack_hashes_of_event(struct stack_hashes *hashes,
					const struct trace_event *event);

#endif
