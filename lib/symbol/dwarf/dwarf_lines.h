/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line table of a compilation unit (.debug_line, DWARF 2 to 5) gives the file and line of each
 * address. libdw makes a sorted array of all rows, which takes most of the time that names take.
 * This reader runs the line program once and keeps the rows that cover a requested address.
 *
 * The table may hold any bytes: a table that makes no sense has no lines.
 */
#ifndef LIB_SYMBOL_DWARF_LINES_H
#define LIB_SYMBOL_DWARF_LINES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "symbol/elf/code_place.h"
#include "symbol/table/code_ranges.h"

struct dwarf_bytes {
	const u8 *at;
	size_t bytes;
};

struct dwarf_line_sections {
	struct dwarf_bytes lines, line_strings, strings;
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
	u32 first_file; /* number of the first file: 0 since DWARF 5, else 1 */
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

/* Reads the header of the table at an offset in .debug_line (DW_AT_stmt_list). 0, -ENODATA: the
 * table makes no sense; -ENOMEM. */
int dwarf_lines_read(const struct dwarf_line_sections *sections, u64 offset,
		     struct dwarf_lines *lines);
void dwarf_lines_clear(struct dwarf_lines *lines);

/* Fills rows[i] for each of addresses[i] (ascending) that a row covers. `text`: elf_text_read(). */
void dwarf_lines_find(const struct dwarf_lines *lines, const struct code_ranges *text,
		      const u64 *addresses, u32 count, struct dwarf_row *rows);

/* Sets file and directory of a place by the number of the file, if the table has this number. */
void dwarf_lines_name(const struct dwarf_lines *lines, u64 file, struct code_place *place);

#endif
