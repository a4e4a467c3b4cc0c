/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event's hash is that of its leaf and of the hashes of its two sides. A side's is made once: a
 * recording has few stacks for its many events.
 *
 * Numbers are hashed as 64 bits, little-endian, texts with their NUL, build ids behind their
 * length: no two lists of them are the same bytes.
 */
#include "stack_hash.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include "report/event/stack_end.h"

enum frame_kind { NO_FRAME, BY_BUILD_ID, BY_NAME, BY_HOST, UNKNOWN };

struct side {
	bool is_made;
	struct stack_hash hash;
};

struct stack_hashes {
	const struct trace_reader *reader;
	const struct trace_stack *stacks;
	struct side *sides; /* by stack index */
};

int stack_hashes_create(struct trace_reader *reader, struct stack_hashes **out)
{
	struct stack_hashes *hashes = calloc(1, sizeof(*hashes));
	u32 count;

	if (!hashes)
		return -ENOMEM;
	hashes->reader = reader;
	count = trace_reader_stacks(reader, &hashes->stacks);
	if (!trace_reader_take(reader, (u64)count * sizeof(*hashes->sides)))
		hashes->sides = calloc(count ?: 1, sizeof(*hashes->sides));
	if (!hashes->sides)
		stack_hashes_free(&hashes);
	else
		*out = hashes;
	return hashes ? 0 : -ENOMEM;
}

void stack_hashes_free(struct stack_hashes **hashes)
{
	if (*hashes)
		free((*hashes)->sides);
	free(*hashes);
	*hashes = NULL;
}

/* --- what is hashed --- */

static void put_number(SHA2_CTX *hash, u64 number)
{
	u64 bytes = htole64(number);

	SHA256Update(hash, (const u8 *)&bytes, sizeof(bytes));
}

static void put_text(SHA2_CTX *hash, const char *text)
{
	SHA256Update(hash, (const u8 *)text, strlen(text) + 1);
}

static struct stack_hash take(SHA2_CTX *hash)
{
	u8 digest[SHA256_DIGEST_LENGTH];
	struct stack_hash taken;

	SHA256Final(digest, hash);
	memcpy(taken.byte, digest, sizeof(taken.byte));
	return taken;
}

/* --- frames --- */

static void put_code(SHA2_CTX *hash, const u8 *build_id, u32 bytes, u64 offset)
{
	put_number(hash, BY_BUILD_ID);
	put_number(hash, bytes);
	SHA256Update(hash, build_id, bytes);
	put_number(hash, offset);
}

static void put_of_host(SHA2_CTX *hash, const struct stack_hashes *hashes, const char *object,
			u64 offset)
{
	put_number(hash, BY_HOST);
	put_text(hash, trace_reader_info(hashes->reader)->hostname);
	put_text(hash, object);
	put_number(hash, offset);
}

static u64 start_of(const struct trace_symbol *symbol)
{
	return symbol->mapping ? FRAME_USER(symbol->mapping, symbol->start) : symbol->start;
}

/* False: it has no name. */
static bool put_named(SHA2_CTX *hash, const struct trace_symbol *symbol, u64 frame)
{
	if (!symbol || !*symbol->name)
		return false;
	put_number(hash, BY_NAME);
	put_text(hash, symbol->name);
	put_number(hash, frame - start_of(symbol));
	return true;
}

static void put_kernel_frame(SHA2_CTX *hash, const struct stack_hashes *hashes,
			     const struct trace_symbol *symbol, u64 frame)
{
	const struct trace_module *module = trace_reader_module_of(hashes->reader, frame);

	if (module && module->build_id_bytes)
		put_code(hash, module->build_id, module->build_id_bytes, frame - module->start);
	else if (module)
		put_of_host(hash, hashes, module->name, frame - module->start);
	else if (!put_named(hash, symbol, frame))
		put_of_host(hash, hashes, "", frame);
}

static void put_user_frame(SHA2_CTX *hash, const struct stack_hashes *hashes,
			   const struct trace_symbol *symbol, u64 frame)
{
	const struct trace_mapping *mapping =
		trace_reader_mapping(hashes->reader, FRAME_MAPPING(frame));
	u64 offset = FRAME_OFFSET(frame);

	if (!mapping)
		put_number(hash, UNKNOWN);
	else if (mapping->build_id_bytes)
		put_code(hash, mapping->build_id, mapping->build_id_bytes, offset);
	else if (mapping->kind != MAPPING_ANON)
		put_of_host(hash, hashes, mapping->path, offset);
	else if (!put_named(hash, symbol, frame))
		put_of_host(hash, hashes, mapping->path, mapping->base + offset);
}

static void put_frame(SHA2_CTX *hash, const struct stack_hashes *hashes,
		      const struct trace_symbol *symbol, u64 frame)
{
	if (FRAME_IS_KERNEL(frame))
		put_kernel_frame(hash, hashes, symbol, frame);
	else
		put_user_frame(hash, hashes, symbol, frame);
}

static void put_leaf(SHA2_CTX *hash, const struct stack_hashes *hashes, u64 leaf)
{
	const struct trace_symbol *symbol;

	if (!leaf) {
		put_number(hash, NO_FRAME);
		return;
	}
	symbol = trace_reader_symbol(hashes->reader, leaf, false);
	put_frame(hash, hashes, symbol, symbol ? start_of(symbol) : leaf);
}

/* --- sides --- */

static struct stack_hash hash_stack(const struct stack_hashes *hashes,
				    const struct trace_stack *stack)
{
	SHA2_CTX hash;

	SHA256Init(&hash);
	for (u32 i = 0; i < stack->depth; i++)
		put_frame(&hash, hashes,
			  trace_reader_symbol(hashes->reader, stack->frames[i], true),
			  stack->frames[i]);
	return take(&hash);
}

static void put_side(SHA2_CTX *hash, struct stack_hashes *hashes, u32 stack, u32 reason)
{
	bool is_there = stack != TRACE_NO_STACK;
	struct side *side = is_there ? &hashes->sides[stack] : NULL;

	put_text(hash, stack_end_of(is_there ? &hashes->stacks[stack] : NULL, reason)->name);
	if (!side)
		return;
	if (!side->is_made)
		*side = (struct side){true, hash_stack(hashes, &hashes->stacks[stack])};
	SHA256Update(hash, side->hash.byte, sizeof(side->hash.byte));
}

struct stack_hash stack_hashes_of(struct stack_hashes *hashes, const struct trace_event *event)
{
	SHA2_CTX hash;

	SHA256Init(&hash);
	put_leaf(&hash, hashes, event->leaf);
	put_side(&hash, hashes, event->kernel, event->kernel_reason);
	put_side(&hash, hashes, event->user, event->user_reason);
	return take(&hash);
}
