/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .eh_frame: finds the entry that covers a pc, by the sorted index in .eh_frame_hdr, or entry by
 * entry in a file without index (Linux Standard Base 5.0, core, section 10.6; statically linked
 * programs lack the index). The section is the table, and the index only helps: a header without a
 * usable index still gives the begin of the section.
 */
#ifndef CORE_EH_FRAME_H
#define CORE_EH_FRAME_H

#include "env.h"
#include "rule.h"

#define EH_ENTRIES_MAX (1U << 17) /* entries that are looked at one by one */

struct unwind;

struct eh_search {
	u64 low, high;	 /* the entry of the index is in [low, high) */
	u64 index;	 /* address of the index's first entry */
	u64 header;	 /* address of .eh_frame_hdr */
	u64 record_end;	 /* end of the record that was opened last: the next one begins there */
	u64 records_end; /* no record begins there or behind */
	u32 records;	 /* records to open at most */
	u32 stop;
	u32 is_wide;	   /* 1: numbers of the index have 8 bytes, else 4 */
	u16 blocks;	   /* blocks before the current one that are left to scan */
	u16 is_unreadable; /* 1: a part of the scanned memory was unreadable */
	u16 is_empty;	   /* 1: the index is empty, so the section may be missing */
	u64 block, block_end;
	u64 segment; /* begin of the block's segment */
	u64 entry;   /* entry of the index, or half of one: (function, FDE), header-relative */
};

/*
 * Makes the rule of unwind->lookup_pc in the current image. STOP_NO_RULE: no entry covers the pc.
 */
CORE_INLINE u32 eh_frame_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
