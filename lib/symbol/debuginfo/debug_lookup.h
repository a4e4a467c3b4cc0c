/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names from debug information, for reports: functions inlined at a frame, lines of source, and
 * symbols that the recorder did not have. Debug information is searched for on the machine that
 * makes the report, in the mapped file itself, in a debug file beside it or below /usr/lib/debug;
 * and on debuginfod servers, if chosen. A file counts only if its build id is that of the
 * recording, so no name is wrong. The mapped file may be gone.
 *
 * This process opens the files, a sandbox parses them (symbol/debuginfo/debug_service.h), and this
 * process checks the answers. If the sandbox fails on a file, the recording's own names remain.
 */
#ifndef LIB_SYMBOL_DEBUG_LOOKUP_H
#define LIB_SYMBOL_DEBUG_LOOKUP_H

#include "debug_fetch.h"
#include "debug_items.h"
#include "symbol/dwarf/dwarf_argument.h"
#include "symbol/elf/code_place.h"
#include "symbol/elf/elf_layout.h"
#include "symbol/elf/file_identity.h"
#include "trace/event.h"

enum debug_servers {
	DEBUG_SERVERS_NONE,
	DEBUG_SERVERS_USER, /* servers are asked for files of user code only */
	DEBUG_SERVERS_ALL,
};

struct debug_choice {
	const char *sysroot; /* a folder with the files of the recorded machine; NULL: not given */
	const char *vmlinux; /* the file of the kernel with debug information; NULL: not given */
	enum debug_servers servers;
	struct debug_watch watch; /* callbacks for downloads */

	/* Called for each file that cannot be used, with the reason. */
	void (*note)(void *arg, const char *path, const char *why);
	void *arg;
};

struct debug_lookup;

/* Creates a lookup and its sandbox. Best called early: see sandbox_start(). Texts of the choice
 * must outlive the lookup. */
int debug_lookup_create(const struct debug_choice *choice, struct debug_lookup **out);
void debug_lookup_free(struct debug_lookup **lookup);

/* Reads which parts and links an open file has: the sandbox reads them, and they are checked.
 * False: not an ELF file, or the answer makes no sense. */
bool debug_lookup_read_debug_link(struct debug_lookup *lookup, int file, struct debug_link *link);

/* The code whose names are requested: a mapping, or else the kernel or one of its modules. */
struct debug_code {
	const struct trace_mapping *mapping;
	const struct trace_module *module;
	const char *release; /* release of the kernel, as of uname() */
	/* Segments of the mapping's file by the recording, for the case that the file is gone. */
	struct elf_segments layout;
};

/* The sources of names that were found for some code. */
struct debug_facts {
	bool has_id;	  /* the recording has the build id of the code */
	bool has_code;	  /* the mapped file was found */
	bool is_replaced; /* the path of the mapped file leads to another file now */
	/* a file with the build id has symbols or debug information; the mapped file, if the
	 * recording has no build id */
	bool has_names;
	bool is_graalvm; /* the mapped file is a native image of GraalVM */
	bool is_placed;	 /* the segments of the mapped file are known */
};
struct debug_facts debug_lookup_facts(struct debug_lookup *lookup, const struct debug_code *code);

/* Looks up the names of places (ascending). A place is a file offset, or an address of the kernel.
 * -ENOENT: no names were found; -ENOMEM. */
int debug_lookup_find_names(struct debug_lookup *lookup, const struct debug_code *code,
			    const u64 *places, u32 count, struct debug_names **out);

/* Finds an argument of the function that begins at the offset `place` of an open program or library
 * (dwarf_argument_find()). `function` is a symbol there; "": not known. A file with debug
 * information is used whether it has a build id or not. On failure `reason` has a text. -ENODATA:
 * no debug information of that function is found; else as dwarf_argument_find(), or the sandbox
 * failed. */
struct debug_argument_query {
	int file;
	const char *path; /* path of the file */
	u64 place;
	const char *function;
	const char *argument;
};
int debug_lookup_argument(struct debug_lookup *lookup, const struct debug_argument_query *query,
			  struct dwarf_argument *out, char reason[DWARF_ARGUMENT_REASON_BYTES]);

#endif
