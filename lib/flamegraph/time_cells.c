/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The length of a recording is known at its end only. Buckets therefore begin with a width of one
 * microsecond. Whenever there are too many buckets, each two buckets become one. This happens
 * log2(duration) times in all, and costs less each time than the counting of the events. Events
 * come in the order of time, so only the cells of the newest bucket must be found, and the hash
 * table stays as small as one bucket.
 */
#include "time_cells.h"

#include <errno.h>
#include <stdlib.h>

#define SHIFT_MIN 10U

void time_cells_init(struct time_cells *cells)
{
	*cells = (struct time_cells){.cells = INTERN(struct time_cell), .shift = SHIFT_MIN};
}

void time_cells_clear(struct time_cells *cells)
{
	intern_clear(&cells->cells);
	free(cells->joined);
	cells->joined = NULL;
}

static struct intern_key make_cell_key(const struct time_cell *what)
{
	return (struct intern_key){{(u64)what->user << 32 | what->kernel, what->thread,
				    (u64)what->source << 16 | what->cpu}};
}

void time_cells_prefetch_cell(const struct time_cells *cells, const struct time_cell *what,
			      u32 step)
{
	const struct intern_key key = make_cell_key(what);

	intern_prefetch_entry(&cells->cells, &key, step);
}

static int add_event_to_time_bucket(struct time_cells *cells, u32 bucket,
				    const struct time_cell *event)
{
	struct time_cell what = *event, *cell;
	struct intern_key key;

	/* Replaces the CPU and the thread of a cell by the CPU and the thread that they are merged
	 * into. */
	if (cells->joins_cpus)
		what.cpu = CPUS_JOINED;
	if (event->thread < cells->joined_count)
		what.thread = cells->joined[event->thread];
	key = make_cell_key(&what);
	if (bucket != cells->bucket)
		intern_free_index(&cells->cells);
	cells->bucket = bucket;
	cell = intern_find_or_add_entry(&cells->cells, &key);
	if (!cell)
		return -ENOMEM;
	cell->user = what.user;
	cell->kernel = what.kernel;
	cell->stack = what.stack;
	cell->thread = what.thread;
	cell->source = what.source;
	cell->cpu = what.cpu;
	cell->bucket = bucket;
	cell->count += what.count;
	cell->value += what.value;
	return 0;
}

int time_cells_merge_by_time_step(struct time_cells *cells, u32 shift)
{
	struct time_cells wide = *cells;
	int err = 0;

	wide.cells = INTERN(struct time_cell);
	wide.bucket = 0;
	wide.shift = shift;
	for (u32 i = 0; i < cells->cells.count && !err; i++) {
		const struct time_cell *cell = time_cells_at(cells, i);

		err = add_event_to_time_bucket(&wide, cell->bucket >> (shift - cells->shift), cell);
	}
	intern_clear(err ? &wide.cells : &cells->cells);
	if (!err)
		*cells = wide;
	return err;
}

int time_cells_widen_time_steps(struct time_cells *cells, u32 shift)
{
	return shift > cells->shift ? time_cells_merge_by_time_step(cells, shift) : 0;
}

int time_cells_add(struct time_cells *cells, u64 time, const struct time_cell *what)
{
	u64 since;
	int err = 0;

	if (!cells->cells.count)
		cells->origin = time;
	since = time - cells->origin;
	while (!err && (since >> cells->shift >= CELL_BUCKETS_MAX ||
			(cells->cells.count >= CELLS_MANY &&
			 since >> cells->shift >= 2 * CELL_BUCKETS_MIN)))
		err = time_cells_widen_time_steps(cells, cells->shift + 1);
	return err ?: add_event_to_time_bucket(cells, (u32)(since >> cells->shift), what);
}

void stack_values_init(struct stack_values *values)
{
	*values = (struct stack_values){.stacks = INTERN(struct values_of_stack),
					.digits = DISTRIBUTION_DIGITS_EXACT};
}

void stack_values_clear(struct stack_values *values)
{
	for (u32 i = 0; i < values->stacks.count; i++)
		distribution_clear(&stack_values_at(values, i)->values);
	intern_clear(&values->stacks);
}

static u64 count_distinct_values(const struct stack_values *values)
{
	u64 count = 0;

	for (u32 i = 0; i < values->stacks.count; i++)
		count += stack_values_at(values, i)->values.item_count;
	return count;
}

/* Rounds the values until at most `most` different values are left, or until each value has one
 * digit. */
static void round_values_to_limit(struct stack_values *values, u64 most)
{
	for (u32 i = 0; i < values->stacks.count; i++)
		distribution_sort(&stack_values_at(values, i)->values);
	while (count_distinct_values(values) > most && values->digits > 1) {
		values->digits = distribution_next_digits(values->digits);
		for (u32 i = 0; i < values->stacks.count; i++)
			distribution_round(&stack_values_at(values, i)->values, values->digits);
	}
	values->since_bound = 0;
}

int stack_values_add(struct stack_values *values, const void *task, const struct time_cell *cell)
{
	const struct intern_key key = {
		{intern_word_of_address(task), cell->user | (u64)cell->kernel << 32, cell->source}};
	struct values_of_stack *of = intern_find_or_add_entry(&values->stacks, &key);

	if (!of || distribution_add_sum(&of->values, cell->value, cell->count))
		return -ENOMEM;
	if (of->values.count == 1)
		of->cell = *cell;
	if (++values->since_bound >= VALUES_KEPT_MAX)
		round_values_to_limit(values, VALUES_KEPT_MAX / 2);
	return 0;
}

void stack_values_finish(struct stack_values *values)
{
	round_values_to_limit(values, VALUES_MAX);
	if (count_distinct_values(values) <= VALUES_MAX)
		return;
	stack_values_clear(values);
	stack_values_init(values);
	values->digits = 0;
}
