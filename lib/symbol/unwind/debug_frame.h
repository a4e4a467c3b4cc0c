/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The section .debug_frame, written as records of an .eh_frame, so that one parser reads both
 * (DWARF 5, 6.4.1; Linux Standard Base, .eh_frame). Programs that are built with
 * -fno-asynchronous-unwind-tables and -g have nothing else.
 */
#ifndef LIB_SYMBOL_DEBUG_FRAME_H
#define LIB_SYMBOL_DEBUG_FRAME_H

#include "scalar.h"

struct debug_frame {
	u8 *records; /* to be freed */
	u32 bytes, room;
};

/* `base` is added to the addresses of functions. Records that the section's parser does not
 * understand are left out, with all that refer to them. -ENOENT: the file has no such section;
 * -EBADMSG, -ENOMEM. */
int debug_frame_read(int file, u64 base, struct debug_frame *frame);

#endif
