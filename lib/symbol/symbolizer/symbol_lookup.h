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
 * This process opens the files; a sandbox parses them (symbol/symbolizer/symbol_service.h), and
 * what it says is checked. A file on which it fails, or which takes it too long, has no names and
 * is counted.
 */
#ifndef LIB_SYMBOL_LOOKUP_H
#define LIB_SYMBOL_LOOKUP_H

#include <stdbool.h>

#include "mapping.h"
#include "symbol/file/kept_code.h"
#include "symbol/unwind/code_rows.h"
#include "trace/event.h"

struct symbol_lookup;

/* Best early: see sandbox_start(), which takes `parts`. */
int symbol_lookup_create(u32 parts, struct symbol_lookup **out);
void symbol_lookup_free(struct symbol_lookup **lookup);

/* The sandbox; 0: none runs. */
u32 symbol_lookup_pid(const struct symbol_lookup *lookup);

struct build_id {
	u32 bytes; /* 0: none */
	u8 build_id[TRACE_BUILD_ID_MAX];
};

/* Code was met: its file is kept open from here on, or what a runtime says of the code it
 * generates. *id: the build id of the file itself where the record has none. -ENOENT: there is no
 * such file where `open` looks. */
int symbol_lookup_learn(struct symbol_lookup *lookup, const struct mapping_record *record,
			kept_code_opener open, struct build_id *id);

/* The file of a mapping, unchanged, for the caller to close; or -ENOENT. */
int symbol_lookup_open(struct symbol_lookup *lookup, const struct mapping_record *record,
		       kept_code_opener open);

/* What the unwind tables of a mapped file say, checked: sound rows, of the file that the record
 * means, as it was before and after it was read; with the rows of code that no table covers, if
 * that is to be analysed. A file whose rows are partial is kept open for its analysis. -ENOENT: the
 * file was not found; -errno. The caller clears *rows in any case. */
int symbol_lookup_rows(struct symbol_lookup *lookup, const struct mapping_record *record,
		       kept_code_opener open, bool is_analysed, struct code_rows *rows);

/* Symbols of one mapping. */
struct symbol_query {
	u32 number;
	const struct mapping_record *record; /* with its build id; NULL: the kernel */
	kept_code_opener open;
	int kallsyms, modules; /* the kernel's; negative: not to be had */
	const u64 *addresses;  /* ascending; user code: file offsets */
	u32 count;
	int (*each)(void *arg, const struct trace_symbol *symbol, bool is_alone);
	void *arg;
};

/* Calls each() for the symbols that cover an address, each once, ascending, and says whether a
 * symbol is alone: all addresses in it are its own. Stops at the first
 * non-zero return and returns it. A mapping without symbols is no error. -ENOENT: its file was not
 * found. */
int symbol_lookup_find(struct symbol_lookup *lookup, const struct symbol_query *query);

/* Files on which the sandbox failed, since the last call. */
u64 symbol_lookup_failures(struct symbol_lookup *lookup);

#endif
