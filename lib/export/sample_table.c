/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open addressing, at most half full. Keys are compared byte by byte, so they have no loose ones:
 * padding is zero, and so is what an event does not use. */
#include "sample_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/hashtab.h>

struct sample_table {
	struct sample *samples; /* `room` of them */
	u32 count, room;
	u32 *slots; /* number of a sample, from 1 on; 0: free */
	u32 mask;
};

static void make_key(const struct trace_event *event, const struct trace_task *task,
		     struct sample_key *key)
{
	memset(key, 0, sizeof(*key));
	key->event.leaf = event->leaf;
	key->event.tid = event->tid;
	key->event.kind = event->kind;
	key->event.cpu = event->cpu;
	key->event.kernel = event->kernel;
	key->event.user = event->user;
	if (event->kernel == TRACE_NO_STACK)
		key->event.kernel_reason = event->kernel_reason;
	if (event->user == TRACE_NO_STACK)
		key->event.user_reason = event->user_reason;
	key->tgid = task ? task->tgid : event->tid;
	key->cgroup = task ? task->cgroup : 0;
	if (task)
		memcpy(key->comm, task->comm, strnlen(task->comm, sizeof(key->comm) - 1));
}

/* The slot of the sample with this key, or the free one where it belongs. */
static u32 *find_slot(const struct sample_table *table, const struct sample_key *key)
{
	u32 at = iterative_hash(key, sizeof(*key), 0) & table->mask;

	while (table->slots[at] &&
	       memcmp(&table->samples[table->slots[at] - 1].key, key, sizeof(*key)) != 0)
		at = (at + 1) & table->mask;
	return &table->slots[at];
}

int sample_table_add(struct sample_table *table, const struct trace_event *event,
		     const struct trace_task *task)
{
	struct sample_key key;
	struct sample *sample;
	u32 *slot;

	make_key(event, task, &key);
	slot = find_slot(table, &key);
	if (!*slot) {
		if (table->count == table->room)
			return -ENOSPC;
		*slot = ++table->count;
		sample = &table->samples[*slot - 1];
		memset(sample, 0, sizeof(*sample));
		memcpy(&sample->key, &key, sizeof(key));
	}
	sample = &table->samples[*slot - 1];
	sample->count++;
	sample->value += event->value;
	return 0;
}

int sample_table_each(const struct sample_table *table,
		      int (*each)(void *arg, const struct sample *sample), void *arg)
{
	int err = 0;

	for (u32 i = 0; i < table->count && !err; i++)
		err = each(arg, &table->samples[i]);
	return err;
}

void sample_table_empty(struct sample_table *table)
{
	memset(table->slots, 0, (table->mask + 1UL) * sizeof(u32));
	table->count = 0;
}

int sample_table_create(u32 room, struct sample_table **out)
{
	struct sample_table *table = calloc(1, sizeof(*table));
	u32 slots = 2;

	if (!table)
		return -ENOMEM;
	while (slots < 2 * room)
		slots *= 2;
	table->room = room;
	table->mask = slots - 1;
	table->samples = calloc(room, sizeof(struct sample));
	table->slots = calloc(slots, sizeof(u32));
	if (!table->samples || !table->slots) {
		sample_table_free(&table);
		return -ENOMEM;
	}
	*out = table;
	return 0;
}

void sample_table_free(struct sample_table **table)
{
	if (!*table)
		return;
	free((*table)->samples);
	free((*table)->slots);
	free(*table);
	*table = NULL;
}
