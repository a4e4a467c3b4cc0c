/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which stacks of the stack map are in the current file, and where: for each slot of either table.
 */
#ifndef LIB_CAPTURE_WRITTEN_STACKS_H
#define LIB_CAPTURE_WRITTEN_STACKS_H

#include "capture/load/loaded.h"

struct written_stack {
	u32 index; /* + 1; 0: it is not in it yet */
	u32 stop;  /* enum stop_reason */
};

/* All 0: nothing is in the file. */
struct written_stacks {
	struct written_table {
		struct written_stack *items; /* by slot; NULL: not made */
		u64 generation;		     /* that they are of; 0: of another file */
	} tables[TABLE_ROLES];
};

/* The stack with this id, of this table; or NULL: no memory. */
struct written_stack *written_stacks_at(struct written_stacks *stacks, const struct loaded *loaded,
					const struct generation_table *table, u32 id);

/* Another file begins. */
void written_stacks_forget(struct written_stacks *stacks);
void written_stacks_free(struct written_stacks *stacks);

#endif
