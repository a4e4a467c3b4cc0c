/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accounts are sorted by the key, and equal ones are added up. */
#include "time_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "trace/read/names.h"

/* Threads whose accounts found no room; threads whose names did not come. */
#define NAME_REST "(ended threads that found no room)"
#define NAME_UNKNOWN "<...>"

u64 time_row_blocked(const struct time_row *row)
{
	return row->spent[TIME_INTERRUPTIBLE] + row->spent[TIME_UNINTERRUPTIBLE] +
	       row->spent[TIME_STOPPED];
}

static int row_of(const struct thread_account *account, const struct trace_reader *reader,
		  enum time_key key, struct time_row *row)
{
	s64 stolen = (s64)account->stolen;
	const struct trace_task *task, *first = NULL;
	char room[TRACE_CGROUP_ROOM];

	*row = (struct time_row){
		.tid = account->tid,
		.tgid = account->tgid,
		.threads = 1,
		.begin = account->begin,
		.life = account->end - account->begin,
		.stolen = stolen > 0 ? (u64)stolen : 0,
	};
	memcpy(row->spent, account->spent, sizeof(row->spent));
	task = trace_reader_task(reader, row->tid, account->end);
	if (key == TIME_BY_PROCESS)
		first = trace_reader_task(reader, row->tgid, account->end);
	row->comm = first ? first->comm : task ? task->comm : row->tid ? NAME_UNKNOWN : NAME_REST;
	if (key != TIME_BY_CGROUP)
		return 0;
	row->cgroup = strdup(trace_cgroup_name(reader, task ? task->cgroup : 0, room));
	return row->cgroup ? 0 : -ENOMEM;
}

/* Ids are given again: threads and processes of another name are others. */
static int by_thread(const void *left, const void *right)
{
	const struct time_row *a = left, *b = right;

	return order(a->tid, b->tid) ?: strcmp(a->comm, b->comm);
}

static int by_process(const void *left, const void *right)
{
	const struct time_row *a = left, *b = right;

	return order(a->tgid, b->tgid) ?: strcmp(a->comm, b->comm);
}

static int by_comm(const void *left, const void *right)
{
	return strcmp(((const struct time_row *)left)->comm,
		      ((const struct time_row *)right)->comm);
}

static int by_cgroup(const void *left, const void *right)
{
	return strcmp(((const struct time_row *)left)->cgroup,
		      ((const struct time_row *)right)->cgroup);
}

static int (*const orders[])(const void *left, const void *right) = {
	[TIME_BY_THREAD] = by_thread,
	[TIME_BY_PROCESS] = by_process,
	[TIME_BY_COMM] = by_comm,
	[TIME_BY_CGROUP] = by_cgroup,
};

static u64 wanted_cpu(const struct time_row *row)
{
	return row->spent[TIME_RUNNING] + row->spent[TIME_RUNNABLE];
}

static int by_weight(const void *left, const void *right)
{
	const struct time_row *a = left, *b = right;

	return order(wanted_cpu(b), wanted_cpu(a))
		       ?: order(b->life, a->life) ?: order(a->tid, b->tid);
}

static void add(struct time_row *sum, const struct time_row *row)
{
	sum->threads += row->threads;
	sum->life += row->life;
	sum->idle += row->idle;
	sum->stolen += row->stolen;
	for (u32 state = 0; state < TIME_STATES; state++)
		sum->spent[state] += row->spent[state];
}

static void join_rows(struct time_table *table, enum time_key key)
{
	u32 count = 0;

	qsort(table->rows, table->count, sizeof(*table->rows), orders[key]);
	for (u32 i = 0; i < table->count; i++) {
		struct time_row *row = &table->rows[i];

		if (count && !orders[key](&table->rows[count - 1], row)) {
			add(&table->rows[count - 1], row);
			free((char *)row->cgroup);
		} else {
			table->rows[count++] = *row;
		}
	}
	table->count = count;
	qsort(table->rows, count, sizeof(*table->rows), by_weight);
}

/* --- idle waits, by their events --- */

struct idle_count {
	struct wait_ends *ends;
	struct time_row *rows; /* of accounts, sorted by thread and begin */
	u32 count, kind;
};

static int add_idle(void *arg, const struct trace_event *event)
{
	struct idle_count *idle = arg;
	const struct wait_end *end;
	size_t at;

	if (event->kind != idle->kind)
		return 0;
	end = wait_ends_find(idle->ends, event);
	if (!end)
		return -ENOMEM;
	at = bisect(idle->count, i,
		    idle->rows[i].tid < event->tid || (idle->rows[i].tid == event->tid &&
						       idle->rows[i].begin <= wait_begin(event)));
	if (end->is_idle && at && idle->rows[at - 1].tid == event->tid)
		idle->rows[at - 1].idle += event->value;
	return 0;
}

static int by_begin(const void *left, const void *right)
{
	const struct time_row *a = left, *b = right;

	return order(a->tid, b->tid) ?: order(a->begin, b->begin);
}

static int count_idle(struct time_table *table, struct trace_reader *reader, struct wait_ends *ends)
{
	struct idle_count idle = {.ends = ends, .rows = table->rows, .count = table->count};
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);

	while (idle.kind < count && strcmp(sources[idle.kind].name, "time:interruptible"))
		idle.kind++;
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), by_begin);
	return trace_reader_events(reader, add_idle, &idle, NULL) == -ENOMEM ? -ENOMEM : 0;
}

int time_table_create(struct trace_reader *reader, const struct event_filter *filter,
		      enum time_key key, struct wait_ends *ends, struct time_table **out)
{
	const struct thread_account *accounts;
	u32 count = trace_reader_times(reader, &accounts);
	struct time_table *table = calloc(1, sizeof(*table));
	int err = 0;
	u64 spent = 0;

	if (!table)
		return -ENOMEM;
	table->rows = calloc(count + 1UL, sizeof(*table->rows));
	if (!table->rows)
		err = -ENOMEM;
	for (u32 i = 0; i < count && !err; i++)
		if (event_filter_passes_thread(filter, reader, accounts[i].tid, accounts[i].end))
			err = row_of(&accounts[i], reader, key, &table->rows[table->count++]);
	if (!err && ends && count)
		err = count_idle(table, reader, ends);
	if (err) {
		time_table_free(&table);
		return err;
	}
	join_rows(table, key);
	for (u32 i = 0; i < table->count; i++)
		add(&table->all, &table->rows[i]);
	for (u32 state = 0; state < TIME_STATES; state++)
		spent += table->all.spent[state];
	table->difference = (s64)(table->all.life - spent);
	*out = table;
	return 0;
}

void time_table_free(struct time_table **table)
{
	struct time_table *old = *table;

	if (!old)
		return;
	for (u32 i = 0; old->rows && i < old->count; i++)
		free((char *)old->rows[i].cgroup);
	free(old->rows);
	free(old);
	*table = NULL;
}
