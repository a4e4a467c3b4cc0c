/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys are compared byte by byte, so all padding is zero, and so are the members that an event
 * does not use. */
#include "sample_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash_index.h"

struct sample_table {
	struct hash_index index;
	struct sample *samples; /* samples, with space for `room` */
	u32 room;
	bool by_context;
};

_Static_assert(sizeof(struct sample_key) % sizeof(u64) == 0, "keys are whole words");

static void make_sample_key(const struct trace_event *event, const struct trace_task *task,
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

static bool is_same_sample(const void *samples, u32 index, const void *key)
{
	return memcmp(&((const struct sample *)samples)[index].key, key,
		      sizeof(struct sample_key)) == 0;
}

int sample_table_add(struct sample_table *table, const struct trace_event *event,
		     const struct trace_task *task, u32 process)
{
	struct sample_key key;
	struct sample *sample;
	u32 hash, index;

	make_sample_key(event, task, &key);
	key.process = process;
	if (table->by_context && event->has_context) {
		key.event.has_context = 1;
		key.event.context = event->context;
	}
	hash = hash_end(hash_words(0, &key, sizeof(key)));
	index = hash_index_find(&table->index, hash, is_same_sample, table->samples, &key);
	if (index == HASH_INDEX_NONE) {
		index = table->index.count;
		if (index == table->room)
			return -ENOSPC;
		if (hash_index_add(&table->index, hash, index))
			return -ENOMEM;
		memset(&table->samples[index], 0, sizeof(*table->samples));
		memcpy(&table->samples[index].key, &key, sizeof(key));
	}
	sample = &table->samples[index];
	sample->count += event_stands_for(event);
	sample->value += event->value;
	return 0;
}

int sample_table_each(const struct sample_table *table,
		      int (*each)(void *arg, const struct sample *sample), void *arg)
{
	int err = 0;

	for (u32 i = 0; i < table->index.count && !err; i++)
		err = each(arg, &table->samples[i]);
	return err;
}

void sample_table_empty(struct sample_table *table)
{
	hash_index_clear(&table->index);
}

int sample_table_create(u32 room, bool by_context, struct sample_table **out)
{
	struct sample_table *table = calloc(1, sizeof(*table));

	if (table)
		table->samples = calloc(room, sizeof(struct sample));
	if (!table || !table->samples) {
		free(table);
		return -ENOMEM;
	}
	table->room = room;
	table->by_context = by_context;
	*out = table;
	return 0;
}

void sample_table_free(struct sample_table **table)
{
	if (!*table)
		return;
	free((*table)->samples);
	hash_index_free(&(*table)->index);
	free(*table);
	*table = NULL;
}
