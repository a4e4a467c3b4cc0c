/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for the frames of a recording, and build ids of the files that they are in, taken on the
 * machine where it is made: kernel and modules from kallsyms, user code from .symtab and .dynsym of
 * the mapped file, the vdso from this process's own.
 *
 * Never a wrong name: an address outside any symbol has none; a file whose build id (or inode) is
 * not that of the mapping is not used.
 *
 * This process opens the files; a sandbox parses them (symbol/naming_service.h), and what it says
 * is checked. A file on which it fails, or which takes it too long, has no names and is counted.
 */
#ifndef LIB_SYMBOL_NAMING_H
#define LIB_SYMBOL_NAMING_H

#include <stddef.h>

#include "kernel_files.h"
#include "mapping.h"
#include "trace/event.h"

struct naming;

/* Best early: see sandbox_start(). The kernel's files are opened here. */
int naming_create(struct naming **out);
void naming_free(struct naming **naming);

const struct kernel_files *naming_kernel_files(const struct naming *naming);

/* The sandbox; 0: none runs. */
u32 naming_pid(const struct naming *naming);

/* mapped_file_identify(), and the build id of the file itself where the record has none. What a
 * runtime says of the code it generates is kept open from here on. */
void naming_identify(struct naming *naming, u32 number, const struct mapping_record *record,
		     struct trace_mapping *mapping, char *path, size_t path_bytes);

/* Symbols of one mapping; kernel: number 0, no record. */
struct naming_query {
	u32 number;
	const struct mapping_record *record;
	const u64 *addresses; /* ascending; user code: file offsets */
	u32 count;
	int (*each)(void *arg, const struct trace_symbol *symbol);
	void *arg;
};

/* Calls each() for the symbols that cover an address, each once, ascending; stops at its first
 * non-zero return and returns it. A mapping without symbols is no error. */
int naming_symbols(struct naming *naming, const struct naming_query *query);

/* Files on which the sandbox failed, since the last call. */
u64 naming_failures(struct naming *naming);

#endif
