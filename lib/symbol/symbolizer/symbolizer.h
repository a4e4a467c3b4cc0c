/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One process beside the recorder that opens the files of one owner, keeps them, and has a sandbox
 * of its own that parses them (symbol/symbolizer/symbol_lookup.h). It waits for whatever it opens;
 * who asked it does not (symbol/symbolizer/symbolizers.h).
 *
 * Packets of fixed size over its socket, in order. Before the first answer comes a
 * symbolizer_answer with `what` SYMBOLIZER_READY.
 */
#ifndef LIB_SYMBOL_SYMBOLIZER_H
#define LIB_SYMBOL_SYMBOLIZER_H

#include "mapping.h"
#include "symbol_lookup.h"

enum symbolizer_what {
	SYMBOLIZER_READY,
	SYMBOLIZER_LEARN,    /* code was met: its file is kept, its build id wanted */
	SYMBOLIZER_SYMBOLS,  /* files: the addresses as u64; kernel: kallsyms, modules behind it */
	SYMBOLIZER_TABLE,    /* files: the engine's map, which gets the unwind table of the file */
	SYMBOLIZER_ANALYSIS, /* as SYMBOLIZER_TABLE, with the rows of code that no table covers */
	SYMBOLIZER_MOVED,    /* files: the engine's map of moved code (moved_code_settle()) */
};

struct symbolizer_request {
	u32 what;
	u32 number; /* of the mapping; 0: the kernel */
	u32 count;  /* of addresses; SYMBOLIZER_MOVED: the process */
	u32 cached; /* look only where nobody has to be waited for */
	struct mapping_record record;
};

struct symbolizer_answer {
	u32 what;
	u32 number;
	s32 result;	/* 0; -ENOENT: no such file where it looked; or -errno */
	u32 sandbox;	/* the process id; 0: none runs */
	u32 is_partial; /* of SYMBOLIZER_TABLE: SYMBOLIZER_ANALYSIS has more */
	u64 failures;	/* files that could not be read for it */
	u64 bytes;	/* of symbols in the file that comes with it: symbolizer_symbol, name */
	struct build_id id;
};

struct symbolizer_symbol {
	u64 start;
	u64 size;
	u64 address;	/* in the ELF file itself */
	u32 name_bytes; /* without a NUL */
	u32 is_alone;	/* symbol_lookup_find() */
};

/* Until the other side closes the socket. The sandbox of root's files and the kernel's gets more
 * memory than those of others, of which there may be several. */
void symbolizer_serve(int socket);
void symbolizer_serve_trusted(int socket);

/* A file in memory, for what is longer than a packet. -errno. */
int symbolizer_memory(void);

#endif
