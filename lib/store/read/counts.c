/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The first query counts the stacks, which is a pass over one column. If there are more stacks than
 * the cap, each server lists its heaviest stacks; the heaviest of all servers are then sent to
 * every server, so that each chosen stack is counted on all servers.
 */
#include "store/read/counts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "order.h"
#include "store/wire/row_binary.h"

#define CHOSEN "chosen_stack"
#define NO_STACK "toFixedString(unhex('00000000000000000000000000000000'), 16)"
#define SQL_BYTES 2048
#define ROWS_MAX (1U << 24)
/* Limit for an answer: a million machines record less in a year. */
#define EVENTS_MAX (1ULL << 50)

/* --- stacks beyond the cap --- */

/* Sums of one event over all servers. */
struct total {
	u64 count, value;
};

struct heavy {
	u8 hash[STORE_HASH_BYTES];
	u32 event;
	double share; /* share of its event's total */
	u64 count, value;
};

struct cap {
	const struct store_question *question;
	struct store_counts *counts;
	u64 stacks;	      /* upper bound: a stack on two servers counts twice */
	struct total *totals; /* by number of the event */
	u32 total_room;
	struct heavy *heavy;
	u32 count, room;
};

static u32 get_text(struct byte_cursor *row, struct text_set *set)
{
	char *copy = row_get_string(row);
	u32 number = copy ? text_set_number(set, copy) : HASH_INDEX_NONE;

	free(copy);
	return number;
}

static int take_total(void *arg, u32 shard, struct byte_cursor *row, struct stackmap_error *error)
{
	struct cap *cap = arg;
	u32 event = get_text(row, &cap->counts->events);

	(void)shard;
	if (event == HASH_INDEX_NONE ||
	    array_make_zeroed(cap->totals, event + 1UL, cap->total_room))
		return error_set_errno(error, ENOMEM, "store");
	cap->totals[event].count += row_get_u64(row);
	cap->totals[event].value += row_get_u64(row);
	cap->stacks += row_get_u64(row);
	return 0;
}

static int take_heavy(void *arg, u32 shard, struct byte_cursor *row, struct stackmap_error *error)
{
	struct cap *cap = arg;
	struct heavy heavy = {.event = get_text(row, &cap->counts->events)};
	const u8 *hash = row_get_bytes(row, sizeof(heavy.hash));

	(void)shard;
	heavy.count = row_get_u64(row);
	heavy.value = row_get_u64(row);
	if (row->bad)
		return 0;
	memcpy(heavy.hash, hash, sizeof(heavy.hash));
	if (heavy.event == HASH_INDEX_NONE || heavy.event >= cap->total_room ||
	    cap->count == ROWS_MAX || array_make_room(cap->heavy, cap->count, cap->room))
		return error_set_errno(error, ENOMEM, "store");
	cap->heavy[cap->count++] = heavy;
	return 0;
}

static double part(u64 of, u64 all)
{
	return all ? (double)of / (double)all : 0;
}

static int by_hash(const void *a, const void *b)
{
	return memcmp(((const struct heavy *)a)->hash, ((const struct heavy *)b)->hash,
		      STORE_HASH_BYTES);
}

static int heavier(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;

	return x->share != y->share ? (x->share < y->share) - (x->share > y->share) : by_hash(a, b);
}

/* The weight of a stack is the sum of its shares over all events and servers. */
static void add_up(struct cap *cap)
{
	u32 kept = 0;

	qsort(cap->heavy, cap->count, sizeof(*cap->heavy), by_hash);
	for (u32 i = 0; i < cap->count; i++) {
		struct heavy *heavy = &cap->heavy[i];
		const struct total *total = &cap->totals[heavy->event];

		heavy->share = part(heavy->count, total->count);
		if (total->value)
			heavy->share = part(heavy->value, total->value);
		if (kept && !by_hash(&cap->heavy[kept - 1], heavy))
			cap->heavy[kept - 1].share += heavy->share;
		else
			cap->heavy[kept++] = *heavy;
	}
	cap->count = kept;
	qsort(cap->heavy, cap->count, sizeof(*cap->heavy), heavier);
	if (cap->count > cap->question->cap)
		cap->count = cap->question->cap;
}

static int ask(struct shards *shards, const struct selection *selection, const char *format,
	       shard_row take, void *arg, struct stackmap_error *error)
{
	char *sql = selection_sql(selection, format);
	const struct shard_query query = {
		.sql = sql, .tables = selection->tables, .table_count = selection->table_count};
	int err = sql ? shards_ask_all(shards, &query, take, arg, error)
		      : error_set_errno(error, ENOMEM, "store");

	free(sql);
	return err;
}

static int find_heavy(struct shards *shards, const struct selection *selection, struct cap *cap,
		      struct stackmap_error *error)
{
	char sql[SQL_BYTES];
	int err;

	snprintf(sql, sizeof(sql),
		 "SELECT event, stack, sum(count) AS n, sum(value) AS v FROM {events} WHERE %%s "
		 "GROUP BY event, stack ORDER BY if(v > 0, v, n) DESC LIMIT %u BY event",
		 cap->question->cap);
	err = ask(shards, selection, sql, take_heavy, cap, error);
	if (!err)
		add_up(cap);
	return err;
}

/* --- counts --- */

struct taking {
	const struct store_question *question;
	struct store_counts *counts;
	u32 unknown_cgroup;
};

static u32 stack_number(struct store_counts *counts, const u8 *hash)
{
	struct intern_key key = {};
	struct store_stack_entry *entry;

	memcpy(key.word, hash, STORE_HASH_BYTES);
	entry = intern_entry(&counts->stacks, &key);
	if (entry && !entry->number)
		entry->number = counts->stacks.count;
	return entry ? entry->number - 1 : HASH_INDEX_NONE;
}

static int take_count(void *arg, u32 shard, struct byte_cursor *row, struct stackmap_error *error)
{
	static const u8 none[STORE_HASH_BYTES];
	const struct taking *taking = arg;
	struct store_counts *counts = taking->counts;
	struct store_count count = {};
	const u8 *hash = row_get_bytes(row, STORE_HASH_BYTES);

	(void)shard;
	count.stack = stack_number(counts, hash ?: none);
	count.comm = get_text(row, &counts->comms);
	count.event = get_text(row, &counts->events);
	count.cgroup = taking->question->by_cgroup ? get_text(row, &counts->cgroups) : 0;
	count.time = row_get_u32(row);
	count.count = row_get_u64(row);
	count.value = row_get_u64(row);
	if (row->bad || !count.count)
		return 0;
	if (count.count > EVENTS_MAX - counts->events_taken)
		return error_set(error, EBADMSG,
				 "store: the answer has more than 2^50 events, which no machines "
				 "record: ask for less time, or 'stackmap store check' the store");
	counts->events_taken += count.count;
	if (count.stack == HASH_INDEX_NONE || count.comm == HASH_INDEX_NONE ||
	    count.event == HASH_INDEX_NONE || count.cgroup == HASH_INDEX_NONE ||
	    counts->count == ROWS_MAX ||
	    array_make_room(counts->counts, counts->count, counts->room))
		return error_set_errno(error, ENOMEM, "store");
	counts->counts[counts->count++] = count;
	return 0;
}

static void put_time(const struct store_question *question, FILE *to)
{
	if (question->step)
		fprintf(to, "toUInt32(intDiv(toUInt32(time), %u) * %u) AS t", question->step,
			question->step);
	else
		fprintf(to, "toUInt32(min(time)) AS t");
}

/* Returns the SQL, which the caller frees. */
static char *counts_sql(const struct store_question *question, const struct selection *selection,
			bool is_capped)
{
	size_t bytes;
	char *sql;
	FILE *to = open_memstream(&sql, &bytes);

	if (!to)
		return NULL;
	fprintf(to, "SELECT %s AS s, comm, event, %s",
		is_capped ? "if(stack IN " CHOSEN ", stack, " NO_STACK ")" : "stack",
		question->by_cgroup ? "cgroup, " : "");
	put_time(question, to);
	fprintf(to,
		", sum(count) AS n, sum(value) AS v FROM {events} WHERE %s GROUP BY s, comm, "
		"event%s%s",
		selection->where, question->by_cgroup ? ", cgroup" : "",
		question->step ? ", t" : "");
	if (!fclose(to))
		return sql;
	free(sql);
	return NULL;
}

static int read_counts(struct shards *shards, struct selection selection, const struct cap *cap,
		       struct stackmap_error *error)
{
	struct taking taking = {.question = cap->question, .counts = cap->counts};
	struct byte_buffer chosen = {};
	bool is_capped = cap->counts->is_capped;
	char *sql = counts_sql(cap->question, &selection, is_capped);
	struct shard_query query = {.sql = sql, .tables = selection.tables};
	int err;

	for (u32 i = 0; i < cap->count; i++)
		row_put_bytes(&chosen, cap->heavy[i].hash, STORE_HASH_BYTES);
	err = sql && !chosen.failed ? 0 : error_set_errno(error, ENOMEM, "store");
	if (is_capped)
		selection.tables[selection.table_count++] =
			(struct clickhouse_table){.name = CHOSEN,
						  .structure = "value FixedString(16)",
						  .rows = chosen.data,
						  .bytes = chosen.used};
	query.table_count = selection.table_count;
	err = err ?: shards_ask_all(shards, &query, take_count, &taking, error);
	byte_buffer_free(&chosen);
	free(sql);
	return err;
}

static int read_all(struct shards *shards, const struct selection *selection, struct cap *cap,
		    struct stackmap_error *error)
{
	static const u8 rest[STORE_HASH_BYTES];
	int err = ask(shards, selection,
		      "SELECT event, sum(count), sum(value), uniq(stack) FROM {events} WHERE %s "
		      "GROUP BY event",
		      take_total, cap, error);

	if (!err && stack_number(cap->counts, rest) != STORE_STACK_REST)
		err = error_set_errno(error, ENOMEM, "store");
	if (!err && cap->stacks > cap->question->cap) {
		cap->counts->is_capped = true;
		err = find_heavy(shards, selection, cap, error);
	}
	return err ?: read_counts(shards, *selection, cap, error);
}

static int earlier(const void *a, const void *b)
{
	return order(((const struct store_count *)a)->time, ((const struct store_count *)b)->time);
}

int store_counts_read(struct shards *shards, const struct store_question *question,
		      const struct selection *selection, struct store_counts *out,
		      struct stackmap_error *error)
{
	struct store_counts counts = {
		.stacks = INTERN(struct store_stack_entry),
		.events = TEXT_SET,
		.comms = TEXT_SET,
		.cgroups = TEXT_SET,
	};
	struct cap cap = {.question = question, .counts = &counts};
	int err = read_all(shards, selection, &cap, error);

	free(cap.totals);
	free(cap.heavy);
	if (err) {
		store_counts_clear(&counts);
		return err;
	}
	if (counts.count)
		qsort(counts.counts, counts.count, sizeof(*counts.counts), earlier);
	*out = counts;
	return 0;
}

void store_counts_clear(struct store_counts *counts)
{
	free(counts->counts);
	intern_clear(&counts->stacks);
	text_set_clear(&counts->events);
	text_set_clear(&counts->comms);
	text_set_clear(&counts->cgroups);
	*counts = (struct store_counts){};
}
