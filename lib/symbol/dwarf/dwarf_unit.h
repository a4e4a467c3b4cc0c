/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of one compilation unit, the functions inlined into them, and the lines of their
 * source, by the addresses of the DWARF. The file may hold any bytes: entries that make no sense
 * are left out.
 */
#ifndef LIB_SYMBOL_DWARF_UNIT_H
#define LIB_SYMBOL_DWARF_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "symbol/elf/code_place.h"
#include "symbol/table/code_ranges.h"

/*
 * The line table of a compilation unit (.debug_line, DWARF 2 to 5) gives the file and line of each
 * address. libdw makes a sorted array of all rows, which takes most of the time that names take.
 * This reader (dwarf_lines.c) runs the line program once and keeps the rows that cover a requested
 * address. A table that makes no sense has no lines.
 */
struct dwarf_line_sections {
	const Elf_Data *lines, *line_strings, *strings; /* sections of the line table and its texts;
							   NULL: the file has no such section */
};

struct dwarf_file {
	const char *name;
	u64 directory;
};

#define DWARF_OPCODES 256

struct dwarf_lines {
	struct dwarf_file *files;
	const char **directories;
	u32 file_count, directory_count;
	u32 first_file; /* number of the first file in the table: 0 since DWARF 5, else 1 */
	const u8 *program, *end;
	u8 instruction_bytes, line_range, first_special;
	s8 line_base;
	u8 operands[DWARF_OPCODES]; /* number of operands of each standard opcode */
};

struct dwarf_row {
	u64 file;
	u32 line;
	bool found;
};

/* Call after libdw has unpacked the sections of the file. A big-endian file gives no sections. */
void dwarf_line_sections_find(Elf *elf, struct dwarf_line_sections *sections);

/* Reads the header of the line table at an offset in .debug_line (DW_AT_stmt_list). 0, -ENODATA:
 * the table makes no sense; -ENOMEM. */
int dwarf_lines_read(const struct dwarf_line_sections *sections, u64 offset,
		     struct dwarf_lines *lines);
void dwarf_lines_clear(struct dwarf_lines *lines);

/* Sets rows[i] to the row of the line table that covers addresses[i]; the addresses ascend. `text`:
 * the file's ranges of code, from elf_text_read(). */
void dwarf_lines_find(const struct dwarf_lines *lines, const struct code_ranges *text,
		      const u64 *addresses, u32 count, struct dwarf_row *rows);

/* Sets file and directory of a place by the number of the file in the line table, if the table has
 * this number. */
void dwarf_lines_set_file_of_place(const struct dwarf_lines *lines, u64 file,
				   struct code_place *place);

/* Calls each(arg, start, end) for the address ranges of an entry that begin in code; `text`: the
 * file's ranges of code, from elf_text_read(). Stops at the first non-zero return and returns it.
 * -EBADMSG: the ranges are damaged. */
int dwarf_entry_ranges(Dwarf_Die *die, const struct code_ranges *text,
		       int (*each)(void *arg, u64 start, u64 end), void *arg);

/* Calls each() for all `addresses` (ascending), with their index and the functions there: innermost
 * first, the last one not inlined; count 0: the unit has no function there. Texts live until each()
 * returns. Stops at the first non-zero return and returns it. -ENOMEM. Sets *is_damaged if part of
 * the unit cannot be read. */
int dwarf_unit_find(const Dwarf_Die *unit, const struct code_ranges *text,
		    const struct dwarf_line_sections *sections, const u64 *addresses, u32 count,
		    code_place_each each, void *arg, bool *is_damaged);

#endif
