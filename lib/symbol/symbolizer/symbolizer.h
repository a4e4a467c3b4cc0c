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
	SYMBOLIZER_IDENTIFY, /* keep the file of a mapping open, and read its build id */
	/* Find symbols; passed files: a file of addresses, each a u64; for the kernel also
	 * kallsyms, modules, and both files of a kernel_copy. */
	SYMBOLIZER_SYMBOLS,
	SYMBOLIZER_TABLE, /* put the file's unwind table into a map; passed file: the map */
	/* Add the file's unwind table with the rows of code that no table covers; passed files: the
	 * engine's map, and the open file of the mapping unless the symbolizer is to open it by the
	 * record. */
	SYMBOLIZER_ANALYSIS,
	SYMBOLIZER_MOVED, /* compare code that a process has copied from a file with the file;
			     passed file: the engine's map of copied code */
};

struct symbolizer_request {
	u32 what;
	u32 number; /* number of the mapping; 0 = the kernel */
	u32 count;  /* number of addresses; SYMBOLIZER_MOVED: the process id */
	u32 cached; /* 1 = find the file through the kernel's cache only: mapped_file_open_cached()
		     */
	u32 wants_code; /* SYMBOLIZER_TABLE: 1 = if the table is partial, send the open file with
			   the answer */
	struct mapping_record record;
};

struct symbolizer_answer {
	u32 what;
	u32 number;
	s32 result;	/* 0; -ENOENT: file not found; or -errno */
	u32 sandbox;	/* process id of the sandbox; 0 = not running */
	u32 is_partial; /* SYMBOLIZER_TABLE: 1 = SYMBOLIZER_ANALYSIS would give more rows */
	u32 has_marks;	/* 1 = a table was added that marks an interpreter's loop (abi/script.h) */
	u32 leaves_generated; /* 1 = a table of OpenJDK's libjvm, of V8's file or of Perl's was
				 added */
	u64 failures;	      /* number of files that could not be read */
	u64 bytes; /* length of the file that comes with the answer: symbols, each a symbol_item
		      (symbol_service.h) and its name */
	struct build_id id;
};

/* Answer requests until the other side closes the socket. The sandbox for the files of root and of
 * the kernel gets more memory than those of users, of which several may run. */
void symbolizer_serve(int socket);
void symbolizer_serve_trusted(int socket);

/* Creates an empty file in memory; or -errno. */
int symbol_file_create(void);

/* Creates a file in memory with addresses; or -errno. */
int symbol_file_put_addresses(const u64 *addresses, u32 count);

/* Reads `count` addresses from a file of symbol_file_put_addresses(), for the caller to free.
 * -ENOMEM; -EIO: the file has fewer. */
int symbol_file_addresses(int file, u32 count, u64 **addresses);

/* Appends a symbol to the stream `out`. 0 or -ENOMEM. */
int symbol_file_put(void *out, const struct trace_symbol *symbol, bool is_undivided);

/* Calls each() for the symbols of a file of symbol_file_put(), as symbol_lookup_find() does.
 * Damaged bytes at the end are left out; a negative `file` has no symbols. Stops at the first
 * non-zero return and returns it. -ENOMEM. */
int symbol_file_each(int file, u64 bytes, u32 number,
		     int (*each)(void *arg, const struct trace_symbol *symbol, bool is_undivided),
		     void *arg);

#endif
