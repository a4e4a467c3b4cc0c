/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The generations of an instance's stack map: two tables that take turns. One is what programs
 * write, the other the generation before, or empty, or not made yet.
 *
 * Who resets (capture/reset.h) and who reads may be two processes. They meet in two words of the
 * programs' memory:
 *
 *   generation       what programs write; set when the swap is over
 *   generation_done  no reader asks for a stack of this generation, or an older one, any more
 *
 * A table is emptied only when its generation is done with. So the rings name stacks of two
 * generations at most, one after the other, whose tags differ.
 */
#ifndef LIB_CAPTURE_GENERATION_H
#define LIB_CAPTURE_GENERATION_H

#include "scalar.h"
#include "table.h"

#define GENERATION_FIRST 1

struct capture;

/* A stack of the map in the current file. */
struct written_stack {
	u32 index; /* + 1; 0: it is not in it yet */
	u32 stop;  /* enum stop_reason */
};

struct generation_table {
	int fd; /* -1: not made */
	u32 id; /* the kernel's, of the map */
	void *memory;
	struct written_stack *written; /* by slot */
	u64 written_generation;	       /* that `written` is of */
};

struct generations {
	struct generation_table tables[TABLE_ROLES];
	u64 seen; /* by the reader of this process */
};

void generations_init(struct generations *generations);
void generations_free(struct capture *capture);

/* The first table, and its generation: what there is before the programs are loaded. */
int generations_create(struct capture *capture);

/* Programs use it from now on. */
int generations_begin(struct capture *capture);

/* One more table, new; or the map `fd`, which is taken in any case. -EEXIST: both are there. */
int generations_make(struct capture *capture);
int generations_add(struct capture *capture, int fd);

/* What a table becomes: nothing is in it. Nobody uses it. */
int generation_fill(const struct capture *capture, struct generation_table *table, u64 generation);

/* Gives the table a role, or leaves that of the previous one open. Both return when no program uses
 * what had it before: an update of a map of maps waits for the programs that run (RCU). */
int generation_set(const struct capture *capture, enum table_role role,
		   const struct generation_table *table);
int generation_clear_previous(const struct capture *capture);

/* Returns when no program that runs now runs any more. */
void generation_wait(struct capture *capture);

/* The table that programs write, as the kernel has it; NULL: it is not ours. */
struct generation_table *generation_current(struct capture *capture);

u64 generation_of(const struct generation_table *table);

/* The word that readers look at. */
u64 generation_published(const struct capture *capture);
void generation_publish(struct capture *capture, u64 generation);

/* The table of the published generation. */
struct generation_table *generation_seen(struct capture *capture);

/* The table in which an id has its stack; NULL: the id is stale. */
struct generation_table *generation_of_id(const struct capture *capture, u32 id);

/* What the current file has of the stack with this id, of this table. */
struct written_stack *generation_written(const struct capture *capture,
					 struct generation_table *table, u32 id);

/* A new file begins. */
void generations_forget_written(struct capture *capture);

#endif
