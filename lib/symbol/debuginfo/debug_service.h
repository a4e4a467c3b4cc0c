/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of debug_lookup.c that parses files. It runs in a sandbox (privilege/sandbox.h).
 *
 * Request: a debug_request with its open files; then `count` places as u64, ascending. Answer: a
 * debug_answer; then `bytes` bytes: `text_bytes` of texts, then items. An item is a debug_item
 * followed by its functions, each a debug_function. The answer to DEBUG_ARGUMENT is in its
 * debug_answer.
 *
 * Functions and files recur, so each text is sent once, with its NUL, and named by its offset. The
 * text at offset 0 is empty and stands for "not known".
 */
#ifndef LIB_SYMBOL_DEBUG_SERVICE_H
#define LIB_SYMBOL_DEBUG_SERVICE_H

#include "scalar.h"
#include "symbol/dwarf/dwarf_argument.h"
#include "symbol/elf/elf_layout.h"
#include "symbol/elf/file_identity.h"

/* The kinds of requests to the service. A place is a file offset, or an address of the kernel. */
enum debug_what {
	DEBUG_LINK,	/* requests which parts and links one file has */
	DEBUG_PLACES,	/* requests the symbols and functions at places */
	DEBUG_ARGUMENT, /* requests where an argument of the function at one place is */
};

enum debug_file { DEBUG_FILE_CODE, DEBUG_FILE_DEBUG, DEBUG_FILE_SHARED, DEBUG_FILES };

#define DEBUG_TEXT_BYTES_MAX 65536
/* The most bytes of a function's name or an argument's path in a request; longer names are cut,
 * longer paths refused. */
#define DEBUG_NAME_BYTES 512

struct debug_request {
	u32 what;
	u32 count;
	u32 files; /* which files are sent, as bits of enum debug_file; the descriptors come in this
		      order, without gaps */
	u32 reserved;
	u64 stext; /* address of _stext in the recorded kernel; 0 = the code is not a kernel's */
	struct elf_segments layout; /* segments of the mapped file, as the recording has them */
	char function[DEBUG_NAME_BYTES]; /* DEBUG_ARGUMENT: name of a symbol at the place; "" = not
					    known */
	char argument[DEBUG_NAME_BYTES]; /* DEBUG_ARGUMENT: path of the argument, as for
					    dwarf_argument_find() */
};

struct debug_answer {
	s32 result; /* 0 or -errno */
	u32 items;
	u32 is_damaged; /* 1 = a part of the debug information cannot be read */
	u32 is_split;	/* 1 = a part of the debug information is in files that are not read (.dwo,
			   .dwp) */
	u32 text_bytes;
	u64 bytes;
	struct debug_link link;
	struct dwarf_argument argument;
	char reason[DWARF_ARGUMENT_REASON_BYTES]; /* text that says why the argument was not found
						   */
};

struct debug_item {
	u32 place; /* index of the place in the request */
	u32 functions;
	u64 symbol_start;
	u64 symbol_size;
	u32 symbol; /* offset of the symbol's name among the texts */
	u32 reserved;
};

struct debug_function {
	u32 line;
	u32 inlined;
	u32 name; /* offset of the function's name among the texts */
	u32 file; /* offset of the source file's path among the texts */
};

/* Answers requests until the other side closes the socket. */
void debug_serve(int socket);

#endif
