/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names from debug information, for reports: which functions were inlined at a frame, lines of
 * source, and symbols that the recorder did not have. It is looked for on the machine where the
 * report is made, in the file itself, in a debug file beside it or below /usr/lib/debug; and on
 * debuginfod servers, if so chosen.
 *
 * Never a wrong name: a file counts only if its build id is that of the recording. The file that
 * was mapped need not be there any more.
 *
 * This process opens the files; a sandbox parses them (symbol/debuginfo/debug_service.h), and what
 * it says is checked. A file on which it fails has no more names than the recording gives.
 */
#ifndef LIB_SYMBOL_DEBUG_LOOKUP_H
#define LIB_SYMBOL_DEBUG_LOOKUP_H

#include "debug_fetch.h"
#include "symbol/elf/code_place.h"
#include "symbol/elf/debug_link.h"
#include "symbol/elf/elf_segment.h"
#include "trace/event.h"

enum debug_servers {
	DEBUG_SERVERS_NONE,
	DEBUG_SERVERS_USER, /* not for the kernel */
	DEBUG_SERVERS_ALL,
};

struct debug_choice {
	const char *sysroot; /* a folder with the files of the recorded machine, or NULL */
	const char *vmlinux; /* the kernel with debug information, or NULL */
	enum debug_servers servers;
	struct debug_watch watch; /* of what they send */

	/* Told of each file that could not be used, and why. */
	void (*note)(void *arg, const char *path, const char *why);
	void *arg;
};

struct debug_lookup;

/* Best early: see sandbox_start(). What the choice points to must outlive it. */
int debug_lookup_create(const struct debug_choice *choice, struct debug_lookup **out);
void debug_lookup_free(struct debug_lookup **lookup);

/* What an open file says of itself, read in the sandbox; false: nothing that could be relied upon.
 */
bool debug_lookup_link(struct debug_lookup *lookup, int file, struct debug_link *link);

/* The file of some code; of the kernel, or of a module: `module`. */
struct debug_code {
	const struct trace_mapping *mapping;
	const struct trace_module *module;
	const char *release; /* of the kernel */
	/* Where the mapping's code lies in its file, as far as the recording tells. It is used
	 * where that file is not to be had. */
	struct elf_segments layout;
};

struct debug_name {
	u64 place;
	const char *symbol; /* or NULL */
	u64 symbol_start, symbol_size;
	u32 count;
	const struct code_place *functions; /* innermost first; `file` is the whole path */
};

/* What there is to name some code by. */
struct debug_facts {
	bool has_id;	  /* the recording tells a build id */
	bool has_code;	  /* the file with the code is here */
	bool is_replaced; /* its path leads to another file */
	bool has_names;	  /* some file with the build id has symbols or debug information */
	bool is_placed;	  /* where the code lies in its file is known */
};
struct debug_facts debug_lookup_facts(struct debug_lookup *lookup, const struct debug_code *code);

/* What is known of the code's places (ascending): file offsets, or addresses of the kernel.
 * -ENOENT: nothing, -ENOMEM. */
struct debug_names;
int debug_lookup_find(struct debug_lookup *lookup, const struct debug_code *code, const u64 *places,
		      u32 count, struct debug_names **out);
void debug_names_free(struct debug_names **names);

/* Or NULL. */
const struct debug_name *debug_names_at(const struct debug_names *names, u64 place);

#endif
