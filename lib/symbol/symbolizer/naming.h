/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for the frames of a recording, and build ids of the files that they are in, taken on the
 * machine where it is made: kernel and modules from kallsyms, user code from .symtab and .dynsym of
 * the mapped file, the vdso from this process's own. It waits for whatever it reads, so it runs
 * beside the recorder, in a process for each owner of files (symbol/symbolizer/symbolizers.h).
 *
 * Never a wrong name: an address outside any symbol has none; a file whose build id (or inode) is
 * not that of the mapping is not used.
 *
 * This process opens the files; a sandbox parses them (symbol/symbolizer/naming_service.h), and
 * what it says is checked. A file on which it fails, or which takes it too long, has no names and
 * is counted.
 */
#ifndef LIB_SYMBOL_NAMING_H
#define LIB_SYMBOL_NAMING_H

#include <stddef.h>

#include "mapping.h"
#include "symbol/file/kept_code.h"
#include "trace/event.h"

struct naming;

/* Best early: see sandbox_start(). */
int naming_create(struct naming **out);
void naming_free(struct naming **naming);

/* The sandbox; 0: none runs. */
u32 naming_pid(const struct naming *naming);

struct naming_id {
	u32 bytes; /* 0: none */
	u8 build_id[TRACE_BUILD_ID_MAX];
};

/* Code was met: its file is kept open from here on, or what a runtime says of the code it
 * generates. *id: the build id of the file itself where the record has none. -ENOENT: there is no
 * such file where `open` looks. */
int naming_learn(struct naming *naming, const struct mapping_record *record, kept_code_opener open,
		 struct naming_id *id);

/* Symbols of one mapping. */
struct naming_query {
	u32 number;
	const struct mapping_record *record; /* with its build id; NULL: the kernel */
	kept_code_opener open;
	int kallsyms, modules; /* the kernel's; negative: not to be had */
	const u64 *addresses;  /* ascending; user code: file offsets */
	u32 count;
	int (*each)(void *arg, const struct trace_symbol *symbol);
	void *arg;
};

/* Calls each() for the symbols that cover an address, each once, ascending; stops at its first
 * non-zero return and returns it. A mapping without symbols is no error. -ENOENT: its file was not
 * found. */
int naming_symbols(struct naming *naming, const struct naming_query *query);

/* Files on which the sandbox failed, since the last call. */
u64 naming_failures(struct naming *naming);

#endif
