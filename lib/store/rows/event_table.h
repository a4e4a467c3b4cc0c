/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of a batch, added up by the key that they have in the store: window, service, version,
 * cgroup, comm, event and the hash of the stack. Two rows of one key would be one to the store, and
 * the events of the other lost; so no number of one recording is part of a key here.
 */
#ifndef LIB_STORE_EVENT_TABLE_H
#define LIB_STORE_EVENT_TABLE_H

#include "intern.h"
#include "report/event/stack_hash.h"
#include "trace/bytes/byte_buffer.h"

/* Texts as numbers of `texts`. */
struct event_task {
	u32 service, version, cgroup, comm;
};

struct event_key {
	u32 window, task, event, stack;
};

struct event_sum {
	struct event_key key;
	u32 count;
	u64 value;
};

/* All zero but for the texts: empty. */
struct event_table {
	struct text_set texts;
	struct hash_index task_index, stack_index, sum_index;
	struct event_task *tasks;
	struct stack_hash *stacks;
	struct event_sum *sums;
	u32 task_count, task_room, stack_count, stack_room, sum_count, sum_room;
};

/* Numbers of the parts of a key; HASH_INDEX_NONE without memory. */
u32 event_table_task(struct event_table *table, const char *service, const char *version,
		     const char *cgroup, const char *comm);
u32 event_table_stack(struct event_table *table, const struct stack_hash *hash);
static inline u32 event_table_event(struct event_table *table, const char *name)
{
	return text_set_number(&table->texts, name);
}

int event_table_add(struct event_table *table, const struct event_key *key, u32 count, u64 value);

/* RowBinary, sorted so that rows of a task, an event and a stack follow each other, which
 * compresses well. `times`: of the windows. Returns the number of rows. */
u32 event_table_put(struct event_table *table, const char *host, const u32 *times,
		    struct byte_buffer *rows);

/* Empty again; some memory is kept. */
void event_table_clear(struct event_table *table);
void event_table_free(struct event_table *table);

#endif
