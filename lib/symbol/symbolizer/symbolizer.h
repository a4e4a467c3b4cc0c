/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A symbolizer is a process beside the recorder that opens and keeps the files of one owner, and
 * has a sandbox that parses them (symbol/symbolizer/symbol_lookup.h). A symbolizer may block on a
 * file; the recorder does not wait for it (symbol/symbolizer/symbolizers.h).
 *
 * Requests and answers are packets of fixed size over a socket, in order; longer data goes as a
 * file in memory (symbol_file_*), so that a packet never fills the buffer of the socket. The first
 * answer is SYMBOLIZER_READY, without a request.
 */
#ifndef LIB_SYMBOL_SYMBOLIZER_SYMBOLIZER_H
#define LIB_SYMBOL_SYMBOLIZER_SYMBOLIZER_H

#include <stdbool.h>

#include "mapping.h"
#include "scalar.h"
#include "symbol_lookup.h"
#include "trace/event.h"

enum symbolizer_what {
	SYMBOLIZER_READY,
	SYMBOLIZER_IDENTIFY, /* keep the file of a mapping, read its build id */
	SYMBOLIZER_SYMBOLS,  /* files: addresses as u64; for the kernel also kallsyms, modules, and
				both files of a kernel_copy */
	SYMBOLIZER_TABLE,    /* put the file's unwind table into a map; files: the engine's map */
	/* The same, with the rows of code that no table covers; files: the map, and the open file
	 * of the mapping unless it is to be opened by the record. */
	SYMBOLIZER_ANALYSIS,
	SYMBOLIZER_MOVED, /* compare moved code; files: the engine's map of moved code */
};

struct symbolizer_request {
	u32 what;
	u32 number;	/* of the mapping; 0 = the kernel */
	u32 count;	/* of addresses; SYMBOLIZER_MOVED: the process id */
	u32 cached;	/* use the kernel's cache only: mapped_file_open_cached() */
	u32 wants_code; /* SYMBOLIZER_TABLE: send the open file along if the table is partial */
	struct mapping_record record;
};

struct symbolizer_answer {
	u32 what;
	u32 number;
	s32 result;	      /* 0; -ENOENT: file not found; or -errno */
	u32 sandbox;	      /* process id of the sandbox; 0 = not running */
	u32 is_partial;	      /* SYMBOLIZER_TABLE: SYMBOLIZER_ANALYSIS would give more rows */
	u32 has_marks;	      /* a table with marked code was added (abi/script.h) */
	u32 leaves_generated; /* a table of OpenJDK's libjvm or of V8's file was added */
	u64 failures;	      /* number of files that could not be read */
	u64 bytes; /* of the file that comes along: each a symbol_item (symbol_service.h) and its
		      name */
	struct build_id id;
};

/* Answer requests until the other side closes the socket. The sandbox for the files of root and of
 * the kernel gets more memory than those of users, of which several may run. */
void symbolizer_serve(int socket);
void symbolizer_serve_trusted(int socket);

/* An empty file in memory; or -errno. */
int symbol_file_create(void);

/* A file in memory with addresses; or -errno. */
int symbol_file_put_addresses(const u64 *addresses, u32 count);

/* Reads the addresses of such a file, for the caller to free. -ENOMEM; -EIO: the file has fewer. */
int symbol_file_addresses(int file, u32 count, u64 **addresses);

/* Appends a symbol to a stream, which is the first argument. 0 or -ENOMEM. */
int symbol_file_put(void *out, const struct trace_symbol *symbol, bool is_undivided);

/* Calls each() for the symbols of a file, as symbol_lookup_find() does. A damaged end is left out;
 * a negative `file` has no symbols. Stops at the first non-zero return and returns it. -ENOMEM. */
int symbol_file_each(int file, u64 bytes, u32 number,
		     int (*each)(void *arg, const struct trace_symbol *symbol, bool is_undivided),
		     void *arg);

#endif
