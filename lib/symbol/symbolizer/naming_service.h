/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of naming that parses: files of others, and the kernel's lists. It runs in a sandbox
 * (privilege/sandbox.h) and speaks with symbol/symbolizer/naming.c over a socket.
 *
 * Request: a naming_request with its open files; `addresses` u64, ascending. Answer: a
 * naming_answer; `bytes` bytes of symbols, each a naming_symbol and its name. Where no symbol
 * covers an address, one without a name tells which function it is in, as far as the unwind table
 * knows.
 */
#ifndef LIB_SYMBOL_NAMING_SERVICE_H
#define LIB_SYMBOL_NAMING_SERVICE_H

#include "scalar.h"
#include "trace/event.h"

enum naming_what {
	NAMING_BUILD_ID, /* of a file */
	NAMING_FILE,	 /* symbols by file offset, if it has the build id */
	NAMING_VDSO,
	NAMING_KERNEL,	  /* files: kallsyms, modules */
	NAMING_GENERATED, /* symbols by their distance from `base`; files: perf map, jitdump */
};

#define NAMING_NAME_BYTES_MAX 65536

struct naming_request {
	u32 what;
	u32 addresses;
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
	u64 base;	  /* of generated code */
	u32 has_perf_map; /* 0: only a jitdump */
};

struct naming_answer {
	s32 result; /* 0 or -errno; a file of which nothing can be made out has no symbols */
	u32 symbols;
	u64 bytes;
	u32 unread; /* files of generated code that were left out */
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
};

struct naming_symbol {
	u64 start;
	u64 size;
	u64 address; /* that the start has in the ELF file itself; `start` where there is none */
	u32 name_bytes;
	u32 reserved;
};

/* Until the other side closes the socket. */
void naming_serve(int socket);

#endif
