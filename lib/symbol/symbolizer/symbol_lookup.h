/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for the frames of a recording, and build ids of their files, on the machine that records:
 * kernel and modules by kallsyms, user code by .symtab and .dynsym of the mapped file, the vdso by
 * that of this process. A lookup may block on any file, so it runs beside the recorder, in a
 * process for each owner of files (symbol/symbolizer/symbolizers.h).
 *
 * No name is wrong: an address outside all symbols has no name, and a file counts only if build id
 * and inode are those of the mapping.
 *
 * This process opens the files; a sandbox parses them (symbol/symbolizer/symbol_service.h), and
 * this process checks the answers. A file on which the sandbox fails or takes too long gives no
 * names and is counted.
 */
#ifndef LIB_SYMBOL_LOOKUP_H
#define LIB_SYMBOL_LOOKUP_H

#include <stdbool.h>

#include "mapping.h"
#include "symbol/elf/thread_variable.h"
#include "symbol/file/kept_code.h"
#include "symbol/unwind/code_rows.h"
#include "trace/event.h"

struct symbol_lookup;

/* Creates a lookup and its sandbox. Best called early: see sandbox_start(), which takes `parts`. */
int symbol_lookup_create(u32 parts, struct symbol_lookup **out);
void symbol_lookup_free(struct symbol_lookup **lookup);

/* The process id of the sandbox; 0: not running. */
u32 symbol_lookup_sandbox_pid(const struct symbol_lookup *lookup);

struct build_id {
	u32 bytes; /* length of the build id; 0 = none known */
	u8 build_id[TRACE_BUILD_ID_MAX];
};

/* Keeps the file of a mapping open, or the files of a runtime for generated code. Sets *id to the
 * build id in the file if the record has none. 0, or -ENOENT: `open` does not find the file. */
int symbol_lookup_identify(struct symbol_lookup *lookup, const struct mapping_record *record,
			   kept_code_opener open, struct build_id *id);

/* Opens the unchanged file of a mapping, for the caller to close; or -ENOENT. */
int symbol_lookup_open_file(struct symbol_lookup *lookup, const struct mapping_record *record,
			    kept_code_opener open);

/* Reads the unwind tables of a mapped file, and with `is_analysed` the code that no table covers,
 * as checked rows. The file is that of the record before and after reading. `code`: the open file,
 * or -1: the file is opened by its record, and kept open. 0; -ENOENT: not found; -errno. The caller
 * clears *rows in any case. */
int symbol_lookup_read_unwind_rows(struct symbol_lookup *lookup,
				   const struct mapping_record *record, kept_code_opener open,
				   int code, bool is_analysed, struct code_rows *rows);

/* Finds a file's thread-local variable in which threads publish their trace and span
 * (abi/thread_context.h). 0, also if the file has no such variable; or -errno. */
int symbol_lookup_thread_variable(struct symbol_lookup *lookup, int file,
				  struct thread_variable *variable);

/* The number of files that symbols of the kernel are read from: kallsyms and modules, and copies of
 * both (kernel_image.h). */
#define KERNEL_SYMBOL_FILES 4

/* A query for symbols of one mapping. */
struct symbol_query {
	u32 number; /* number of the mapping */
	/* Record of the mapping, with its build id; NULL = the kernel. */
	const struct mapping_record *record;
	kept_code_opener open;
	const int *kernel_files; /* KERNEL_SYMBOL_FILES descriptors, for the kernel only; -1 = the
				    file cannot be opened, or is not there */
	const u64 *addresses; /* the addresses to symbolize, ascending; in user code they are file
				 offsets */
	u32 count;
	int (*each)(void *arg, const struct trace_symbol *symbol, bool is_undivided);
	void *arg;
};

/* Calls query->each() once for each symbol that covers one of the addresses, ascending.
 * `is_undivided`: no other symbol covers a part of this one. Stops at the first non-zero return and
 * returns it. 0 for a mapping without symbols; -ENOENT: the mapping's file was not found. */
int symbol_lookup_find(struct symbol_lookup *lookup, const struct symbol_query *query);

/* The number of files on which the sandbox failed since the last call. */
u64 symbol_lookup_take_failures(struct symbol_lookup *lookup);

#endif
