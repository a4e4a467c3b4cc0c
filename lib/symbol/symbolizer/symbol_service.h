/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of a symbol lookup that parses files of other users and the kernel's lists. It runs in a
 * sandbox (privilege/sandbox.h) and talks to symbol/symbolizer/symbol_lookup.c over a socket.
 *
 * Request: a symbol_request with its open files; then `addresses` addresses as u64, ascending.
 * Answer: a symbol_answer; then `bytes` bytes of symbols, each a symbol_item and its name. For an
 * address without a symbol, an item without a name gives the bounds of the function by the unwind
 * table. For SYMBOL_ASK_ROWS and SYMBOL_ASK_TABLES the bytes are unwind rules, then rows
 * (symbol/unwind/code_rows.h).
 */
#ifndef LIB_SYMBOL_SERVICE_H
#define LIB_SYMBOL_SERVICE_H

#include "privilege/memory_limit.h"
#include "scalar.h"
#include "script.h"
#include "symbol/elf/thread_variable.h"
#include "trace/event.h"

enum symbol_what {
	SYMBOL_ASK_BUILD_ID,  /* the build id of a file */
	SYMBOL_ASK_FILE,      /* symbols by file offset, if the file has the build id */
	SYMBOL_ASK_VDSO,      /* symbols of the vdso, the same way */
	SYMBOL_ASK_ROWS,      /* rows of a file's unwind tables and of its analysed code */
	SYMBOL_ASK_TABLES,    /* rows of a file's unwind tables alone */
	SYMBOL_ASK_KERNEL,    /* symbols by address; files: kallsyms, modules, copies of both */
	SYMBOL_ASK_GENERATED, /* symbols by distance from `base`; files: perf map, jitdump */
	SYMBOL_ASK_CONTEXT,   /* the variable THREAD_CONTEXT_SYMBOL of a file */
};

#define SYMBOL_NAME_BYTES_MAX 65536

struct symbol_request {
	u32 what;
	u32 addresses;
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
	u64 base;	  /* start of the range of generated code */
	u32 has_perf_map; /* 0 = the only file is a jitdump */
};

struct symbol_answer {
	s32 result; /* 0 or -errno; 0 without symbols for a file that makes no sense */
	u32 symbols;
	u64 bytes;
	u32 unread; /* perf maps and jitdumps that could not be read */
	u32 rows, rules;
	u32 is_partial;		     /* code_rows.h */
	struct script_layout script; /* code_rows.h */
	struct thread_variable variable;
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
};

/* A symbol of an answer; its name follows, without a NUL. */
struct symbol_item {
	u64 start;
	u64 size;
	u64 address; /* link time address of the start; `start` if the code has no ELF file */
	u32 name_bytes;
	u32 is_undivided; /* all addresses in the symbol have this symbol */
};

/* The most bytes of an answer, which is in the memory of both sides and of the socket at once. */
static inline u64 symbol_answer_bytes_max(void)
{
	u64 part = memory_limit() / 32;

	return part < 256ULL << 20 ? part : 256ULL << 20;
}

/* Answers requests until the other side closes the socket. -ENOMEM and -E2BIG are the answers to a
 * file that needs more memory than the sandbox has. */
void symbol_serve(int socket);

#endif
