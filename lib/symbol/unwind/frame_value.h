/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of a register or a word of the stack: an address, or whose value it holds. */
#ifndef LIB_SYMBOL_FRAME_VALUE_H
#define LIB_SYMBOL_FRAME_VALUE_H

#include <stdbool.h>

#include "rule.h"
#include "x86_decode.h"

#define FRAME_WORD 8
#define FRAME_OFFSET_LIMIT (1 << 28) /* of anything relative to the stack */
#define FRAME_SAVED_REGISTERS 6	     /* those with a slot in a rule */

enum frame_value_kind {
	VALUE_UNKNOWN,
	VALUE_ENTRY,	/* what register `offset` held at the function's entry */
	VALUE_CFA,	/* CFA + offset */
	VALUE_ALIGNED,	/* the stack pointer that instruction `extra` rounded down, + offset */
	VALUE_CONSTANT, /* offset, as 32 bits */
	VALUE_BELOW,	/* an unsigned number below offset */
	VALUE_CHILD,	/* what clone() returned: 0 in the child */
	VALUE_ADDRESS,	/* the address `offset` of the file */
	/* Of a table at `offset` with `extra` entries (0: nobody knows how many): */
	VALUE_DISTANCE, /* one of its 32-bit entries, which are relative to the table */
	VALUE_TARGET,	/* the address that such an entry means */
	VALUE_POINTER,	/* one of its 64-bit entries */
};

struct frame_value {
	u32 kind : 4;
	u32 extra : 28;
	s32 offset;
};

/* The registers of a rule's slots. */
static const u8 frame_saved_register[FRAME_SAVED_REGISTERS] = {
	[SLOT_RBX] = X86_RBX, [SLOT_RBP] = X86_RBP, [SLOT_R12] = X86_R12,
	[SLOT_R13] = X86_R13, [SLOT_R14] = X86_R14, [SLOT_R15] = X86_R15,
};

ABI_INLINE bool frame_value_is_same(struct frame_value a, struct frame_value b)
{
	return a.kind == b.kind && a.extra == b.extra && a.offset == b.offset;
}

ABI_INLINE bool frame_value_is_stack(struct frame_value value)
{
	return value.kind == VALUE_CFA || value.kind == VALUE_ALIGNED;
}

/* Both are places in the same part of the stack. */
ABI_INLINE bool frame_value_is_comparable(struct frame_value a, struct frame_value b)
{
	return frame_value_is_stack(a) && a.kind == b.kind && a.extra == b.extra;
}

ABI_INLINE struct frame_value frame_value_moved(struct frame_value value, s64 distance)
{
	s64 offset = value.offset + distance;

	if (!value.kind || offset < -FRAME_OFFSET_LIMIT || offset > FRAME_OFFSET_LIMIT)
		return (struct frame_value){};
	value.offset = offset;
	return value;
}

#endif
