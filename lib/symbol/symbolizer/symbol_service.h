/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of a symbol lookup that parses: files of others, and the kernel's lists. It runs in a
 * sandbox (privilege/sandbox.h) and speaks with symbol/symbolizer/symbol_lookup.c over a socket.
 *
 * Request: a symbol_request with its open files; `addresses` u64, ascending. Answer: a
 * symbol_answer; `bytes` bytes of symbols, each a symbol_item and its name. Where no symbol
 * covers an address, one without a name tells which function it is in, as far as the unwind table
 * knows. Of SYMBOL_ASK_ROWS and SYMBOL_ASK_TABLES the bytes are unwind rules, then rows
 * (symbol/unwind/code_rows.h).
 */
#ifndef LIB_SYMBOL_SERVICE_H
#define LIB_SYMBOL_SERVICE_H

#include "privilege/memory_limit.h"
#include "scalar.h"
#include "trace/event.h"

enum symbol_what {
	SYMBOL_ASK_BUILD_ID, /* of a file */
	SYMBOL_ASK_FILE,     /* symbols by file offset, if it has the build id */
	SYMBOL_ASK_VDSO,
	SYMBOL_ASK_ROWS,      /* of a file's unwind tables, and of its analysed code */
	SYMBOL_ASK_TABLES,    /* rows of the file's unwind tables alone */
	SYMBOL_ASK_KERNEL,    /* files: kallsyms, modules */
	SYMBOL_ASK_GENERATED, /* symbols by their distance from `base`; files: perf map, jitdump */
};

#define SYMBOL_NAME_BYTES_MAX 65536

struct symbol_request {
	u32 what;
	u32 addresses;
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
	u64 base;	  /* of generated code */
	u32 has_perf_map; /* 0: only a jitdump */
};

struct symbol_answer {
	s32 result; /* 0 or -errno; a file of which nothing can be made out has no symbols */
	u32 symbols;
	u64 bytes;
	u32 unread; /* files of generated code that were left out */
	u32 rows, rules;
	u32 is_partial; /* code_rows.h */
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
};

struct symbol_item {
	u64 start;
	u64 size;
	u64 address; /* that the start has in the ELF file itself; `start` where there is none */
	u32 name_bytes;
	u32 is_alone; /* what covers an address in it is this symbol */
};

/* Bytes of an answer: it is in memory at both ends at once, and on its way. */
static inline u64 symbol_answer_bytes_max(void)
{
	u64 part = memory_limit() / 32;

	return part < 256ULL << 20 ? part : 256ULL << 20;
}

/* Until the other side closes the socket. A file that takes more memory than the sandbox has is
 * answered with -ENOMEM or -E2BIG. */
void symbol_serve(int socket);

#endif
