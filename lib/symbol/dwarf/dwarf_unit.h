/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of one compilation unit, and the functions inlined into them, by the addresses of
 * the DWARF. The file may hold any bytes: entries that make no sense are left out.
 */
#ifndef LIB_SYMBOL_DWARF_UNIT_H
#define LIB_SYMBOL_DWARF_UNIT_H

#include <elfutils/libdw.h>

#include "dwarf_lines.h"
#include "symbol/elf/code_place.h"
#include "symbol/table/code_ranges.h"

/* Calls each(arg, start, end) for the ranges of an entry that begin in code; `text`:
 * elf_text_read(). Stops at the first non-zero return and returns it. -EBADMSG: the ranges are
 * damaged. */
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
