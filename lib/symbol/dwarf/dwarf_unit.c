/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions with code stand right below the unit (GCC) or in its namespaces (Clang); only nested
 * ones of GNU C, Ada and D stand in bodies. Of the many entries of C++ few are functions with code,
 * so the unit is looked through no further than its addresses make necessary: a step more each time
 * that nothing was found for one of them.
 *
 * What is called at a place is known by the line table for the innermost function, and for the
 * others by the call (DW_AT_call_file, DW_AT_call_line) that was inlined into them.
 */
#include "dwarf_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "inline_tree.h"
#include "symbol/elf/elf_text.h"

#define NESTING_MAX 256
#define NO_FUNCTION UINT32_MAX

enum reach { REACH_UNIT, REACH_NAMESPACES, REACH_BODIES };

struct unit {
	Dwarf_Die die;
	const struct code_ranges *text;
	const char *directory; /* of its compilation, or NULL */
	Dwarf_Die *functions;
	u32 function_count, function_room;
	struct code_ranges ranges; /* of functions, by index */
	enum reach reach;	   /* where they are from */
	struct dwarf_lines lines;
	bool has_lines;
	bool is_damaged;
	struct inline_tree inlined; /* of the function with this index */
	u32 inlined_into;
};

int dwarf_entry_ranges(Dwarf_Die *die, const struct code_ranges *text,
		       int (*each)(void *arg, u64 start, u64 end), void *arg)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int result = 0;

	while (!result && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (elf_text_holds(text, start))
			result = each(arg, start, end);
	return result ?: at < 0 ? -EBADMSG : 0;
}

static int add_range(void *arg, u64 start, u64 end)
{
	struct unit *unit = arg;

	return code_ranges_add(&unit->ranges, start, end, unit->function_count);
}

/* Most are declarations, or only ever inlined. */
static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

static int add_function(struct unit *unit, Dwarf_Die *die)
{
	u32 before = unit->ranges.count;
	int result;

	if (!has_code(die))
		return 0;
	result = dwarf_entry_ranges(die, unit->text, add_range, unit);
	unit->is_damaged |= result == -EBADMSG;
	if (result == -ENOMEM)
		return result;
	if (unit->ranges.count == before)
		return 0;
	if (array_make_room(unit->functions, unit->function_count, unit->function_room))
		return -ENOMEM;
	unit->functions[unit->function_count++] = *die;
	return 0;
}

static bool is_reached(const struct unit *unit, int tag)
{
	if (tag == DW_TAG_namespace || tag == DW_TAG_module)
		return unit->reach >= REACH_NAMESPACES;
	return unit->reach == REACH_BODIES;
}

static int add_functions(struct unit *unit, Dwarf_Die *parent, u32 depth)
{
	Dwarf_Die die;
	int more = dwarf_child(parent, &die), result = 0;

	for (; !more && !result; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			result = add_function(unit, &die);
		if (!result && is_reached(unit, tag) && depth < NESTING_MAX)
			result = add_functions(unit, &die, depth + 1);
	}
	unit->is_damaged |= more < 0;
	return result;
}

static int read_functions(struct unit *unit, enum reach reach)
{
	int result;

	code_ranges_clear(&unit->ranges);
	unit->function_count = 0;
	unit->reach = reach;
	unit->inlined_into = NO_FUNCTION;
	result = add_functions(unit, &unit->die, 0);
	code_ranges_seal(&unit->ranges);
	return result;
}

/* 1: found, 0: there is none; -ENOMEM. */
static int find_function(struct unit *unit, u64 address, u32 *index)
{
	int result = 0;

	while (!result && !code_ranges_find(&unit->ranges, address, index)) {
		if (unit->reach == REACH_BODIES)
			return 0;
		result = read_functions(unit, unit->reach + 1);
	}
	return result ?: 1;
}

/* The function and the calls inlined into it, outermost first. */
static int find_calls(struct unit *unit, u32 index, u64 address, u32 *calls)
{
	int result = 0;

	if (unit->inlined_into != index)
		result = inline_tree_begin(&unit->inlined, &unit->functions[index], unit->text);
	unit->inlined_into = result ? NO_FUNCTION : index;
	return result ?: inline_tree_find(&unit->inlined, address, calls);
}

static const char *name_of(Dwarf_Die *die)
{
	static const unsigned int names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					     DW_AT_name};
	Dwarf_Attribute attribute;

	for (u32 i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *name =
			dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));

		if (name && *name)
			return name;
	}
	return NULL;
}

static u32 number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) || value > INT32_MAX)
		return 0;
	return value;
}

/* The function that is called, and where in the outer one. An entry is dear to read, and many
 * addresses are in the same calls. */
static const struct code_place *call_place(struct unit *unit, u32 call)
{
	struct inline_part *part = &unit->inlined.parts[call];

	if (part->is_named)
		return &part->place;
	part->is_named = true;
	part->place = (struct code_place){.function = name_of(&part->die),
					  .line = number_of(&part->die, DW_AT_call_line),
					  .base = unit->directory};
	if (unit->has_lines)
		dwarf_lines_name(&unit->lines, number_of(&part->die, DW_AT_call_file),
				 &part->place);
	return &part->place;
}

static struct code_place row_place(const struct unit *unit, const struct dwarf_row *row)
{
	struct code_place place = {.base = unit->directory};

	if (row->found) {
		place.line = row->line;
		dwarf_lines_name(&unit->lines, row->file, &place);
	}
	return place;
}

/* The functions there: their number, or -ENOMEM. */
static int find_places(struct unit *unit, u64 address, const struct dwarf_row *row,
		       struct code_place *places)
{
	struct code_place at = row_place(unit, row);
	u32 calls[CODE_PLACES_MAX], index;
	int count = find_function(unit, address, &index);

	if (count > 0)
		count = find_calls(unit, index, address, calls);
	for (int i = 0; i < count; i++) {
		const struct code_place *call = call_place(unit, calls[count - 1 - i]);

		places[i] = at;
		places[i].function = call->function;
		places[i].inlined = i + 1 < count;
		at = *call;
	}
	return count;
}

static int find_all(struct unit *unit, const struct dwarf_row *rows, const u64 *addresses,
		    u32 count, code_place_each each, void *arg)
{
	struct code_place places[CODE_PLACES_MAX];
	int found, result = 0;

	for (u32 i = 0; i < count && !result; i++) {
		found = find_places(unit, addresses[i], &rows[i], places);
		result = found < 0 ? found : each(arg, i, places, found);
	}
	return result;
}

/* Without a line table it has functions all the same. */
static int read_lines(struct unit *unit, const struct dwarf_line_sections *sections)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	int result;

	if (dwarf_formudata(dwarf_attr(&unit->die, DW_AT_stmt_list, &attribute), &offset))
		return 0;
	result = dwarf_lines_read(sections, offset, &unit->lines);
	unit->has_lines = !result;
	unit->is_damaged |= result == -ENODATA;
	return result == -ENODATA ? 0 : result;
}

static int read_unit(struct unit *unit, const struct dwarf_line_sections *sections)
{
	Dwarf_Attribute attribute;

	unit->directory = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
	return read_functions(unit, REACH_UNIT) ?: read_lines(unit, sections);
}

int dwarf_unit_find(const Dwarf_Die *die, const struct code_ranges *text,
		    const struct dwarf_line_sections *sections, const u64 *addresses, u32 count,
		    code_place_each each, void *arg, bool *is_damaged)
{
	struct unit unit = {.die = *die, .text = text, .inlined_into = NO_FUNCTION};
	struct dwarf_row *rows = calloc(count, sizeof(*rows));
	int result = rows ? read_unit(&unit, sections) : -ENOMEM;

	if (!result && unit.has_lines)
		dwarf_lines_find(&unit.lines, text, addresses, count, rows);
	result = result ?: find_all(&unit, rows, addresses, count, each, arg);
	*is_damaged |= unit.is_damaged || unit.inlined.is_damaged;
	code_ranges_clear(&unit.ranges);
	inline_tree_clear(&unit.inlined);
	dwarf_lines_clear(&unit.lines);
	free(unit.functions);
	free(rows);
	return result;
}
