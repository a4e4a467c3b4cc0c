/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events are found by their stacks. For a function each server first lists the stacks that contain
 * it, which scans all stacks of the days. The stack is the fourth column of the primary key, so a
 * search reads two granules for each service and part. The other columns are the main cost, so the
 * stack is compared (PREWHERE) before any of them is read.
 */
#include "store/read/host_counts.h"

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

#define DAY_SECONDS 86400
#define ROWS_MAX (1U << 22)
#define SUMS(narrow)                                                                               \
	"SELECT host, service, version, event, sum(count), sum(value) FROM {events}" narrow        \
	" WHERE %%s GROUP BY host, service, version, event"
#define SUMS_BYTES 256
#define HEX_BYTES (2 * STORE_HASH_BYTES + 1)

static const char names_sql[] =
	"SELECT DISTINCT name FROM (SELECT name FROM frames ARRAY JOIN functions AS name WHERE %s) "
	"AS f";

/* The first frame of a side is looked up by its own offset, any other by the offset before. */
static const char stacks_sql[] =
	"SELECT DISTINCT stack FROM (SELECT stack, o, if(i = 1 OR i = kernel_depth + 1 OR f = 0, "
	"f, "
	"toUInt64(f - 1)) AS place FROM stacks ARRAY JOIN object AS o, offset AS f, "
	"arrayEnumerate(object) AS "
	"i WHERE %s) AS s WHERE (o, place) IN (SELECT object, offset FROM (SELECT object, offset, "
	"name FROM frames ARRAY JOIN functions AS name WHERE %s) AS n WHERE name IN wanted_name)";

struct reading {
	struct shards *shards;
	const struct host_wish *wish;
	struct store_host_counts *counts;
	char days[96];
	struct text_set names;	   /* all function names of the answers */
	struct byte_buffer wanted; /* names that match, RowBinary */
	struct byte_buffer stacks;
	struct demangler *demangler;
};

/* --- functions --- */

static bool is_wanted(const struct reading *reading, const char *name)
{
	struct name_match match;
	char *plain;
	bool found;

	name_match_init(&match, reading->wish->function);
	if (name_match_try(&match, name))
		return true;
	plain = demangler_name(reading->demangler, name);
	found = plain && name_match_try(&match, plain);
	free(plain);
	return found;
}

static int take_name(void *arg, u32 shard, struct byte_cursor *row, struct stackmap_error *error)
{
	struct reading *reading = arg;
	u32 before = reading->names.count, number;
	char *name = row_get_string(row);

	(void)shard;
	number = name ? text_set_number(&reading->names, name) : HASH_INDEX_NONE;
	if (number != HASH_INDEX_NONE && reading->names.count > before && is_wanted(reading, name))
		row_put_text(&reading->wanted, name);
	free(name);
	return number == HASH_INDEX_NONE ? error_set_errno(error, ENOMEM, "store") : 0;
}

static int find_names(struct reading *reading, struct stackmap_error *error)
{
	char sql[512];
	const struct shard_query query = {.sql = sql};
	int err;

	snprintf(sql, sizeof(sql), names_sql, reading->days);
	if (demangler_create(&reading->demangler))
		return error_set_errno(error, ENOMEM, "store");
	err = shards_ask_all(reading->shards, &query, take_name, reading, error);
	if (err || reading->wanted.failed)
		return err ?: error_set_errno(error, ENOMEM, "store");
	if (reading->wanted.used)
		return 0;
	return error_set(error, ENOENT, "--function %s: no function of this name in this time",
			 reading->wish->function);
}

static int take_stack(void *arg, u32 shard, struct byte_cursor *row, struct stackmap_error *error)
{
	struct reading *reading = arg;
	const u8 *hash = row_get_bytes(row, STORE_HASH_BYTES);

	(void)shard;
	if (hash)
		row_put_bytes(&reading->stacks, hash, STORE_HASH_BYTES);
	return reading->stacks.failed ? error_set_errno(error, ENOMEM, "store") : 0;
}

static int find_stacks(struct reading *reading, u32 shard, struct stackmap_error *error)
{
	const struct clickhouse_table table = {.name = "wanted_name",
					       .structure = "value String",
					       .rows = reading->wanted.data,
					       .bytes = reading->wanted.used};
	char sql[1024];
	const struct shard_query query = {.sql = sql, .tables = &table, .table_count = 1};

	snprintf(sql, sizeof(sql), stacks_sql, reading->days, reading->days);
	byte_buffer_clear(&reading->stacks);
	return shards_ask(reading->shards, shard, &query, take_stack, reading, error);
}

/* --- events --- */

static void clear_count(struct store_host_count *count)
{
	free(count->host);
	free(count->service);
	free(count->version);
	free(count->event);
}

static int take_count(void *arg, u32 shard, struct byte_cursor *row, struct stackmap_error *error)
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
	    counts->count == ROWS_MAX ||
	    array_make_room(counts->counts, counts->count, counts->room)) {
		clear_count(&count);
		return error_set_errno(error, ENOMEM, "store");
	}
	counts->sum += count.count;
	counts->counts[counts->count++] = count;
	return 0;
}

/* Makes the SQL, with "%s" for the condition. */
static void put_sums(const struct host_wish *wish, char format[SUMS_BYTES])
{
	char hex[HEX_BYTES];

	if (wish->stack) {
		for (u32 i = 0; i < STORE_HASH_BYTES; i++)
			snprintf(hex + 2 * i, 3, "%02x", wish->stack[i]);
		snprintf(format, SUMS_BYTES, SUMS(" PREWHERE stack = unhex('%s')"), hex);
		return;
	}
	snprintf(format, SUMS_BYTES,
		 wish->function ? SUMS(" PREWHERE stack IN wanted_stack") : SUMS(""));
}

static int count_events(struct reading *reading, u32 shard, struct selection selection,
			struct stackmap_error *error)
{
	char format[SUMS_BYTES], *sql;
	struct shard_query query = {.tables = selection.tables};
	int err;

	put_sums(reading->wish, format);
	sql = selection_sql(&selection, format);
	query.sql = sql;
	if (reading->wish->function)
		selection.tables[selection.table_count++] =
			(struct clickhouse_table){.name = "wanted_stack",
						  .structure = "value FixedString(16)",
						  .rows = reading->stacks.data,
						  .bytes = reading->stacks.used};
	query.table_count = selection.table_count;
	err = sql ? shards_ask(reading->shards, shard, &query, take_count, reading, error)
		  : error_set_errno(error, ENOMEM, "store");
	free(sql);
	return err;
}

static int read_shard(struct reading *reading, u32 shard, const struct selection *selection,
		      struct stackmap_error *error)
{
	int err = reading->wish->function ? find_stacks(reading, shard, error) : 0;

	if (!err && reading->wish->function && !reading->stacks.used)
		return 0;
	return err ?: count_events(reading, shard, *selection, error);
}

static int read_all(struct reading *reading, const struct store_question *question,
		    struct stackmap_error *error)
{
	struct selection selection;
	int err = reading->wish->function ? find_names(reading, error) : 0;

	err = err ?: selection_make(reading->shards, question, &selection, error);
	if (err)
		return err;
	for (u32 i = 0; i < shards_count(reading->shards) && !err; i++)
		if (!shards_away(reading->shards, i))
			err = read_shard(reading, i, &selection, error);
	selection_clear(&selection);
	return err;
}

static int more(const void *a, const void *b)
{
	const struct store_host_count *x = a, *y = b;

	return order(y->count, x->count) ?: strcmp(x->host, y->host)
					       ?: strcmp(x->service, y->service)
						  ?: strcmp(x->version, y->version)
						     ?: strcmp(x->event, y->event);
}

int store_host_counts_read(struct shards *shards, const struct store_question *question,
			   const struct host_wish *wish, struct store_host_counts *out,
			   struct stackmap_error *error)
{
	struct store_host_counts counts = {};
	struct reading reading = {
		.shards = shards, .wish = wish, .counts = &counts, .names = TEXT_SET};
	u64 first = question->from / DAY_SECONDS;
	int err;

	snprintf(reading.days, sizeof(reading.days), "day >= toDate(%llu) AND day <= toDate(%llu)",
		 (unsigned long long)(first ? first - 1 : 0),
		 (unsigned long long)(question->to / DAY_SECONDS));
	err = read_all(&reading, question, error);
	text_set_clear(&reading.names);
	byte_buffer_free(&reading.wanted);
	byte_buffer_free(&reading.stacks);
	demangler_free(&reading.demangler);
	if (err) {
		store_host_counts_clear(&counts);
		return err;
	}
	if (counts.count)
		qsort(counts.counts, counts.count, sizeof(*counts.counts), more);
	*out = counts;
	return 0;
}

void store_host_counts_clear(struct store_host_counts *counts)
{
	for (u32 i = 0; i < counts->count; i++)
		clear_count(&counts->counts[i]);
	free(counts->counts);
	*counts = (struct store_host_counts){};
}
