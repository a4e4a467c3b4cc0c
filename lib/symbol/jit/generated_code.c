/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sorted starts and ends of all functions cut the memory into cells. Functions are taken from
 * the newest to the oldest, and each paints its cells; a function that meets a painted cell was
 * overwritten. A union-find over "the next cell that is not painted" skips painted cells, so all
 * functions together paint each cell once.
 */
#include "generated_code.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define NAMES_MAX (1U << 30)

void generated_code_clear(struct generated_code *code)
{
	free(code->functions);
	free(code->names);
	*code = (struct generated_code){};
}

int generated_code_add(struct generated_code *code, u64 start, u64 bytes, const char *name,
		       size_t name_bytes)
{
	u32 name_at = code->name_bytes;
	int err;

	if (!bytes || bytes > UINT64_MAX - start)
		return 0;
	if (code->count >= GENERATED_CODE_MAX || name_bytes >= NAMES_MAX - name_at)
		return -E2BIG;
	err = array_make_room(code->functions, code->count, code->capacity)
		      ?: array_make_room(code->names, name_at + name_bytes, code->name_capacity);
	if (err)
		return err;
	if (name_bytes)
		memcpy(code->names + name_at, name, name_bytes);
	code->names[name_at + name_bytes] = 0;
	code->name_bytes += name_bytes + 1;
	code->functions[code->count++] = (struct generated_function){
		.start = start,
		.end = start + bytes,
		.name = name_at,
	};
	return 0;
}

struct cells {
	u64 *border; /* the starts and ends of functions, ascending, each once */
	u32 *free; /* an unpainted cell has its own number; a painted cell has that of a later cell,
		      from which the search for an unpainted cell goes on (union-find) */
	u32 count;
};

static int compare_borders(const void *left, const void *right)
{
	const u64 *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static int cells_create_between_function_ends(struct cells *cells,
					      const struct generated_code *code)
{
	u32 borders = 2 * code->count, kept = 0;

	cells->border = reallocarray(NULL, borders, sizeof(*cells->border));
	cells->free = reallocarray(NULL, borders, sizeof(*cells->free));
	if (!cells->border || !cells->free)
		return -ENOMEM;
	for (u32 i = 0; i < code->count; i++) {
		cells->border[2 * i] = code->functions[i].start;
		cells->border[2 * i + 1] = code->functions[i].end;
	}
	qsort(cells->border, borders, sizeof(*cells->border), compare_borders);
	for (u32 i = 0; i < borders; i++)
		if (!kept || cells->border[kept - 1] != cells->border[i])
			cells->border[kept++] = cells->border[i];
	for (u32 i = 0; i < kept; i++)
		cells->free[i] = i;
	cells->count = kept;
	return 0;
}

static u32 index_of_cell_starting_at(const struct cells *cells, u64 border)
{
	const u64 *found =
		bsearch(&border, cells->border, cells->count, sizeof(border), compare_borders);

	return found - cells->border;
}

/* The first cell at or after `cell` that is not painted. The last border starts no cell, so its
 * entry always stays free. */
static u32 next_free_cell(struct cells *cells, u32 cell)
{
	while (cells->free[cell] != cell) {
		cells->free[cell] = cells->free[cells->free[cell]];
		cell = cells->free[cell];
	}
	return cell;
}

/* Paints the cells of a function; true: none of them was painted before. */
static bool assign_function_to_free_cells(struct cells *cells,
					  const struct generated_function *function)
{
	u32 first = index_of_cell_starting_at(cells, function->start),
	    end = index_of_cell_starting_at(cells, function->end);
	u32 painted = 0;

	for (u32 cell = next_free_cell(cells, first); cell < end;
	     cell = next_free_cell(cells, cell)) {
		cells->free[cell] = cell + 1;
		painted++;
	}
	return painted == end - first;
}

int generated_code_seal(const struct generated_code *code, u64 base, u64 bytes,
			struct symbol_table *table)
{
	struct cells cells = {};
	int err = code->count ? cells_create_between_function_ends(&cells, code) : 0;

	for (u32 i = code->count; i-- && !err;) {
		const struct generated_function *function = &code->functions[i];
		const char *name = code->names + function->name;

		if (!assign_function_to_free_cells(&cells, function) || !*name ||
		    function->start < base || function->end - base > bytes)
			continue;
		err = symbol_table_add(table,
				       &(struct symbol){.start = function->start - base,
							.size = function->end - function->start,
							.limit = function->end - base,
							.name = name,
							.name_bytes = strlen(name)});
	}
	free(cells.border);
	free(cells.free);
	symbol_table_seal(table);
	return err;
}
