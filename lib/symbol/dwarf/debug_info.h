/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The debug information of one ELF file: the functions that a place of its code belongs to, inlined
 * functions included, and their lines of source. The file may hold any bytes: a damaged file gives
 * an error, or those parts that make sense. Call in a sandbox only
 * (symbol/debuginfo/debug_service.h).
 */
#ifndef LIB_SYMBOL_DEBUG_INFO_H
#define LIB_SYMBOL_DEBUG_INFO_H

#include "dwarf_argument.h"
#include "symbol/elf/code_place.h"
#include "symbol/elf/elf_layout.h"
#include "symbol/table/symbol_table.h"

/* Descriptors of the files; -1 = the file is missing. */
struct debug_files {
	int code;   /* the mapped file, for its segments and symbols */
	int debug;  /* the debug file that was split off */
	int shared; /* the file of .gnu_debugaltlink, made by dwz */
	/* Segments of the mapped file if `code` is -1; may be NULL. */
	const struct elf_segments *layout;
	/* Called when libdw gets no memory; if it is NULL, libdw ends the process. */
	void (*no_memory)(void) __attribute__((noreturn));
};

/* Opens the debug information. The caller has compared the build ids of the files. `stext` 0:
 * places are file offsets; else places are addresses of a kernel whose _stext has this address.
 * -ENOEXEC: not ELF files; -ENODATA: no symbol _stext; -ENOMEM. */
struct debug_info;
int debug_info_open(const struct debug_files *files, u64 stext, struct debug_info **out);
void debug_info_close(struct debug_info **info);

/* True if debug information exists and part of it cannot be read. */
bool debug_info_is_damaged(const struct debug_info *info);

/* True if debug information is in separate files (-gsplit-dwarf), which are not read. */
bool debug_info_is_split(const struct debug_info *info);

/* Calls each() once for each of `places` (ascending), in any order, with the functions at the
 * place, the innermost first; count 0: no function is known. Texts live until each() returns. Stops
 * at the first non-zero return and returns it. -ENOMEM. */
int debug_info_find_functions(struct debug_info *info, const u64 *places, u32 count,
			      code_place_each each, void *arg);

/* Finds an argument of the function that begins at a file offset, as dwarf_argument_find() does.
 * `name`: symbol of the function; "": the symbol table of the file gives the symbol. -ENODATA also
 * if this code has no debug information. */
int debug_info_argument(struct debug_info *info, u64 place, const char *name, const char *path,
			struct dwarf_argument *out, char reason[DWARF_ARGUMENT_REASON_BYTES]);

/* Finds the symbol that covers a file offset; always false for a kernel. */
bool debug_info_symbol(const struct debug_info *info, u64 place, struct symbol *symbol);

#endif
