/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The first query counts the stacks, which is a pass over one column. If there are more stacks than
 * the cap, each server lists its heaviest stacks. The heaviest of all these stacks are then sent to
 * every server, so that each chosen stack is counted on all servers.
 */
#include "store/read/counts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "intern.h"
#include "name_match.h"
#include "order.h"
#include "store/read/counts.h"
#include "store/wire/row_binary.h"
#include "symbol/demangle/demangler.h"

#define CHOSEN "chosen_stack"
#define NO_STACK "toFixedString(unhex('00000000000000000000000000000000'), 16)"
#define SQL_BYTES 2048
#define ROWS_MAX (1U << 24)
/* Limit for the sum of counts in an answer: a million machines record fewer events in a year. */
#define EVENTS_MAX (1ULL << 50)

/* --- stacks beyond the cap --- */

/* Sums of the events of one name over all servers. */
struct total {
	u64 count, value;
};

struct heavy {
	u8 hash[STORE_HASH_BYTES];
	u32 event;
	double share; /* share of all events with the same name that have this stack */
	u64 count, value;
};

struct cap {
	const struct store_question *question;
	struct store_counts *counts;
	u64 stacks; /* upper bound of the number of stacks: a stack on two servers counts twice */
	struct total *totals; /* sums of the events of each name; index: number of the name */
	u32 total_room;
	struct heavy *heavy;
	u32 count, room;
};

static u32 read_and_intern_text(struct byte_cursor *row, struct text_set *set)
{
	char *copy = row_get_string(row);
	u32 number = copy ? text_set_find_or_add_number(set, copy) : HASH_INDEX_NONE;

	free(copy);
	return number;
}

static int read_event_total_row(void *arg, u32 shard, struct byte_cursor *row,
				struct stackmap_error *error)
{
	struct cap *cap = arg;
	u32 event = read_and_intern_text(row, &cap->counts->events);

	(void)shard;
	if (event == HASH_INDEX_NONE ||
	    array_make_zeroed(cap->totals, event + 1UL, cap->total_room))
		return error_set_errno(error, ENOMEM, "store");
	cap->totals[event].count += row_get_u64(row);
	cap->totals[event].value += row_get_u64(row);
	cap->stacks += row_get_u64(row);
	return 0;
}

static int read_heavy_stack_row(void *arg, u32 shard, struct byte_cursor *row,
				struct stackmap_error *error)
{
	struct cap *cap = arg;
	struct heavy heavy = {.event = read_and_intern_text(row, &cap->counts->events)};
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

static double divide_or_zero(u64 of, u64 all)
{
	return all ? (double)of / (double)all : 0;
}

static int compare_stacks_by_hash(const void *a, const void *b)
{
	return memcmp(((const struct heavy *)a)->hash, ((const struct heavy *)b)->hash,
		      STORE_HASH_BYTES);
}

static int compare_by_weight(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;

	return x->share != y->share ? (x->share < y->share) - (x->share > y->share)
				    : compare_stacks_by_hash(a, b);
}

/*
 * Removes all but the heaviest stacks. The weight of a stack is the sum of its shares over all
 * event names and servers.
 */
static void keep_heaviest_stack_hashes(struct cap *cap)
{
	u32 kept = 0;

	qsort(cap->heavy, cap->count, sizeof(*cap->heavy), compare_stacks_by_hash);
	for (u32 i = 0; i < cap->count; i++) {
		struct heavy *heavy = &cap->heavy[i];
		const struct total *total = &cap->totals[heavy->event];

		heavy->share = divide_or_zero(heavy->count, total->count);
		if (total->value)
			heavy->share = divide_or_zero(heavy->value, total->value);
		if (kept && !compare_stacks_by_hash(&cap->heavy[kept - 1], heavy))
			cap->heavy[kept - 1].share += heavy->share;
		else
			cap->heavy[kept++] = *heavy;
	}
	cap->count = kept;
	qsort(cap->heavy, cap->count, sizeof(*cap->heavy), compare_by_weight);
	if (cap->count > cap->question->cap)
		cap->count = cap->question->cap;
}

static int query_all_shards(struct shards *shards, const struct selection *selection,
			    const char *format, shard_row take, void *arg,
			    struct stackmap_error *error)
{
	char *sql = selection_sql(selection, format);
	const struct shard_query query = {
		.sql = sql, .tables = selection->tables, .table_count = selection->table_count};
	int err = sql ? shards_query_all_servers(shards, &query, take, arg, error)
		      : error_set_errno(error, ENOMEM, "store");

	free(sql);
	return err;
}

/* --- counts --- */

static u32 find_or_add_stack(struct store_counts *counts, const u8 *hash)
{
	struct intern_key key = {};
	struct intern_number *entry;

	memcpy(key.word, hash, STORE_HASH_BYTES);
	entry = intern_find_or_add_entry(&counts->stacks, &key);
	if (entry && !entry->number)
		entry->number = counts->stacks.count;
	return entry ? entry->number - 1 : HASH_INDEX_NONE;
}

static int read_count_row(void *arg, u32 shard, struct byte_cursor *row,
			  struct stackmap_error *error)
{
	static const u8 none[STORE_HASH_BYTES];
	const struct cap *cap = arg;
	struct store_counts *counts = cap->counts;
	struct store_count count = {};
	const u8 *hash = row_get_bytes(row, STORE_HASH_BYTES);

	(void)shard;
	count.stack = find_or_add_stack(counts, hash ?: none);
	count.comm = read_and_intern_text(row, &counts->comms);
	count.event = read_and_intern_text(row, &counts->events);
	count.cgroup = cap->question->by_cgroup ? read_and_intern_text(row, &counts->cgroups) : 0;
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

/* Makes the SQL of the query for counts. The caller frees it. */
static char *make_counts_sql(const struct store_question *question,
			     const struct selection *selection, bool is_capped)
{
	size_t bytes;
	char *sql;
	FILE *to = open_memstream(&sql, &bytes);

	if (!to)
		return NULL;
	fprintf(to, "SELECT %s AS s, comm, event, %s",
		is_capped ? "if(stack IN " CHOSEN ", stack, " NO_STACK ")" : "stack",
		question->by_cgroup ? "cgroup, " : "");
	if (question->step)
		fprintf(to, "toUInt32(intDiv(toUInt32(time), %u) * %u) AS t", question->step,
			question->step);
	else
		fprintf(to, "toUInt32(min(time)) AS t");
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

static int read_counts(struct shards *shards, struct selection selection, struct cap *cap,
		       struct stackmap_error *error)
{
	struct byte_buffer chosen = {};
	bool is_capped = cap->counts->is_capped;
	char *sql = make_counts_sql(cap->question, &selection, is_capped);
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
	err = err ?: shards_query_all_servers(shards, &query, read_count_row, cap, error);
	byte_buffer_free(&chosen);
	free(sql);
	return err;
}

static int read_capped_counts(struct shards *shards, const struct selection *selection,
			      struct cap *cap, struct stackmap_error *error)
{
	static const u8 rest[STORE_HASH_BYTES];
	char sql[SQL_BYTES];
	int err = query_all_shards(
		shards, selection,
		"SELECT event, sum(count), sum(value), uniq(stack) FROM {events} WHERE %s "
		"GROUP BY event",
		read_event_total_row, cap, error);

	if (!err && find_or_add_stack(cap->counts, rest) != STORE_STACK_REST)
		err = error_set_errno(error, ENOMEM, "store");
	if (!err && cap->stacks > cap->question->cap) {
		cap->counts->is_capped = true;
		snprintf(
			sql, sizeof(sql),
			"SELECT event, stack, sum(count) AS n, sum(value) AS v FROM {events} "
			"WHERE %%s GROUP BY event, stack ORDER BY if(v > 0, v, n) DESC LIMIT %u BY "
			"event",
			cap->question->cap);
		err = query_all_shards(shards, selection, sql, read_heavy_stack_row, cap, error);
		if (!err)
			keep_heaviest_stack_hashes(cap);
	}
	return err ?: read_counts(shards, *selection, cap, error);
}

static int compare_by_time(const void *a, const void *b)
{
	return order(((const struct store_count *)a)->time, ((const struct store_count *)b)->time);
}

int store_counts_read(struct shards *shards, const struct store_question *question,
		      const struct selection *selection, struct store_counts *out,
		      struct stackmap_error *error)
{
	struct store_counts counts = {
		.stacks = INTERN(struct intern_number),
		.events = TEXT_SET,
		.comms = TEXT_SET,
		.cgroups = TEXT_SET,
	};
	struct cap cap = {.question = question, .counts = &counts};
	int err = read_capped_counts(shards, selection, &cap, error);

	free(cap.totals);
	free(cap.heavy);
	if (err) {
		store_counts_clear(&counts);
		return err;
	}
	if (counts.count)
		qsort(counts.counts, counts.count, sizeof(*counts.counts), compare_by_time);
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

/*
 * Events are found by their stacks. For a function each server first lists the stacks that contain
 * it, which scans all stacks of the days. The stack is the fourth column of the primary key, so a
 * search reads two granules for each service and part. The other columns are the main cost, so the
 * stack is compared (PREWHERE) before any other column is read.
 */

#define DAY_SECONDS 86400
#define HOST_ROWS_MAX (1U << 22)
#define SUMS(narrow)                                                                               \
	"SELECT host, service, version, event, sum(count), sum(value) FROM {events}" narrow        \
	" WHERE %%s GROUP BY host, service, version, event"
#define SUMS_BYTES 256
#define HEX_BYTES (2 * STORE_HASH_BYTES + 1)

static const char names_sql[] =
	"SELECT DISTINCT name FROM (SELECT name FROM frames ARRAY JOIN functions AS name WHERE %s) "
	"AS f";

/*
 * The first frame of the kernel part or user part is looked up by its own offset, any other frame
 * by the offset before it.
 */
static const char stacks_sql[] =
	"SELECT DISTINCT stack FROM (SELECT stack, o, if(i = 1 OR i = kernel_depth + 1 OR f = 0, "
	"f, "
	"toUInt64(f - 1)) AS place FROM stacks ARRAY JOIN object AS o, offset AS f, "
	"arrayEnumerate(object) AS "
	"i WHERE %s) AS s WHERE (o, place) IN (SELECT object, offset FROM (SELECT object, offset, "
	"name FROM frames ARRAY JOIN functions AS name WHERE %s) AS n WHERE name IN wanted_name)";

struct reading {
	struct shards *shards;
	const u8 *stack;
	const char *function;
	struct store_host_counts *counts;
	char days[96];
	struct text_set names;	   /* all function names that the servers have returned */
	struct byte_buffer wanted; /* the function names that match the glob, as RowBinary */
	struct byte_buffer stacks;
	struct demangler *demangler;
};

/* --- stacks with a function --- */

static bool matches_wanted_function(const struct reading *reading, const char *name)
{
	struct name_match match;
	char *plain;
	bool found;

	name_match_init(&match, reading->function);
	if (name_match_compare_name(&match, name))
		return true;
	plain = demangler_demangle_name(reading->demangler, name);
	found = plain && name_match_compare_name(&match, plain);
	free(plain);
	return found;
}

static int read_function_name_row(void *arg, u32 shard, struct byte_cursor *row,
				  struct stackmap_error *error)
{
	struct reading *reading = arg;
	u32 before = reading->names.count, number;
	char *name = row_get_string(row);

	(void)shard;
	number = name ? text_set_find_or_add_number(&reading->names, name) : HASH_INDEX_NONE;
	if (number != HASH_INDEX_NONE && reading->names.count > before &&
	    matches_wanted_function(reading, name))
		row_put_text(&reading->wanted, name);
	free(name);
	return number == HASH_INDEX_NONE ? error_set_errno(error, ENOMEM, "store") : 0;
}

static int query_names_of_wanted_functions(struct reading *reading, struct stackmap_error *error)
{
	char sql[512];
	const struct shard_query query = {.sql = sql};
	int err;

	snprintf(sql, sizeof(sql), names_sql, reading->days);
	if (demangler_create(&reading->demangler))
		return error_set_errno(error, ENOMEM, "store");
	err = shards_query_all_servers(reading->shards, &query, read_function_name_row, reading,
				       error);
	if (err || reading->wanted.failed)
		return err ?: error_set_errno(error, ENOMEM, "store");
	if (reading->wanted.used)
		return 0;
	return error_set(error, ENOENT, "--function %s: no function of this name in this time",
			 reading->function);
}

static int read_stack_hash_row(void *arg, u32 shard, struct byte_cursor *row,
			       struct stackmap_error *error)
{
	struct reading *reading = arg;
	const u8 *hash = row_get_bytes(row, STORE_HASH_BYTES);

	(void)shard;
	if (hash)
		row_put_bytes(&reading->stacks, hash, STORE_HASH_BYTES);
	return reading->stacks.failed ? error_set_errno(error, ENOMEM, "store") : 0;
}

static int find_stacks_with_function(struct reading *reading, u32 shard,
				     struct stackmap_error *error)
{
	const struct clickhouse_table table = {.name = "wanted_name",
					       .structure = "value String",
					       .rows = reading->wanted.data,
					       .bytes = reading->wanted.used};
	char sql[1024];
	const struct shard_query query = {.sql = sql, .tables = &table, .table_count = 1};

	snprintf(sql, sizeof(sql), stacks_sql, reading->days, reading->days);
	byte_buffer_clear(&reading->stacks);
	return shards_query_one_server(reading->shards, shard, &query, read_stack_hash_row, reading,
				       error);
}

/* --- events by host --- */

static void free_texts_of_host_count(struct store_host_count *count)
{
	free(count->host);
	free(count->service);
	free(count->version);
	free(count->event);
}

static int read_host_count_row(void *arg, u32 shard, struct byte_cursor *row,
			       struct stackmap_error *error)
{
	struct reading *reading = arg;
	struct store_host_counts *counts = reading->counts;
	struct store_host_count count = {.host = row_get_string(row),
					 .service = row_get_string(row),
					 .version = row_get_string(row),
					 .event = row_get_string(row)};

	(void)shard;
	count.count = row_get_u64(row);
	count.value = row_get_u64(row);
	if (!count.host || !count.service || !count.version || !count.event ||
	    counts->count == HOST_ROWS_MAX ||
	    array_make_room(counts->counts, counts->count, counts->room)) {
		free_texts_of_host_count(&count);
		return error_set_errno(error, ENOMEM, "store");
	}
	counts->sum += count.count;
	counts->counts[counts->count++] = count;
	return 0;
}

static int count_events_by_host(struct reading *reading, u32 shard, struct selection selection,
				struct stackmap_error *error)
{
	char hex[HEX_BYTES], format[SUMS_BYTES], *sql;
	struct shard_query query = {.tables = selection.tables};
	int err;

	if (reading->stack) {
		for (u32 i = 0; i < STORE_HASH_BYTES; i++)
			snprintf(hex + 2 * i, 3, "%02x", reading->stack[i]);
		snprintf(format, SUMS_BYTES, SUMS(" PREWHERE stack = unhex('%s')"), hex);
	} else {
		snprintf(format, SUMS_BYTES,
			 reading->function ? SUMS(" PREWHERE stack IN wanted_stack") : SUMS(""));
	}
	sql = selection_sql(&selection, format);
	query.sql = sql;
	if (reading->function)
		selection.tables[selection.table_count++] =
			(struct clickhouse_table){.name = "wanted_stack",
						  .structure = "value FixedString(16)",
						  .rows = reading->stacks.data,
						  .bytes = reading->stacks.used};
	query.table_count = selection.table_count;
	err = sql ? shards_query_one_server(reading->shards, shard, &query, read_host_count_row,
					    reading, error)
		  : error_set_errno(error, ENOMEM, "store");
	free(sql);
	return err;
}

static int query_event_counts_of_hosts(struct reading *reading,
				       const struct store_question *question,
				       struct stackmap_error *error)
{
	struct selection selection;
	int err = reading->function ? query_names_of_wanted_functions(reading, error) : 0;

	err = err ?: selection_make(reading->shards, question, &selection, error);
	if (err)
		return err;
	for (u32 i = 0; i < shards_count(reading->shards) && !err; i++) {
		if (reason_shard_is_missing(reading->shards, i))
			continue;
		if (reading->function)
			err = find_stacks_with_function(reading, i, error);
		if (!err && (!reading->function || reading->stacks.used))
			err = count_events_by_host(reading, i, selection, error);
	}
	selection_clear(&selection);
	return err;
}

static int compare_by_count(const void *a, const void *b)
{
	const struct store_host_count *x = a, *y = b;

	return order(y->count, x->count) ?: strcmp(x->host, y->host)
					       ?: strcmp(x->service, y->service)
						  ?: strcmp(x->version, y->version)
						     ?: strcmp(x->event, y->event);
}

int store_host_counts_read(struct shards *shards, const struct store_question *question,
			   const u8 *stack, const char *function, struct store_host_counts *out,
			   struct stackmap_error *error)
{
	struct store_host_counts counts = {};
	struct reading reading = {.shards = shards,
				  .stack = stack,
				  .function = function,
				  .counts = &counts,
				  .names = TEXT_SET};
	u64 first = question->from / DAY_SECONDS;
	int err;

	snprintf(reading.days, sizeof(reading.days), "day >= toDate(%llu) AND day <= toDate(%llu)",
		 (unsigned long long)(first ? first - 1 : 0),
		 (unsigned long long)(question->to / DAY_SECONDS));
	err = query_event_counts_of_hosts(&reading, question, error);
	text_set_clear(&reading.names);
	byte_buffer_free(&reading.wanted);
	byte_buffer_free(&reading.stacks);
	demangler_free(&reading.demangler);
	if (err) {
		store_host_counts_clear(&counts);
		return err;
	}
	if (counts.count)
		qsort(counts.counts, counts.count, sizeof(*counts.counts), compare_by_count);
	*out = counts;
	return 0;
}

void store_host_counts_clear(struct store_host_counts *counts)
{
	for (u32 i = 0; i < counts->count; i++)
		free_texts_of_host_count(&counts->counts[i]);
	free(counts->counts);
	*counts = (struct store_host_counts){};
}
