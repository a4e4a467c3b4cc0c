/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a frame is on every machine, at every boot and in every recording: an object, and an offset
 * in it. Whichever holds first:
 *
 *   build id   code of a file, by the file's offset; of the kernel and its modules, by the distance
 *              from where they were loaded, so that KASLR drops out
 *   name       generated code, BPF programs too: the object is the function of that name
 *   host       all other code, by host and path: what it is another machine cannot know
 *   omitted    frames of a deep stack that are left out: the offset is their number
 *   unknown    nothing is known of it: one place for all such frames
 *
 * A leaf is the start of its function, where a symbol has it: samples of one loop are one place.
 *
 * The id of an object is the first 128 bits of a SHA-256 over its kind and the build id, the name,
 * or host and path. Numbers are hashed as 64 bits, little-endian, texts with their NUL, build ids
 * behind their length: no two lists of them are the same bytes. Others choose file names and what
 * generated code is called, so it has to be hard to find two objects with one id.
 */
#ifndef LIB_REPORT_FRAME_IDENTITY_H
#define LIB_REPORT_FRAME_IDENTITY_H

#include "trace/read/reader.h"

#define FRAME_OBJECT_BYTES 16

/* As files and stores have them: they never change. */
enum frame_identity_kind {
	FRAME_UNKNOWN = 0,
	FRAME_BY_BUILD_ID = 1,
	FRAME_BY_NAME = 2,
	FRAME_BY_HOST = 3,
	FRAMES_OMITTED = 4, /* the offset is their number */
};

/* How a frame came to be on its stack. */
enum frame_role {
	FRAME_RETURN,	/* a return address: the code is that of the byte before it */
	FRAME_EXECUTED, /* the innermost of a side without a leaf: where that was entered or left */
	FRAME_LEAF,
};

struct frame_identity {
	u8 object[FRAME_OBJECT_BYTES];
	u64 offset;
};

struct frame_object {
	enum frame_identity_kind kind;
	bool is_kernel; /* the kernel's image, a module, code that is generated there */
	u32 build_id_bytes;
	const u8 *build_id;
	const char *path; /* "[kernel.kallsyms]", "[MODULE]", a file, "[anon]"; "" unknown */
	const char *name; /* of FRAME_BY_NAME; else NULL */
};

/* What a frame of this recording is. */
struct frame_place {
	struct frame_object object;
	u64 offset;
	/* The function around it, its bounds too as offsets in the object; NULL: none is known. */
	const struct trace_symbol *symbol;
	u64 start;
	u32 record; /* which module or mapping, for frame_identities_of() */
};

#define FRAME_NO_RECORD UINT32_MAX

struct frame_identities;

/* The reader must outlive them. -ENOMEM. */
int frame_identities_create(struct trace_reader *reader, struct frame_identities **out);
void frame_identities_free(struct frame_identities **identities);

struct frame_place frame_identities_place(const struct frame_identities *identities, u64 frame,
					  enum frame_role role);
struct frame_identity frame_identities_of(struct frame_identities *identities,
					  const struct frame_place *place);

/* Without anything that remembers: what `frame_identities_of` computes. */
void frame_object_id(const struct frame_object *object, const char *host,
		     u8 id[FRAME_OBJECT_BYTES]);

/* The offset by which tables of functions know the code of a frame: a return address may already
 * lie behind the end of its function. */
static inline u64 frame_identity_looked_up(u64 offset, enum frame_role role)
{
	return role == FRAME_RETURN && offset ? offset - 1 : offset;
}

#endif
