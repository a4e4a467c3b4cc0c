/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sets of traces and spans, of threads' attributes, of frames, and of stacks without an id that
 * a recording has so far. All zero: an empty set.
 */
#ifndef LIB_TRACE_WRITE_RECORDED_SETS_H
#define LIB_TRACE_WRITE_RECORDED_SETS_H

#include <stdbool.h>

#include "hash_index.h"
#include "scalar.h"
#include "trace/bytes/byte_buffer.h"
#include "trace/event.h"

#define CONTEXT_HALVES (sizeof(struct trace_context) / sizeof(u32))

/* The distinct traces and spans, in the order in which they came. */
struct context_set {
	u64 keys[CONTEXT_HALVES]; /* secret keys of the hash */
	struct trace_context *items;
	u32 room;
	struct hash_index index;
};

static inline u32 context_set_count(const struct context_set *set)
{
	return set->index.count;
}

/* Sets *number to the number of an equal context, which is added if the set lacks it. -ENOMEM,
 * -E2BIG: the set is full. */
int context_set_find_or_add_number(struct context_set *set, const struct trace_context *context,
				   u32 *number);
void context_set_free(struct context_set *set);

/* The most bytes of attributes of a recording. Each record counts as ATTRIBUTE_SET_COST bytes more,
 * about what the recorder keeps of it beside its bytes, so that short records have a limit, too. */
#define ATTRIBUTE_SET_BYTES_MAX (32U << 20)
#define ATTRIBUTE_SET_COST 64U

/* The distinct attributes of threads, in the order in which they came. */
struct attribute_set {
	u64 key[2]; /* secret key of the hash */
	struct byte_buffer bytes;
	struct attribute_place {
		u32 at; /* where the attributes are in `bytes` */
		u16 bytes, program;
	} * items;
	u32 room;
	struct hash_index index;
};

static inline u32 attribute_set_count(const struct attribute_set *set)
{
	return set->index.count;
}

/* Sets *number to the number, from 1 on, of equal attributes, which are added if the set lacks
 * them. -ENOMEM, -E2BIG: the set is full. */
int attribute_set_number(struct attribute_set *set, const struct trace_attributes *attributes,
			 u32 *number);
void attribute_set_free(struct attribute_set *set);

enum frame_use { FRAME_EXACT = 1 << 0, FRAME_RETURN_ADDRESS = 1 << 1 };

/* The distinct frames. A frame is looked up later as a pc, as a return address, or both. */
struct frame_set {
	u64 *frames; /* hash table with open addressing; 0 = free slot, since no frame is 0 */
	u8 *uses;    /* by slot: uses of the frame, enum frame_use as bits */
	u32 bits;    /* the table has 2^bits slots */
	u32 count;   /* number of frames, at most half of the slots */
};

/* `uses`: enum frame_use, as bits. Frame 0 is left out. -ENOMEM. */
int frame_set_add(struct frame_set *set, u64 frame, u32 uses);
/* Calls `each` once or twice for each frame, as a pc and as a return address. Stops at the first
 * non-zero result, which is returned. */
int frame_set_each(const struct frame_set *set,
		   int (*each)(void *arg, u64 frame, bool return_address), void *arg);
void frame_set_free(struct frame_set *set);

struct stack_set_entry {
	u64 *frames;
	u32 depth;
	u32 flags;
	u32 index; /* stack index in the recording */
};

/* Stacks that came without an id. Two stacks are equal if their flags and all frames are equal. */
struct stack_set {
	struct hash_index index;
	struct stack_set_entry *entries;
	u32 room;
};

/* True if the set has the stack; *index is then the stack's index. */
bool stack_set_find(const struct stack_set *set, const struct trace_stack *stack, u32 *index);
/* Adds a stack that is not in the set yet. -ENOMEM. */
int stack_set_add(struct stack_set *set, const struct trace_stack *stack, u32 index);
void stack_set_free(struct stack_set *set);

#endif
