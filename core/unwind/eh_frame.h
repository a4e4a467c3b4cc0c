/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .eh_frame: finds the entry that covers a pc, by the sorted index in .eh_frame_hdr, or entry by
 * entry where a file has none (Linux Standard Base 5.0, core, section 10.6; statically linked
 * programs lack the index). The section is the table, and the index only helps: a header without a
 * usable index still says where the section begins.
 */
#ifndef CORE_EH_FRAME_H
#define CORE_EH_FRAME_H

#include "env.h"
#include "rule.h"

#define EH_ENTRIES_MAX (1U << 17) /* looked at one by one */

struct unwind;

struct eh_search {
	u64 low, high;	/* of the index: the entry is in [low, high) */
	u64 index;	/* address of its first entry */
	u64 header;	/* address of .eh_frame_hdr */
	u64 record_end; /* of the record that was opened last */
	u32 stop;
	u32 is_wide;	   /* entries of the index have 8-byte numbers, not 4-byte ones */
	u16 blocks;	   /* that may be scanned before this one, for records */
	u16 is_unreadable; /* not all of that was */
	u16 is_empty;	   /* the index lists nothing, so a section need not be there */
	u64 block, block_end;
	u64 segment; /* where that of the block begins */
	u64 entry;   /* of the index, or half of one: (function, FDE), relative to the header */
};

/* The rule of unwind->lookup_pc in the current image. STOP_NO_RULE: no entry covers it. */
CORE_INLINE u32 eh_frame_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
