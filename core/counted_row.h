/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A row of counted events with the range of their values (abi/counted.h): programs of one CPU add
 * events, and may interrupt each other; one reader takes what was added since it last did. Neither
 * waits for the other.
 *
 *   a program:   begun + 1; raise `most` and `least_inverted`; add the value; count + 1
 *   the reader:  read count and value; exchange `most` and `least_inverted` with 0; read begun
 *
 * If the reader finds begun = count, no program was at the row meanwhile, and all it has read
 * belongs to the same events. Else it reads again. A row that a program was stopped in (the kernel
 * may preempt a program) is left as it was, for a later time.
 *
 * Without a range, a program adds the value first, then the count, and the reader reads the count
 * first: the sum has the values of all counted events, and may have that of one more.
 */
#ifndef CORE_COUNTED_ROW_H
#define CORE_COUNTED_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "config.h"
#include "counted.h"
#include "env.h"

/* The most attempts to raise a number. Each failed attempt is an interrupt, or the reader, in
 * between. */
#define COUNTED_RAISE_TRIES 8
#define COUNTED_TAKE_TRIES 1000

/* Raises a number to `to`, unless the number is higher already. */
CORE_PART void counted_raise_to_at_least(u64 *number, u64 to)
{
	u64 before = atomic_load_relaxed(number);

	for (u32 i = 0; i < COUNTED_RAISE_TRIES && before < to; i++) {
		u64 found = atomic_cas_acq_rel(number, before, to);

		if (found == before)
			return;
		before = found;
	}
}

/* Adds an event. `range`: NULL if the table has none. */
CORE_PART void counted_row_add(struct counted_row *row, struct counted_range *range, u64 value)
{
	if (range) {
		atomic_fetch_add_acq_rel(&range->begun, 1);
		counted_raise_to_at_least(&range->most, value);
		counted_raise_to_at_least(&range->least_inverted, ~value);
	}
	atomic_add_relaxed(&row->value, value);
	atomic_fetch_add_acq_rel(&row->count, 1);
}

/* The range of a table's row; NULL: the instance does not aggregate. */
static inline struct counted_range *counted_range_at(const struct capture_config *config,
						     struct counted_table *table, u32 row)
{
	u8 *ranges = (u8 *)table + config->counted_ranges;

	return config->aggregate ? (struct counted_range *)ranges + row : NULL;
}

/* The events that a row has counted since it was last taken. */
struct counted_increase {
	u64 count;
	u64 value;	 /* sum of the values of these events */
	u64 least, most; /* 0 if the row has no range */
};

/*
 * Takes the events that the row has counted since it was last taken. False: the row has no
 * such events, or a program was stopped within the row, which is left for later.
 */
static inline bool counted_row_take(struct counted_row *row, struct counted_range *range,
				    struct counted_increase *increase)
{
	u64 count, value, most = 0, least_inverted = 0;

	if (atomic_load_acquire(&row->state) != COUNTED_READY)
		return false;
	for (u32 i = 0;; i++) {
		count = atomic_load_acquire(&row->count);
		value = atomic_load_relaxed(&row->value);
		if (count == row->reported_count)
			return false;
		if (!range)
			break;
		counted_raise_to_at_least(&most, atomic_exchange_acq_rel(&range->most, 0));
		counted_raise_to_at_least(&least_inverted,
					  atomic_exchange_acq_rel(&range->least_inverted, 0));
		if (atomic_load_acquire(&range->begun) == count)
			break;
		if (i < COUNTED_TAKE_TRIES)
			continue;
		counted_raise_to_at_least(&range->most, most);
		counted_raise_to_at_least(&range->least_inverted, least_inverted);
		return false;
	}
	*increase = (struct counted_increase){.count = count - row->reported_count,
					      .value = value - row->reported_value,
					      .least = range ? ~least_inverted : 0,
					      .most = most};
	row->reported_count = count;
	row->reported_value = value;
	return true;
}

/* The number of rows in use among the first `rows` of a table. The hash of a key spreads keys over
 * the table, so a part of the rows shows how full the table is. */
static inline u32 counted_rows_in_use(const struct counted_table *table, u32 rows)
{
	u32 used = 0;

	for (u32 i = 0; i < rows; i++)
		used += atomic_load_relaxed(&table->row[i].state) != COUNTED_FREE;
	return used;
}

/*
 * Frees a row that names a stack of another generation than that of `tag`, once the reader has
 * taken all counts of the row. BPF programs do not name stacks of an old generation any more, so
 * no program is adding to the row, and no program finds its key.
 */
static inline void counted_row_free_old(struct counted_row *row, struct counted_range *range,
					u32 slot_mask, u32 tag)
{
	u32 flags = STAMP_FLAGS(row->key.task);
	u32 kernel = (u32)row->key.stacks, user = (u32)(row->key.stacks >> 32);
	bool is_old = (EVENT_KERNEL_STATE(flags) == STATE_ID && (kernel & ~slot_mask) != tag) ||
		      (EVENT_USER_STATE(flags) == STATE_ID && (user & ~slot_mask) != tag);

	if (atomic_load_acquire(&row->state) != COUNTED_READY || !is_old ||
	    row->count != row->reported_count)
		return;
	atomic_store_release(&row->state, COUNTED_NEW);
	row->count = row->value = row->reported_count = row->reported_value = 0;
	if (range)
		*range = (struct counted_range){};
	atomic_store_release(&row->state, COUNTED_FREE);
}

#endif
