/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line program of DWARF 5, section 6.2: a state machine whose special opcodes, one byte each,
 * advance address and line together and make a row. A row covers the addresses up to the next one
 * of its sequence. Of rows with one address the last one covers it.
 *
 * A sequence that does not begin in code is of functions that the linker has thrown away.
 */
#include "dwarf_lines.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>

#include "bisect.h"
#include "dwarf_cursor.h"
#include "symbol/elf/elf_text.h"

struct scan {
	const struct dwarf_lines *lines;
	const struct code_ranges *text;
	struct dwarf_cursor cursor;
	const u64 *addresses;
	u32 count;
	struct dwarf_row *rows;
	/* The registers of the machine. */
	u64 address, file;
	u32 line;
	/* The row before, if `in_sequence`. */
	bool in_sequence;
	bool is_kept; /* by the linker */
	u64 last_address, last_file;
	u32 last_line;
	u32 next; /* the first address that is not below last_address */
};

static void begin_sequence(struct scan *scan)
{
	scan->address = 0;
	scan->file = 1;
	scan->line = 1;
	scan->in_sequence = false;
}

/* The first of the addresses that is not below this one. */
static u32 lower_bound(const struct scan *scan, u64 address)
{
	return bisect(scan->count, i, scan->addresses[i] < address);
}

static void cover(struct scan *scan)
{
	for (; scan->next < scan->count && scan->addresses[scan->next] < scan->address;
	     scan->next++) {
		struct dwarf_row *row = &scan->rows[scan->next];

		if (!row->found && scan->is_kept)
			*row = (struct dwarf_row){
				.file = scan->last_file, .line = scan->last_line, .found = true};
	}
}

static void add_row(struct scan *scan)
{
	if (!scan->in_sequence)
		scan->is_kept = elf_text_holds(scan->text, scan->address);
	if (scan->in_sequence && scan->address >= scan->last_address)
		cover(scan);
	else
		scan->next = lower_bound(scan, scan->address);
	scan->in_sequence = true;
	scan->last_address = scan->address;
	scan->last_file = scan->file;
	scan->last_line = scan->line;
}

static void advance(struct scan *scan, u64 operations)
{
	scan->address += operations * scan->lines->instruction_bytes;
}

static void run_special(struct scan *scan, u8 opcode)
{
	const struct dwarf_lines *lines = scan->lines;
	u8 adjusted = opcode - lines->first_special;

	advance(scan, adjusted / lines->line_range);
	scan->line += lines->line_base + adjusted % lines->line_range;
	add_row(scan);
}

static void run_extended(struct scan *scan)
{
	struct dwarf_cursor *cursor = &scan->cursor;
	u64 bytes = cursor_unsigned(cursor);
	const u8 *end = cursor->at + bytes;

	if (!bytes || !cursor_has(cursor, bytes))
		return;
	switch (*cursor->at++) {
	case DW_LNE_end_sequence:
		add_row(scan);
		begin_sequence(scan);
		break;
	case DW_LNE_set_address:
		scan->address = cursor_number(cursor, bytes - 1);
		break;
	}
	cursor->at = end;
}

static void skip_operands(struct scan *scan, u8 opcode)
{
	for (u32 i = 0; i < scan->lines->operands[opcode]; i++)
		cursor_unsigned(&scan->cursor);
}

static void run_standard(struct scan *scan, u8 opcode)
{
	struct dwarf_cursor *cursor = &scan->cursor;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(scan);
		break;
	case DW_LNS_advance_pc:
		advance(scan, cursor_unsigned(cursor));
		break;
	case DW_LNS_advance_line:
		scan->line += cursor_signed(cursor);
		break;
	case DW_LNS_set_file:
		scan->file = cursor_unsigned(cursor);
		break;
	case DW_LNS_const_add_pc:
		advance(scan, (255 - scan->lines->first_special) / scan->lines->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		scan->address += cursor_number(cursor, 2);
		break;
	default:
		skip_operands(scan, opcode);
	}
}

void dwarf_lines_find(const struct dwarf_lines *lines, const struct code_ranges *text,
		      const u64 *addresses, u32 count, struct dwarf_row *rows)
{
	struct scan scan = {.lines = lines,
			    .text = text,
			    .cursor = {.at = lines->program, .end = lines->end},
			    .addresses = addresses,
			    .count = count,
			    .rows = rows};

	begin_sequence(&scan);
	while (scan.cursor.at < scan.cursor.end) {
		u8 opcode = *scan.cursor.at++;

		if (opcode >= lines->first_special)
			run_special(&scan, opcode);
		else if (opcode)
			run_standard(&scan, opcode);
		else
			run_extended(&scan);
	}
}

void dwarf_lines_name(const struct dwarf_lines *lines, u64 file, struct code_place *place)
{
	const struct dwarf_file *found;

	if (file < lines->first_file || file - lines->first_file >= lines->file_count)
		return;
	found = &lines->files[file - lines->first_file];
	place->file = found->name;
	if (found->directory < lines->directory_count)
		place->directory = lines->directories[found->directory];
}

void dwarf_lines_clear(struct dwarf_lines *lines)
{
	free(lines->files);
	free(lines->directories);
	*lines = (struct dwarf_lines){};
}
