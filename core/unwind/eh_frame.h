/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .eh_frame: finds the entry that covers a pc, by the sorted index in .eh_frame_hdr, or entry by
 * entry where a file has none (Linux Standard Base 5.0, core, section 10.6; statically linked
 * programs lack the index).
 */
#ifndef CORE_EH_FRAME_H
#define CORE_EH_FRAME_H

#include "env.h"
#include "rule.h"

#define EH_ENTRIES_MAX (1U << 17) /* looked at one by one */

struct unwind;

/* One entry of the index, as the linker writes it: relative to the index. */
struct eh_index_entry {
	s32 function;
	s32 fde;
};

struct eh_search {
	u64 low, high;	/* of the index: the entry is in [low, high) */
	u64 index;	/* address of its first entry */
	u64 header;	/* address of .eh_frame_hdr */
	u64 record_end; /* of the record that was opened last */
	u32 stop;
	u16 blocks;	   /* that may be scanned before this one, for records */
	u16 is_unreadable; /* not all of that was */
	u64 block, block_end;
	u64 segment; /* where that of the block begins */
	struct eh_index_entry entry;
};

/* The rule of unwind->lookup_pc in the current image. STOP_NO_RULE: no entry covers it. */
CORE_INLINE u32 eh_frame_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
