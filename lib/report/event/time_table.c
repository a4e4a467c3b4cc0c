/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An account holds the time that one thread spent in each state. The accounts are sorted by the key
 * of the rows, and accounts with equal keys are added up to one row. */
#include "time_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "trace/read/names.h"

/* NAME_REST: the name of the sum of all threads whose accounts found no room. NAME_UNKNOWN: the
 * name of a thread that the recording does not name. */
#define NAME_REST "(ended threads that found no room)"
#define NAME_UNKNOWN "<...>"

u64 time_row_blocked(const struct time_row *row)
{
	return row->spent[TIME_INTERRUPTIBLE] + row->spent[TIME_UNINTERRUPTIBLE] +
	       row->spent[TIME_STOPPED];
}

static int fill_account_row(const struct thread_account *account, const struct trace_reader *reader,
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

/* The kernel reuses ids, so threads or processes with one id and two names are two rows. */
static int compare_threads(const void *left, const void *right)
{
	const struct time_row *a = left, *b = right;

	return order(a->tid, b->tid) ?: strcmp(a->comm, b->comm);
}

static int compare_processes(const void *left, const void *right)
{
	const struct time_row *a = left, *b = right;

	return order(a->tgid, b->tgid) ?: strcmp(a->comm, b->comm);
}

static int compare_comms(const void *left, const void *right)
{
	return strcmp(((const struct time_row *)left)->comm,
		      ((const struct time_row *)right)->comm);
}

static int compare_cgroups(const void *left, const void *right)
{
	return strcmp(((const struct time_row *)left)->cgroup,
		      ((const struct time_row *)right)->cgroup);
}

static int (*const orders[])(const void *left, const void *right) = {
	[TIME_BY_THREAD] = compare_threads,
	[TIME_BY_PROCESS] = compare_processes,
	[TIME_BY_COMM] = compare_comms,
	[TIME_BY_CGROUP] = compare_cgroups,
};

static u64 running_and_runnable_time(const struct time_row *row)
{
	return row->spent[TIME_RUNNING] + row->spent[TIME_RUNNABLE];
}

static int compare_threads_by_cpu_demand(const void *left, const void *right)
{
	const struct time_row *a = left, *b = right;

	return order(running_and_runnable_time(b), running_and_runnable_time(a))
		       ?: order(b->life, a->life) ?: order(a->tid, b->tid);
}

static void add_row_to_sum(struct time_row *sum, const struct time_row *row)
{
	sum->threads += row->threads;
	sum->life += row->life;
	sum->idle += row->idle;
	sum->stolen += row->stolen;
	for (u32 state = 0; state < TIME_STATES; state++)
		sum->spent[state] += row->spent[state];
}

static void sum_equal_rows(struct time_table *table, enum time_key key)
{
	u32 count = 0;

	qsort(table->rows, table->count, sizeof(*table->rows), orders[key]);
	for (u32 i = 0; i < table->count; i++) {
		struct time_row *row = &table->rows[i];

		if (count && !orders[key](&table->rows[count - 1], row)) {
			add_row_to_sum(&table->rows[count - 1], row);
			free((char *)row->cgroup);
		} else {
			table->rows[count++] = *row;
		}
	}
	table->count = count;
	qsort(table->rows, count, sizeof(*table->rows), compare_threads_by_cpu_demand);
}

/* --- idle waits, by their events --- */

struct idle_count {
	struct wait_ends *ends;
	struct time_row *rows; /* rows of single accounts, sorted by thread and begin */
	u32 count, kind;
};

static int add_idle_wait(void *arg, const struct trace_event *event)
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
		    idle->rows[i].tid < event->tid ||
			    (idle->rows[i].tid == event->tid &&
			     idle->rows[i].begin <= wait_begin_time(event)));
	if (end->is_idle && at && idle->rows[at - 1].tid == event->tid)
		idle->rows[at - 1].idle += event->value;
	return 0;
}

static int compare_rows_by_thread_and_begin(const void *left, const void *right)
{
	const struct time_row *a = left, *b = right;

	return order(a->tid, b->tid) ?: order(a->begin, b->begin);
}

static int count_idle_time(struct time_table *table, struct trace_reader *reader,
			   struct wait_ends *ends)
{
	struct idle_count idle = {.ends = ends, .rows = table->rows, .count = table->count};
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);

	while (idle.kind < count && strcmp(sources[idle.kind].name, "time:interruptible"))
		idle.kind++;
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows),
		      compare_rows_by_thread_and_begin);
	return trace_reader_events(reader, add_idle_wait, &idle, NULL) == -ENOMEM ? -ENOMEM : 0;
}

int time_table_create(struct trace_reader *reader, const struct event_filter *filter,
		      enum time_key key, struct wait_ends *ends, struct time_table **out)
{
	const struct thread_account *accounts;
	u32 count = trace_reader_accounts(reader, &accounts);
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
			err = fill_account_row(&accounts[i], reader, key,
					       &table->rows[table->count++]);
	if (!err && ends && count)
		err = count_idle_time(table, reader, ends);
	if (err) {
		time_table_free(&table);
		return err;
	}
	sum_equal_rows(table, key);
	for (u32 i = 0; i < table->count; i++)
		add_row_to_sum(&table->all, &table->rows[i]);
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
