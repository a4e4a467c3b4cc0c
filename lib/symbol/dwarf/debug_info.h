/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The debug information of one ELF file: which functions a place of its code belongs to, those
 * inlined there included, and their lines of source. Any bytes may be given; damaged ones give an
 * error, or what is sound of them. It parses: in a sandbox only (symbol/debuginfo/debug_service.h).
 */
#ifndef LIB_SYMBOL_DEBUG_INFO_H
#define LIB_SYMBOL_DEBUG_INFO_H

#include "symbol/elf/code_place.h"
#include "symbol/elf/elf_segment.h"
#include "symbol/table/symbol_table.h"

/* Descriptors, -1: none. */
struct debug_files {
	int code;   /* the file that was mapped: where code lies in it; its own symbols */
	int debug;  /* what was taken off it; -1: nothing was */
	int shared; /* what dwz moved to a file of its own */
	const struct elf_segments *layout; /* where code lies if `code` is -1; or NULL */
	/* Called when libdw gets no memory; NULL: libdw ends the process. */
	void (*no_memory)(void) __attribute__((noreturn));
};

/* The build ids are those of one program: nothing here compares them. `stext` 0: places are file
 * offsets; else addresses in a kernel that has its _stext there. -ENOEXEC: the files are none,
 * -ENODATA: they say nothing of code, -ENOMEM. */
struct debug_info;
int debug_info_open(const struct debug_files *files, u64 stext, struct debug_info **out);
void debug_info_close(struct debug_info **info);

/* There is debug information, and not all of it can be read. */
bool debug_info_is_damaged(const struct debug_info *info);

/* Some of it is in files of its own (-gsplit-dwarf), which are not read. */
bool debug_info_is_split(const struct debug_info *info);

/* Calls each() for every place of `places` (ascending) once, in any order, with the functions
 * there, innermost first; none if nothing is known. Texts live until it returns. Stops at the first
 * non-zero return and returns it. -ENOMEM. */
int debug_info_find(struct debug_info *info, const u64 *places, u32 count, code_place_each each,
		    void *arg);

/* The symbol there, by file offset; the kernel has none here. */
bool debug_info_symbol(const struct debug_info *info, u64 place, struct symbol *symbol);

#endif
