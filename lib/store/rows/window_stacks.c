/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each frame is looked up once in a window, and each side (the kernel or user part of a stack) is
 * hashed once.
 */
#include "store/rows/window_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"
#include "report/event/stack_end.h"
#include "store/wire/row_binary.h"

static void clear_stack_cache(struct stack_memo *memo)
{
	hash_index_clear(&memo->side_index);
	hash_index_clear(&memo->stack_index);
	memo->side_count = memo->stack_count = memo->frame_count = 0;
	if (memo->mappings)
		memset(memo->mappings, 0, memo->mapping_room * sizeof(*memo->mappings));
}

void stack_memo_free(struct stack_memo *memo)
{
	hash_index_free(&memo->side_index);
	hash_index_free(&memo->stack_index);
	free(memo->sides);
	free(memo->stacks);
	free(memo->frames);
	free(memo->mappings);
	*memo = (struct stack_memo){};
}

/* --- meaning of mapping numbers --- */

static u64 add_bytes_to_hash(u64 hash, const void *bytes, size_t count)
{
	const u8 *at = bytes;

	for (size_t i = 0; i < count; i++)
		hash = hash_word(hash, at[i]);
	return hash_word(hash, count);
}

static u64 hash_modules(const struct trace_reader *reader)
{
	const struct trace_module *modules;
	u32 count = trace_reader_modules(reader, &modules);
	u64 hash = 1;

	for (u32 i = 0; i < count; i++) {
		hash = add_bytes_to_hash(hash, modules[i].name, strlen(modules[i].name));
		hash = add_bytes_to_hash(hash, modules[i].build_id, modules[i].build_id_bytes);
		hash = hash_word(hash_word(hash, modules[i].start), modules[i].end);
	}
	return hash;
}

/*
 * Records what each mapping number means. False if a number means another mapping than before. If a
 * build id became known during a window, the window has two records with one mapping number: the
 * last record applies.
 */
static bool record_hash_of_each_mapping(struct stack_memo *memo, const struct trace_reader *reader)
{
	const struct trace_mapping *mappings;
	u32 count = trace_reader_mappings(reader, &mappings);
	bool same = true;

	for (u32 i = 0; i < count; i++) {
		u32 number = mappings[i].number;
		u64 *known = &memo->mappings[number];
		const struct trace_mapping *mapping = trace_reader_mapping(reader, number);
		u64 now = add_bytes_to_hash(mapping->kind, mapping->build_id,
					    mapping->build_id_bytes);

		now = add_bytes_to_hash(now, mapping->path, strlen(mapping->path)) |
		      1; /* the lowest bit makes the hash differ from 0 */
		same &= !*known || *known == now;
		*known = now;
	}
	return same;
}

int stack_memo_prepare_for_window(struct stack_memo *memo, struct trace_reader *reader)
{
	const struct trace_mapping *mappings;
	u32 count = trace_reader_mappings(reader, &mappings), highest = 0;
	u64 modules = hash_modules(reader);
	u64 bytes =
		(u64)memo->side_count * (sizeof(struct memo_part) + 4 * sizeof(struct hash_slot)) +
		(u64)memo->stack_count *
			(sizeof(struct memo_stack) + 4 * sizeof(struct hash_slot)) +
		(u64)memo->frame_count * sizeof(*memo->frames);

	for (u32 i = 0; i < count; i++)
		highest = mappings[i].number > highest ? mappings[i].number : highest;
	if (array_make_zeroed(memo->mappings, highest + 1UL, memo->mapping_room))
		return -ENOMEM;
	if (modules != memo->modules || bytes > memo->most)
		clear_stack_cache(memo);
	memo->modules = modules;
	if (record_hash_of_each_mapping(memo, reader))
		return 0;
	clear_stack_cache(memo);
	record_hash_of_each_mapping(memo, reader);
	return 0;
}

/* --- kernel parts and user parts in the cache --- */

struct side_key {
	const struct stack_memo *memo;
	const struct trace_stack *stack;
};

static bool has_part_frames(const void *sides, u32 index, const void *arg)
{
	const struct memo_part *side = &((const struct memo_part *)sides)[index];
	const struct side_key *key = arg;

	return side->depth == key->stack->depth &&
	       !memcmp(key->memo->frames + side->first, key->stack->frames,
		       side->depth * sizeof(*key->memo->frames));
}

static u32 hash_part_frames(const struct trace_stack *stack)
{
	return hash_end(
		hash_words(stack->depth, stack->frames, stack->depth * sizeof(*stack->frames)));
}

u32 stack_memo_find_part(const struct stack_memo *memo, const struct trace_stack *stack)
{
	const struct side_key key = {memo, stack};

	return hash_index_find(&memo->side_index, hash_part_frames(stack), has_part_frames,
			       memo->sides, &key);
}

u32 stack_memo_add_part(struct stack_memo *memo, const struct trace_stack *stack,
			const struct stack_hash *hash)
{
	u32 depth = stack->depth;

	if (array_make_room(memo->sides, memo->side_count, memo->side_room) ||
	    array_make_rooms(memo->frames, (u64)memo->frame_count + depth, memo->frame_room) ||
	    hash_index_add(&memo->side_index, hash_part_frames(stack), memo->side_count))
		return STACK_MEMO_NONE;
	if (depth)
		memcpy(memo->frames + memo->frame_count, stack->frames,
		       depth * sizeof(*memo->frames));
	memo->sides[memo->side_count] = (struct memo_part){memo->frame_count, depth, *hash};
	memo->frame_count += depth;
	return memo->side_count++;
}

/* --- whole stacks in the cache --- */

static u32 hash_key_bytes(const void *key, size_t bytes)
{
	return hash_end(hash_words(0, key, bytes));
}

static bool has_stack_key(const void *stacks, u32 index, const void *key)
{
	return !memcmp(&((const struct memo_stack *)stacks)[index].key, key,
		       sizeof(struct memo_key));
}

struct memo_stack *stack_memo_find_stack(struct stack_memo *memo, const struct memo_key *key)
{
	u32 found = hash_index_find(&memo->stack_index, hash_key_bytes(key, sizeof(*key)),
				    has_stack_key, memo->stacks, key);

	return found == HASH_INDEX_NONE ? NULL : &memo->stacks[found];
}

void stack_memo_add_stack(struct stack_memo *memo, const struct memo_stack *stack)
{
	if (array_make_room(memo->stacks, memo->stack_count, memo->stack_room) ||
	    hash_index_add(&memo->stack_index, hash_key_bytes(&stack->key, sizeof(stack->key)),
			   memo->stack_count))
		return;
	memo->stacks[memo->stack_count++] = *stack;
}

/* --- keys that were sent --- */

static bool has_sent_key(const void *keys, u32 index, const void *key)
{
	return !memcmp(&((const struct sent_key *)keys)[index], key, sizeof(struct sent_key));
}

bool sent_cache_has(const struct sent_cache *memory, const struct sent_key *key)
{
	return hash_index_find(&memory->index, hash_key_bytes(key, sizeof(*key)), has_sent_key,
			       memory->keys, key) != HASH_INDEX_NONE;
}

int sent_cache_add(struct sent_cache *memory, const struct sent_key *key)
{
	int err;

	if (memory->count == memory->most)
		sent_cache_clear(memory);
	err = array_make_room(memory->keys, memory->count, memory->room);
	err = err
		      ?: hash_index_add(&memory->index, hash_key_bytes(key, sizeof(*key)),
					memory->count);
	if (!err)
		memory->keys[memory->count++] = *key;
	return err;
}

void sent_cache_clear(struct sent_cache *memory)
{
	hash_index_clear(&memory->index);
	memory->count = 0;
	memory->times++;
}

void sent_cache_free(struct sent_cache *memory)
{
	hash_index_free(&memory->index);
	free(memory->keys);
	*memory = (struct sent_cache){};
}

/* --- the stacks of a window --- */

enum frame_rank { RANK_NO_NAME = 0, RANK_SYMBOL_TABLE = 1 };

/* A frame of the window; its key is its number in the recording and its enum frame_role. */
struct located_frame {
	struct intern_key key;
	bool is_made;
	bool is_sent;	/* the rows of the frame and its object were sent */
	bool is_stable; /* the frame's number means the same code in each window */
	struct frame_identity identity;
};

/* A stack of the recording, which is the kernel part or the user part of events' stacks: the number
 * and the hash of its frames. */
struct side {
	bool is_made;
	u32 number; /* number of the kernel part or user part in the cache of stack hashes */
	struct stack_hash frames;
};

struct window_stacks {
	struct stack_rows rows;
	struct trace_reader *reader;
	struct frame_identities *identities;
	const struct trace_stack *stacks;
	struct side *sides; /* by stack index: each stack is the kernel side or the user side of
			       events */
	struct intern frames;
	struct frame_identity
		*hashed; /* frames of the kernel part or user part that is being hashed */
	u32 hashed_room;
	struct stack_hash no_frames;
	bool by_pointers; /* frame pointers alone gave the user stacks: why they end is unknown */
};

int window_stacks_create(struct trace_reader *reader, const struct stack_rows *rows,
			 struct window_stacks **out)
{
	struct window_stacks *stacks = calloc(1, sizeof(*stacks));
	const struct trace_ledger *ledger = trace_reader_ledger(reader);
	u32 count;

	if (!stacks)
		return -ENOMEM;
	stacks->rows = *rows;
	stacks->reader = reader;
	stacks->by_pointers = ledger && ledger->user_stops[STOP_NONE];
	stacks->frames = INTERN(struct located_frame);
	stacks->no_frames = stack_hash_frames(NULL, 0);
	count = trace_reader_stacks(reader, &stacks->stacks);
	stacks->sides = calloc(count ?: 1, sizeof(*stacks->sides));
	if (!stacks->sides || stack_memo_prepare_for_window(rows->memo, reader) ||
	    frame_identities_create(reader, &stacks->identities))
		window_stacks_free(&stacks);
	else
		*out = stacks;
	return stacks ? 0 : -ENOMEM;
}

void window_stacks_free(struct window_stacks **stacks)
{
	struct window_stacks *old = *stacks;

	*stacks = NULL;
	if (!old)
		return;
	frame_identities_free(&old->identities);
	intern_clear(&old->frames);
	free(old->sides);
	free(old->hashed);
	free(old);
}

/* --- hashes of kernel parts, user parts and whole stacks --- */

/* False for generated code, which may be replaced before the next window. */
static bool is_frame_stable(const struct window_stacks *stacks, const struct frame_place *place,
			    u64 frame)
{
	const struct trace_mapping *mapping;

	if (place->object.kind == FRAME_BY_NAME)
		return false;
	if (place->object.is_kernel)
		return place->record != FRAME_NO_RECORD;
	mapping = trace_reader_mapping(stacks->reader, FRAME_MAPPING(frame));
	return mapping ? mapping->kind != MAPPING_ANON : FRAME_MAPPING(frame) == MAPPING_UNKNOWN;
}

/*
 * A frame at the current instruction is identified like a return address, because sides are hashed
 * without their leaf.
 */
static enum frame_role frame_role_for_identity(enum frame_role role)
{
	return role == FRAME_LEAF ? FRAME_LEAF : FRAME_RETURN;
}

static struct located_frame *find_or_add_frame(struct window_stacks *stacks, u64 frame,
					       enum frame_role role)
{
	const struct intern_key key = {.word = {frame, role}};
	struct located_frame *placed = intern_find_or_add_entry(&stacks->frames, &key);
	struct frame_place place;

	if (!placed || placed->is_made)
		return placed;
	place = frame_identities_find_place(stacks->identities, frame,
					    frame_role_for_identity(role));
	placed->identity = frame_identities_of_place(stacks->identities, &place);
	placed->is_stable = is_frame_stable(stacks, &place, frame);
	placed->is_made = true;
	return placed;
}

static int hash_frames_of_part(struct window_stacks *stacks, const struct trace_stack *stack,
			       struct side *side)
{
	bool is_stable = true;

	if (array_make_rooms(stacks->hashed, stack->depth, stacks->hashed_room))
		return -ENOMEM;
	for (u32 i = 0; i < stack->depth; i++) {
		const struct located_frame *placed =
			find_or_add_frame(stacks, stack->frames[i], FRAME_RETURN);

		if (!placed)
			return -ENOMEM;
		stacks->hashed[i] = placed->identity;
		is_stable &= placed->is_stable;
	}
	side->frames = stack_hash_frames(stacks->hashed, stack->depth);
	if (is_stable)
		side->number = stack_memo_add_part(stacks->rows.memo, stack, &side->frames);
	return 0;
}

/* The kernel or user part of an event's stack: why it ends, and its frames. */
struct stack_part {
	const struct trace_stack *stack; /* frames of the part; NULL: the part has no frames */
	u32 number; /* number of the kernel part or user part in the cache of stack hashes */
	struct stack_hash_part hashed;
};

static int find_or_hash_stack_part(struct window_stacks *stacks, u32 index, u32 reason,
				   struct stack_part *part)
{
	struct side *side = index == TRACE_NO_STACK ? NULL : &stacks->sides[index];
	const struct trace_stack *stack = side ? &stacks->stacks[index] : NULL;
	const struct stack_end *end = stack_end_of(stack, reason);

	if (side && !side->is_made) {
		side->number = stack_memo_find_part(stacks->rows.memo, stack);
		if (side->number != STACK_MEMO_NONE)
			side->frames = stacks->rows.memo->sides[side->number].hash;
		else if (hash_frames_of_part(stacks, stack, side))
			return -ENOMEM;
		side->is_made = true;
	}
	if (stacks->by_pointers && stack && stack->flags & STACK_USER &&
	    end == stack_end_of_stop(STOP_ROOT))
		end = stack_end_of_stop(STOP_NONE);
	part->stack = stack;
	part->number = side ? side->number : STACK_MEMO_NONE;
	part->hashed.end = end->name;
	part->hashed.frames = side ? side->frames : stacks->no_frames;
	return 0;
}

/* --- rows of stacks, frames and objects --- */

static u64 part_frame_count(const struct stack_part *part)
{
	return part->stack ? part->stack->depth : 0;
}

/* Adds the key to the cache of sent keys; *is_new is true if the key was not in the cache. */
static int sent_cache_add_if_new(struct sent_cache *sent, const struct sent_key *key, bool *is_new)
{
	*is_new = !sent_cache_has(sent, key);
	return *is_new ? sent_cache_add(sent, key) : 0;
}

static struct sent_key make_sent_key(const u8 id[16], u64 kind)
{
	struct sent_key key = {.word = {0, 0, kind}};

	memcpy(key.word, id, 16);
	return key;
}

#define KEY_STACK 0ULL
#define KEY_OBJECT UINT64_MAX

static void append_object_row(struct window_stacks *stacks, const u8 *id,
			      const struct frame_object *object)
{
	struct byte_buffer *rows = &stacks->rows.batch->rows[STORE_OBJECTS];
	char build_id[2 * TRACE_BUILD_ID_MAX + 1] = "";

	for (u32 i = 0; object->kind == FRAME_BY_BUILD_ID && i < object->build_id_bytes; i++)
		sprintf(build_id + 2 * i, "%02x", object->build_id[i]);
	row_put_u16(rows, stacks->rows.day);
	row_put_bytes(rows, id, FRAME_OBJECT_BYTES);
	row_put_u8(rows, object->kind);
	row_put_text(rows, build_id);
	row_put_text(rows, object->path);
	row_put_u8(rows, object->is_kernel);
	stacks->rows.batch->row_count[STORE_OBJECTS]++;
}

static bool has_symbol_name(const struct frame_place *place)
{
	return place->symbol && *place->symbol->name;
}

static void append_frame_row(struct window_stacks *stacks, const struct frame_identity *identity,
			     u64 looked_up, const struct frame_place *place)
{
	struct byte_buffer *rows = &stacks->rows.batch->rows[STORE_FRAMES];
	bool named = has_symbol_name(place);

	row_put_u16(rows, stacks->rows.day);
	row_put_bytes(rows, identity->object, sizeof(identity->object));
	row_put_u64(rows, looked_up);
	row_put_u64(rows, place->symbol ? place->start : 0);
	row_put_u64(rows, place->symbol ? place->symbol->size : 0);
	row_put_count(rows, named);
	if (named)
		row_put_text(rows, place->symbol->name);
	row_put_count(rows, 0); /* number of file names of the frame, all unknown */
	row_put_count(rows, 0); /* number of line numbers of the frame, all unknown */
	row_put_u8(rows, named ? RANK_SYMBOL_TABLE : RANK_NO_NAME);
	stacks->rows.batch->row_count[STORE_FRAMES]++;
}

/*
 * Appends the rows of a frame and its object. A frame that was sent without its name is sent again
 * when the name is known.
 */
static int append_unsent_frame_rows(struct window_stacks *stacks,
				    const struct located_frame *placed)
{
	enum frame_role role = placed->key.word[1];
	/* true: the identity of a frame in the store depends on its place (generated code), so the
	 * rows describe the place of which the identity was made, not that of the role */
	bool is_identity_place = role == FRAME_EXECUTED && !placed->is_stable;
	const struct frame_place place = frame_identities_find_place(
		stacks->identities, placed->key.word[0],
		is_identity_place ? frame_role_for_identity(role) : role);
	u64 looked_up = frame_identity_lookup_offset(placed->identity.offset, role);
	const struct sent_key object = make_sent_key(placed->identity.object, KEY_OBJECT);
	const struct sent_key frame =
		make_sent_key(placed->identity.object, looked_up << 1 | has_symbol_name(&place));
	bool is_new;

	if (place.object.kind == FRAME_UNKNOWN)
		return 0;
	if (sent_cache_add_if_new(stacks->rows.sent, &object, &is_new))
		return -ENOMEM;
	if (is_new)
		append_object_row(stacks, placed->identity.object, &place.object);
	if (sent_cache_add_if_new(stacks->rows.sent, &frame, &is_new))
		return -ENOMEM;
	if (is_new)
		append_frame_row(stacks, &placed->identity, looked_up, &place);
	return 0;
}

static int append_frame_rows_once(struct window_stacks *stacks, u64 number, enum frame_role role)
{
	struct located_frame *placed = find_or_add_frame(stacks, number, role);
	int err;

	if (!placed || placed->is_sent)
		return placed ? 0 : -ENOMEM;
	err = append_unsent_frame_rows(stacks, placed);
	placed->is_sent = !err;
	return err;
}

static int append_frame_rows_of_part(struct window_stacks *stacks, u64 leaf,
				     const struct stack_part *part)
{
	int err = leaf ? append_frame_rows_once(stacks, leaf, FRAME_LEAF) : 0;

	for (u64 i = 0; i < part_frame_count(part) && !err; i++)
		err = append_frame_rows_once(stacks, part->stack->frames[i],
					     i || leaf ? FRAME_RETURN : FRAME_EXECUTED);
	return err;
}

/* Appends either the offset or the object of each frame of a kernel part or user part, leaf
 * included. */
static void append_frame_fields(struct window_stacks *stacks, u64 leaf,
				const struct stack_part *part, bool offsets)
{
	struct byte_buffer *rows = &stacks->rows.batch->rows[STORE_STACKS];
	u64 depth = part_frame_count(part) + (leaf != 0);

	for (u64 i = 0; i < depth; i++) {
		bool is_leaf = leaf && i == 0;
		u64 frame = is_leaf ? leaf : part->stack->frames[i - (leaf != 0)];
		const struct located_frame *placed =
			find_or_add_frame(stacks, frame, is_leaf ? FRAME_LEAF : FRAME_RETURN);

		if (!placed)
			rows->failed = true;
		else if (offsets)
			row_put_u64(rows, placed->identity.offset);
		else
			row_put_bytes(rows, placed->identity.object, FRAME_OBJECT_BYTES);
	}
}

/* An event's stack with its kernel and user parts. */
struct stack_parts {
	enum stack_leaf leaf;
	u64 kernel_leaf, user_leaf; /* the leaf, as member of the part that it belongs to; 0: the
				       part has no leaf */
	struct stack_part kernel, user;
};

static int append_stack_row(struct window_stacks *stacks, const struct stack_parts *parts,
			    const struct stack_hash *hash)
{
	struct byte_buffer *rows = &stacks->rows.batch->rows[STORE_STACKS];
	u64 depth = part_frame_count(&parts->kernel) + part_frame_count(&parts->user) +
		    (parts->leaf != STACK_LEAF_NONE);

	row_put_u16(rows, stacks->rows.day);
	row_put_bytes(rows, hash->byte, sizeof(hash->byte));
	row_put_u16(rows, part_frame_count(&parts->kernel) + (parts->leaf == STACK_LEAF_KERNEL));
	row_put_text(rows, parts->kernel.hashed.end);
	row_put_text(rows, parts->user.hashed.end);
	row_put_u8(rows, parts->leaf);
	row_put_count(rows, depth);
	append_frame_fields(stacks, parts->kernel_leaf, &parts->kernel, false);
	append_frame_fields(stacks, parts->user_leaf, &parts->user, false);
	row_put_count(rows, depth);
	append_frame_fields(stacks, parts->kernel_leaf, &parts->kernel, true);
	append_frame_fields(stacks, parts->user_leaf, &parts->user, true);
	stacks->rows.batch->row_count[STORE_STACKS]++;
	return rows->failed ? -ENOMEM : 0;
}

/*
 * True if the stack may be cached with this part. A part with frames needs a number, which means
 * that its side is cached.
 */
static bool is_stack_part_cacheable(const struct stack_part *part)
{
	return !part->stack || part->number != STACK_MEMO_NONE;
}

/*
 * The mark of a stack that was sent. When the cache of sent keys is cleared, all marks become
 * invalid.
 */
static u64 mark_of_stacks_sent_now(const struct window_stacks *stacks)
{
	return stacks->rows.sent->times + 1;
}

int window_stacks_add(struct window_stacks *stacks, const struct trace_event *event,
		      struct stack_hash *hash)
{
	struct memo_stack made = {}, *known = NULL, *stack = &made;
	struct stack_parts parts = {.leaf = stack_leaf_of(event)};
	const struct located_frame *leaf;
	struct sent_key sent;
	bool is_kept, is_new = false;
	int err =
		find_or_hash_stack_part(stacks, event->kernel, event->kernel_reason, &parts.kernel)
			?: find_or_hash_stack_part(stacks, event->user, event->user_reason,
						   &parts.user);

	if (err)
		return err;
	if (parts.leaf != STACK_LEAF_NONE) {
		leaf = find_or_add_frame(stacks, event->leaf, FRAME_LEAF);
		if (!leaf)
			return -ENOMEM;
		made.key.leaf = leaf->identity;
		parts.kernel_leaf = parts.leaf == STACK_LEAF_KERNEL ? event->leaf : 0;
		parts.user_leaf = parts.leaf == STACK_LEAF_USER ? event->leaf : 0;
	}
	made.key.kernel_end = parts.kernel.hashed.end;
	made.key.user_end = parts.user.hashed.end;
	made.key.kernel = parts.kernel.number;
	made.key.user = parts.user.number;
	made.key.whose = parts.leaf;
	is_kept = is_stack_part_cacheable(&parts.kernel) && is_stack_part_cacheable(&parts.user);
	if (is_kept)
		known = stack_memo_find_stack(stacks->rows.memo, &made.key);
	if (known)
		stack = known;
	else
		made.hash = stack_hash_join(parts.leaf, &made.key.leaf, &parts.kernel.hashed,
					    &parts.user.hashed);
	sent = make_sent_key(stack->hash.byte, KEY_STACK);
	if (stack->sent != mark_of_stacks_sent_now(stacks))
		err = sent_cache_add_if_new(stacks->rows.sent, &sent, &is_new);
	if (!err && is_new)
		err = append_frame_rows_of_part(stacks, parts.kernel_leaf, &parts.kernel)
			      ?: append_frame_rows_of_part(stacks, parts.user_leaf, &parts.user)
			      ?: append_stack_row(stacks, &parts, &stack->hash);
	if (err)
		return err;
	stack->sent = mark_of_stacks_sent_now(stacks);
	if (!known && is_kept)
		stack_memo_add_stack(stacks->rows.memo, &made);
	*hash = stack->hash;
	return 0;
}
