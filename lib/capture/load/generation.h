/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The generations of an instance's stack map: two tables that take turns. One is what programs
 * write, the other the generation before, or empty, or not made yet.
 *
 * Who resets (capture/instance/reset.h) and who reads may be two processes. They meet in two words
 * of the programs' memory:
 *
 *   generation       what programs write; set when the swap is over
 *   generation_done  no reader asks for a stack of this generation, or an older one, any more
 *
 * A table is emptied only when its generation is done with. So the rings name stacks of two
 * generations at most, one after the other, whose tags differ.
 */
#ifndef LIB_CAPTURE_GENERATION_H
#define LIB_CAPTURE_GENERATION_H

#include <stdbool.h>

#include "scalar.h"
#include "table.h"

#define GENERATION_FIRST 1

struct loaded;

struct generation_table {
	int fd; /* -1: not made */
	u32 id; /* the kernel's, of the map */
	void *memory;
};

/* Of TABLE_ROLES tables none is made. */
void generations_init(struct generation_table *tables);
void generations_free(struct loaded *loaded);

/* The first table, and its generation: what there is before the programs are loaded. */
int generations_create(struct loaded *loaded);

/* One more table, new; or the map `fd`, which is taken in any case. -EEXIST: both are there. */
int generations_make(struct loaded *loaded);
int generations_add(struct loaded *loaded, int fd);

/* What a table becomes: nothing is in it. Nobody uses it. */
int generation_fill(const struct loaded *loaded, struct generation_table *table, u64 generation);

/* Gives the table a role, or leaves that of the previous one open. Both return when no program uses
 * what had it before: an update of a map of maps waits for the programs that run (RCU). */
int generation_set(const struct loaded *loaded, enum table_role role,
		   const struct generation_table *table);
int generation_clear_previous(const struct loaded *loaded);

/* Returns when no program that runs now runs any more. */
void generation_wait(struct loaded *loaded);

/* The table that programs write, as the kernel has it; NULL: it is not ours. */
struct generation_table *generation_current(struct loaded *loaded);

u64 generation_of(const struct generation_table *table);

/* The word that readers look at. */
u64 generation_published(const struct loaded *loaded);
void generation_publish(struct loaded *loaded, u64 generation);

/* The table of the published generation. */
struct generation_table *generation_seen(struct loaded *loaded);

/* The table in which an id has its stack; NULL: the id is stale. */
struct generation_table *generation_of_id(const struct loaded *loaded, u32 id);

/*
 * The id of a stack that user space has found, in the published generation; 0: it is not there.
 * `inserts`: puts it there, as programs do, unless the map refuses it. There is a line of counters
 * for this, behind those of the CPUs. One thread.
 */
u32 generation_stack_id(struct loaded *loaded, const u64 *frames, u32 depth, u32 flags,
			bool inserts);

#endif
