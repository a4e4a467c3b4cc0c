/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/rows/event_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"
#include "store/wire/row_binary.h"

/* --- the parts of a key --- */

static bool is_task(const void *tasks, u32 index, const void *key)
{
	return !memcmp(&((const struct event_task *)tasks)[index], key, sizeof(struct event_task));
}

static u32 add_task(struct event_table *table, const struct event_task *task, u32 hash)
{
	if (array_make_room(table->tasks, table->task_count, table->task_room) ||
	    hash_index_add(&table->task_index, hash, table->task_count))
		return HASH_INDEX_NONE;
	table->tasks[table->task_count] = *task;
	return table->task_count++;
}

u32 event_table_task(struct event_table *table, const char *service, const char *version,
		     const char *cgroup, const char *comm)
{
	const struct event_task task = {
		.service = text_set_number(&table->texts, service),
		.version = text_set_number(&table->texts, version),
		.cgroup = text_set_number(&table->texts, cgroup),
		.comm = text_set_number(&table->texts, comm),
	};
	u32 hash = hash_end(hash_words(0, &task, sizeof(task))), found;

	if (task.service == HASH_INDEX_NONE || task.version == HASH_INDEX_NONE ||
	    task.cgroup == HASH_INDEX_NONE || task.comm == HASH_INDEX_NONE)
		return HASH_INDEX_NONE;
	found = hash_index_find(&table->task_index, hash, is_task, table->tasks, &task);
	return found == HASH_INDEX_NONE ? add_task(table, &task, hash) : found;
}

static bool is_stack(const void *stacks, u32 index, const void *key)
{
	return !memcmp(&((const struct stack_hash *)stacks)[index], key, sizeof(struct stack_hash));
}

u32 event_table_stack(struct event_table *table, const struct stack_hash *stack)
{
	u32 hash, found;

	memcpy(&hash, stack->byte, sizeof(hash));
	found = hash_index_find(&table->stack_index, hash, is_stack, table->stacks, stack);
	if (found != HASH_INDEX_NONE)
		return found;
	if (array_make_room(table->stacks, table->stack_count, table->stack_room) ||
	    hash_index_add(&table->stack_index, hash, table->stack_count))
		return HASH_INDEX_NONE;
	table->stacks[table->stack_count] = *stack;
	return table->stack_count++;
}

/* --- sums --- */

static bool is_sum(const void *sums, u32 index, const void *key)
{
	return !memcmp(&((const struct event_sum *)sums)[index].key, key, sizeof(struct event_key));
}

static struct event_sum *add_sum(struct event_table *table, const struct event_key *key, u32 hash)
{
	if (array_make_room(table->sums, table->sum_count, table->sum_room) ||
	    hash_index_add(&table->sum_index, hash, table->sum_count))
		return NULL;
	table->sums[table->sum_count] = (struct event_sum){.key = *key};
	return &table->sums[table->sum_count++];
}

int event_table_add(struct event_table *table, const struct event_key *key, u32 count, u64 value)
{
	u32 hash = hash_end(hash_words(0, key, sizeof(*key)));
	u32 found = hash_index_find(&table->sum_index, hash, is_sum, table->sums, key);
	struct event_sum *sum =
		found == HASH_INDEX_NONE ? add_sum(table, key, hash) : &table->sums[found];

	if (!sum)
		return -ENOMEM;
	sum->count += count;
	sum->value += value;
	return 0;
}

/* --- rows --- */

static int compare_sums(const void *a, const void *b)
{
	const struct event_key *left = a, *right = b; /* the first member */

	return order(left->task, right->task)
		       ?: order(left->event, right->event)
				  ?: order(left->stack, right->stack)
					     ?: order(left->window, right->window);
}

static void put_task(const struct event_table *table, u32 number, struct byte_buffer *rows)
{
	const struct event_task *task = &table->tasks[number];
	const char *const *texts = table->texts.texts;

	row_put_text(rows, texts[task->service]);
	row_put_text(rows, texts[task->version]);
	row_put_text(rows, texts[task->cgroup]);
	row_put_text(rows, texts[task->comm]);
}

static void put_sum(const struct event_table *table, const struct event_sum *sum, const char *host,
		    u32 time, struct byte_buffer *rows)
{
	row_put_u32(rows, time);
	row_put_text(rows, host);
	put_task(table, sum->key.task, rows);
	row_put_text(rows, table->texts.texts[sum->key.event]);
	row_put_bytes(rows, table->stacks[sum->key.stack].byte, sizeof(struct stack_hash));
	row_put_u32(rows, sum->count);
	row_put_u64(rows, sum->value);
}

u32 event_table_put(struct event_table *table, const char *host, const u32 *times,
		    struct byte_buffer *rows)
{
	if (table->sum_count)
		qsort(table->sums, table->sum_count, sizeof(*table->sums), compare_sums);
	for (u32 i = 0; i < table->sum_count; i++)
		put_sum(table, &table->sums[i], host, times[table->sums[i].key.window], rows);
	return table->sum_count;
}

void event_table_clear(struct event_table *table)
{
	text_set_clear(&table->texts);
	hash_index_clear(&table->task_index);
	hash_index_clear(&table->stack_index);
	hash_index_clear(&table->sum_index);
	table->task_count = table->stack_count = table->sum_count = 0;
}

void event_table_free(struct event_table *table)
{
	text_set_clear(&table->texts);
	hash_index_free(&table->task_index);
	hash_index_free(&table->stack_index);
	hash_index_free(&table->sum_index);
	free(table->tasks);
	free(table->stacks);
	free(table->sums);
	*table = (struct event_table){.texts = TEXT_SET};
}
