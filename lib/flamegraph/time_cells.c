/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The length of a recording is known at its end only. Buckets therefore begin with a width of one
 * microsecond, and each two become one whenever there are too many: log2(duration) times in all,
 * which is cheaper each time than counting the events. Events come in the order of time, so keys
 * are needed for the newest bucket only, and the hash table stays as small as one bucket.
 */
#include "time_cells.h"

#include <errno.h>
#include <stdlib.h>

#define SHIFT_MIN 10U

void time_cells_begin(struct time_cells *cells)
{
	*cells = (struct time_cells){.cells = INTERN(struct time_cell), .shift = SHIFT_MIN};
}

void time_cells_clear(struct time_cells *cells)
{
	intern_clear(&cells->cells);
	free(cells->joined);
	cells->joined = NULL;
}

static struct intern_key key_of(const struct time_cell *what)
{
	return (struct intern_key){{(u64)what->user << 32 | what->kernel, what->thread,
				    (u64)what->source << 16 | what->cpu}};
}

void time_cells_expect(const struct time_cells *cells, const struct time_cell *what, u32 step)
{
	const struct intern_key key = key_of(what);

	intern_expect(&cells->cells, &key, step);
}

/* The event as far as cells still tell it apart. */
static struct time_cell told_apart(const struct time_cells *cells, const struct time_cell *what)
{
	struct time_cell told = *what;

	if (cells->joins_cpus)
		told.cpu = CPUS_JOINED;
	if (what->thread < cells->joined_count)
		told.thread = cells->joined[what->thread];
	return told;
}

static int add_to_bucket(struct time_cells *cells, u32 bucket, const struct time_cell *event)
{
	const struct time_cell told = told_apart(cells, event), *what = &told;
	const struct intern_key key = key_of(what);
	struct time_cell *cell;

	if (bucket != cells->bucket)
		intern_forget_keys(&cells->cells);
	cells->bucket = bucket;
	cell = intern_entry(&cells->cells, &key);
	if (!cell)
		return -ENOMEM;
	cell->user = what->user;
	cell->kernel = what->kernel;
	cell->stack = what->stack;
	cell->thread = what->thread;
	cell->source = what->source;
	cell->cpu = what->cpu;
	cell->bucket = bucket;
	cell->count += what->count;
	cell->value += what->value;
	return 0;
}

int time_cells_rebuild(struct time_cells *cells, u32 shift)
{
	struct time_cells wide = *cells;
	int err = 0;

	wide.cells = INTERN(struct time_cell);
	wide.bucket = 0;
	wide.shift = shift;
	for (u32 i = 0; i < cells->cells.count && !err; i++) {
		const struct time_cell *cell = time_cells_at(cells, i);

		err = add_to_bucket(&wide, cell->bucket >> (shift - cells->shift), cell);
	}
	intern_clear(err ? &wide.cells : &cells->cells);
	if (!err)
		*cells = wide;
	return err;
}

int time_cells_widen(struct time_cells *cells, u32 shift)
{
	return shift > cells->shift ? time_cells_rebuild(cells, shift) : 0;
}

static bool is_too_fine(const struct time_cells *cells, u64 bucket)
{
	u32 count = cells->cells.count;

	return bucket >= CELL_BUCKETS_MAX ||
	       (count >= CELLS_MANY && bucket >= 2 * CELL_BUCKETS_MIN);
}

int time_cells_add(struct time_cells *cells, u64 time, const struct time_cell *what)
{
	u64 since;
	int err = 0;

	if (!cells->cells.count)
		cells->origin = time;
	since = time - cells->origin;
	while (!err && is_too_fine(cells, since >> cells->shift))
		err = time_cells_widen(cells, cells->shift + 1);
	return err ?: add_to_bucket(cells, (u32)(since >> cells->shift), what);
}
