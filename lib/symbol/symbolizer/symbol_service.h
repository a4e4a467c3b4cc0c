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
	SYMBOL_ASK_BUILD_ID, /* requests the build id of a file */
	SYMBOL_ASK_FILE,     /* requests symbols by file offset; the file must have the build id */
	SYMBOL_ASK_VDSO,     /* requests symbols of the vdso, which must have the build id */
	SYMBOL_ASK_ROWS, /* requests the rows of a file's unwind tables and of its analysed code */
	SYMBOL_ASK_TABLES, /* requests the rows of a file's unwind tables alone */
	SYMBOL_ASK_KERNEL, /* requests symbols of the kernel by address; files: kallsyms, modules,
			      copies of both */
	SYMBOL_ASK_GENERATED, /* requests symbols by distance from `base`; files: perf map, jitdump
			       */
	SYMBOL_ASK_CONTEXT,   /* requests the variable THREAD_CONTEXT_SYMBOL of a file */
};

#define SYMBOL_NAME_BYTES_MAX 65536

struct symbol_request {
	u32 what;
	u32 addresses;
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
	u64 base;	  /* start address of the range of generated code */
	u32 has_perf_map; /* 1 = the first file is a perf map; 0 = the only file is a jitdump */
};

struct symbol_answer {
	s32 result; /* 0 or -errno; a file that makes no sense gives 0 and no symbols */
	u32 symbols;
	u64 bytes;
	u32 unread; /* number of perf maps and jitdumps that could not be read */
	u32 rows, rules;
	u32 is_partial; /* 1 = the rows are not all, as is_partial in struct code_rows */
	/* Layout of the interpreter in the file, as `script` in struct code_rows. */
	struct script_layout script;
	struct thread_variable variable;
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
};

/* A symbol of an answer; its name follows, without a NUL. */
struct symbol_item {
	u64 start;
	u64 size;
	u64 address; /* address of the symbol at link time; without an ELF file the same as `start`
		      */
	u32 name_bytes;
	u32 is_undivided; /* no other symbol covers a part of this one */
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
