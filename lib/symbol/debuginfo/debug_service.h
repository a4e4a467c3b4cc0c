/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of debug_lookup.c that parses files: it runs in a sandbox (privilege/sandbox.h).
 *
 * Request: a debug_request with its open files; `count` u64, the places, ascending. Answer: a
 * debug_answer; `bytes` bytes: texts first (`text_bytes` of them), then items. An item is a
 * debug_item, and for each of its functions a debug_function.
 *
 * Functions and files come again and again, so each text is there once, and is given by its offset.
 * Each ends with a NUL, the first is empty: not known.
 */
#ifndef LIB_SYMBOL_DEBUG_SERVICE_H
#define LIB_SYMBOL_DEBUG_SERVICE_H

#include "scalar.h"
#include "symbol/elf/debug_link.h"
#include "symbol/elf/elf_segment.h"

enum debug_what {
	DEBUG_LINK,   /* what one file says of itself */
	DEBUG_PLACES, /* what is at places of code */
};

enum debug_file { DEBUG_FILE_CODE, DEBUG_FILE_DEBUG, DEBUG_FILE_SHARED, DEBUG_FILES };

#define DEBUG_TEXT_BYTES_MAX 65536

struct debug_request {
	u32 what;
	u32 count;
	u32 files; /* bits of enum debug_file: which were sent, in this order */
	u32 reserved;
	u64 stext;		    /* of a kernel; else 0 */
	struct elf_segments layout; /* of the code, as far as the recording tells */
};

struct debug_answer {
	s32 result; /* 0 or -errno */
	u32 items;
	u32 is_damaged; /* the debug information: what is sound of it was used */
	u32 is_split;	/* some of it is in files that are not read */
	u32 text_bytes;
	u64 bytes;
	struct debug_link link;
};

struct debug_item {
	u32 place; /* its index */
	u32 functions;
	u64 symbol_start;
	u64 symbol_size;
	u32 symbol; /* a text */
	u32 reserved;
};

struct debug_function {
	u32 line;
	u32 inlined;
	u32 name; /* a text, as the file */
	u32 file;
};

/* Until the other side closes the socket. */
void debug_serve(int socket);

#endif
