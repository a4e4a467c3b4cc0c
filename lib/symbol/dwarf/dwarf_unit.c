/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of functions with code are children of the unit (GCC) or of its namespaces (Clang); only
 * nested functions of GNU C, Ada and D are in bodies. A unit of C++ has many entries, and few of
 * them are functions with code. The children of the unit are therefore searched first; each time an
 * address is not found, the search reaches one step further.
 *
 * The line of the innermost function comes from the line table. The line of an outer function is
 * that of the call that was inlined into it (DW_AT_call_file, DW_AT_call_line).
 */
#include "dwarf_unit.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "symbol/elf/code_place.h"
#include "symbol/elf/elf_layout.h"
#include "symbol/table/code_ranges.h"

/*
 * The calls inlined into one function: a tree of blocks and inlined calls with their address
 * ranges. Children of a part are read when an address first leads into the part. Reading an entry
 * is expensive, and addresses come in ascending order, many of one function, so parts are kept.
 *
 * Compilers let blocks overlap. All paths from the function whose parts cover the address are
 * therefore followed, and the path with the most calls counts.
 */

struct inline_part {
	Dwarf_Die die;
	struct code_place place; /* name of the function and place of the call, once `is_named` */
	u32 first_range, range_count;
	u32 first_child, child_count; /* indexes of the children among the parts, once `is_read` */
	bool is_call;		      /* an inlined call; false = a block */
	bool is_read;
	bool is_named;
};

struct inline_tree {
	const struct code_ranges *text; /* ranges of code of the file, by elf_text_read() */
	/* The first part is the function; children of one part are neighbours. */
	struct inline_part *parts;
	u32 part_count, part_room;
	struct inline_range {
		u64 start, end;
	} * ranges;
	u32 range_count, range_room;
	bool is_damaged; /* part of a function could not be read */
};

#define NESTING_MAX 256
#define PARTS_MAX (1U << 22)
#define RANGES_MAX (1U << 24)

/* The state of a search for the path with the most calls. */
struct descent {
	struct inline_tree *tree;
	u64 address;
	u32 depth, best_depth;
	u32 path[CODE_PLACES_MAX]; /* indexes of the inlined calls so far, outermost first */
	u32 *best;		   /* indexes of the calls on the longest path found */
};

static int add_inlined_range(void *arg, u64 start, u64 end)
{
	struct inline_tree *tree = arg;

	if (tree->range_count == RANGES_MAX ||
	    array_make_room(tree->ranges, tree->range_count, tree->range_room))
		return -ENOMEM;
	tree->ranges[tree->range_count++] = (struct inline_range){start, end};
	return 0;
}

static int add_inlined_call_or_block(struct inline_tree *tree, Dwarf_Die *die, bool is_call)
{
	struct inline_part part = {
		.die = *die, .is_call = is_call, .first_range = tree->range_count};
	int result;

	result = dwarf_entry_ranges(die, tree->text, add_inlined_range, tree);
	tree->is_damaged |= result == -EBADMSG;
	if (result == -ENOMEM || tree->part_count == PARTS_MAX ||
	    array_make_room(tree->parts, tree->part_count, tree->part_room))
		return -ENOMEM;
	part.range_count = tree->range_count - part.first_range;
	tree->parts[tree->part_count++] = part;
	return 0;
}

static int read_child_calls_of_inlined_part(struct inline_tree *tree, u32 parent)
{
	Dwarf_Die die;
	int more = dwarf_child(&tree->parts[parent].die, &die), result = 0;

	tree->parts[parent].is_read = true;
	tree->parts[parent].first_child = tree->part_count;
	for (; !more && !result; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
		    tag == DW_TAG_try_block || tag == DW_TAG_catch_block)
			result = add_inlined_call_or_block(tree, &die,
							   tag == DW_TAG_inlined_subroutine);
	}
	tree->is_damaged |= more < 0;
	tree->parts[parent].child_count = tree->part_count - tree->parts[parent].first_child;
	return result;
}

static bool is_address_in_part(const struct inline_tree *tree, const struct inline_part *part,
			       u64 address)
{
	const struct inline_range *range = &tree->ranges[part->first_range];

	for (u32 i = 0; i < part->range_count; i++)
		if (address >= range[i].start && address < range[i].end)
			return true;
	return false;
}

static void keep_longest_call_chain(struct descent *descent)
{
	if (descent->depth <= descent->best_depth)
		return;
	descent->best_depth = descent->depth;
	memcpy(descent->best, descent->path, descent->depth * sizeof(*descent->best));
}

static int find_call_chain(struct descent *descent, u32 parent, u32 nesting)
{
	struct inline_tree *tree = descent->tree;
	int result =
		tree->parts[parent].is_read ? 0 : read_child_calls_of_inlined_part(tree, parent);
	u32 child = tree->parts[parent].first_child, end = child + tree->parts[parent].child_count;

	for (; child < end && !result && nesting < NESTING_MAX; child++) {
		bool is_call = tree->parts[child].is_call;

		if (!is_address_in_part(tree, &tree->parts[child], descent->address) ||
		    descent->depth == CODE_PLACES_MAX)
			continue;
		descent->path[descent->depth] = child;
		descent->depth += is_call;
		keep_longest_call_chain(descent);
		result = find_call_chain(descent, child, nesting + 1);
		descent->depth -= is_call;
	}
	return result;
}

#define NO_FUNCTION UINT32_MAX

enum reach { REACH_UNIT, REACH_NAMESPACES, REACH_BODIES };

struct unit {
	Dwarf_Die die;
	const struct code_ranges *text;
	const char *directory; /* DW_AT_comp_dir, or NULL */
	Dwarf_Die *functions;
	u32 function_count, function_room;
	/* Address ranges of functions; the value is the index of the function. */
	struct code_ranges ranges;
	enum reach reach; /* which entries have been searched for functions */
	struct dwarf_lines lines;
	bool has_lines;
	bool is_damaged;
	/* The calls inlined into the function with the number inlined_into. */
	struct inline_tree inlined;
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

static int add_function_range(void *arg, u64 start, u64 end)
{
	struct unit *unit = arg;

	return code_ranges_add(&unit->ranges, start, end, unit->function_count);
}

static int add_function(struct unit *unit, Dwarf_Die *die)
{
	u32 before = unit->ranges.count;
	int result;

	/* Most entries of functions in a unit are declarations, or functions that are only
	 * inlined. */
	if (!dwarf_hasattr(die, DW_AT_low_pc) && !dwarf_hasattr(die, DW_AT_ranges))
		return 0;
	result = dwarf_entry_ranges(die, unit->text, add_function_range, unit);
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

static int add_functions(struct unit *unit, Dwarf_Die *parent, u32 depth)
{
	Dwarf_Die die;
	int more = dwarf_child(parent, &die), result = 0;

	for (; !more && !result; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		bool is_namespace = tag == DW_TAG_namespace || tag == DW_TAG_module;
		bool is_reached = unit->reach >= (is_namespace ? REACH_NAMESPACES : REACH_BODIES);

		if (tag == DW_TAG_subprogram)
			result = add_function(unit, &die);
		if (!result && is_reached && depth < NESTING_MAX)
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

/* Returns 1 if a function covers the address, 0 if none does; -ENOMEM. */
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

/* Finds the function and the calls inlined into it that cover the address, outermost first, as
 * indexes of parts. Returns their number, or -ENOMEM. */
static int find_inlined_calls(struct unit *unit, u32 index, u64 address, u32 *calls)
{
	struct inline_tree *tree = &unit->inlined;
	struct descent descent = {.tree = tree, .address = address, .depth = 1, .best = calls};
	Dwarf_Die function = unit->functions[index];
	int result = 0;

	if (unit->inlined_into != index) {
		tree->text = unit->text;
		tree->part_count = tree->range_count = 0;
		result = add_inlined_call_or_block(tree, &function, true);
	}
	unit->inlined_into = result ? NO_FUNCTION : index;
	if (result)
		return result;
	keep_longest_call_chain(&descent);
	result = find_call_chain(&descent, 0, 0);
	return result ?: (int)descent.best_depth;
}

static const char *linkage_name(Dwarf_Die *die)
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

static u32 read_attribute_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) || value > INT32_MAX)
		return 0;
	return value;
}

/* The called function of an inlined call, and the line of the call in the outer function. The
 * result is kept, as reading an entry is expensive, and many addresses are in the same calls. */
static const struct code_place *find_function_and_line_of_inlined_call(struct unit *unit, u32 call)
{
	struct inline_part *part = &unit->inlined.parts[call];

	if (part->is_named)
		return &part->place;
	part->is_named = true;
	part->place =
		(struct code_place){.function = linkage_name(&part->die),
				    .line = read_attribute_number(&part->die, DW_AT_call_line),
				    .base = unit->directory};
	if (unit->has_lines)
		dwarf_lines_set_file_of_place(&unit->lines,
					      read_attribute_number(&part->die, DW_AT_call_file),
					      &part->place);
	return &part->place;
}

/* Finds the functions at an address, innermost first. Returns their number, or -ENOMEM. */
static int find_functions_at_address(struct unit *unit, u64 address, const struct dwarf_row *row,
				     struct code_place *places)
{
	struct code_place at = {.base = unit->directory};
	u32 calls[CODE_PLACES_MAX], index;
	int count = find_function(unit, address, &index);

	if (row->found) {
		at.line = row->line;
		dwarf_lines_set_file_of_place(&unit->lines, row->file, &at);
	}
	if (count > 0)
		count = find_inlined_calls(unit, index, address, calls);
	for (int i = 0; i < count; i++) {
		const struct code_place *call =
			find_function_and_line_of_inlined_call(unit, calls[count - 1 - i]);

		places[i] = at;
		places[i].function = call->function;
		places[i].inlined = i + 1 < count;
		at = *call;
	}
	return count;
}

/* Reads the unit's line table. A unit whose table makes no sense still gives functions. */
static int read_line_table(struct unit *unit, const struct dwarf_line_sections *sections)
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

int dwarf_unit_find(const Dwarf_Die *die, const struct code_ranges *text,
		    const struct dwarf_line_sections *sections, const u64 *addresses, u32 count,
		    code_place_each each, void *arg, bool *is_damaged)
{
	struct unit unit = {.die = *die, .text = text, .inlined_into = NO_FUNCTION};
	struct dwarf_row *rows = calloc(count, sizeof(*rows));
	struct code_place places[CODE_PLACES_MAX];
	Dwarf_Attribute attribute;
	int result = rows ? 0 : -ENOMEM;

	unit.directory = dwarf_formstring(dwarf_attr(&unit.die, DW_AT_comp_dir, &attribute));
	result = result ?: read_functions(&unit, REACH_UNIT) ?: read_line_table(&unit, sections);
	if (!result && unit.has_lines)
		dwarf_lines_find(&unit.lines, text, addresses, count, rows);
	for (u32 i = 0; i < count && !result; i++) {
		int found = find_functions_at_address(&unit, addresses[i], &rows[i], places);

		result = found < 0 ? found : each(arg, i, places, found);
	}
	*is_damaged |= unit.is_damaged || unit.inlined.is_damaged;
	code_ranges_clear(&unit.ranges);
	free(unit.inlined.parts);
	free(unit.inlined.ranges);
	dwarf_lines_clear(&unit.lines);
	free(unit.functions);
	free(rows);
	return result;
}
