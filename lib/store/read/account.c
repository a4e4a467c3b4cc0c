/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account takes two queries. The first query adds up the counts of each host, in one pass over
 * two narrow columns; for nearly all hosts, the sums are equal. The second query adds up the counts
 * of the other hosts for each window and counts each key once, which separates repeated events from
 * missing ones.
 */
#include "store/read/account.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "store/wire/row_binary.h"

#define CHOSEN_HOSTS " AND host IN chosen_host"

/*
 * Selects, from the ledger's rows with equal keys (host, boot, batch, time), the row with the
 * highest state.
 */
#define LEDGER_ROWS(columns)                                                                       \
	"SELECT host, time, " columns " FROM ledger WHERE %s GROUP BY host, boot, batch, time"

static const char by_host[] =
	"SELECT host, sum(p), sum(r), sum(s) FROM ("
	"SELECT host, sum(produced) AS p, sum(recorded) AS r, toUInt64(0) AS s "
	"FROM ledger FINAL WHERE %s GROUP BY host "
	"UNION ALL SELECT host, toUInt64(0) AS p, "
	"toUInt64(0) AS r, toUInt64(sum(count)) AS s "
	"FROM events WHERE %s GROUP BY host) AS a GROUP BY host";

static const char by_window[] =
	"SELECT host, sum(e), sum(if(r > e, r - e, 0)), sum(if(e > r, e - r, 0)) FROM ("
	"SELECT host, time, sum(r) AS r, sum(e) AS e FROM ("
	"SELECT host, time, toUInt64(sum(r)) AS r, toUInt64(0) AS e FROM (" LEDGER_ROWS(
		"argMax(recorded, state) AS r") ") AS l GROUP BY host, time "
						"UNION ALL SELECT host, time, toUInt64(0) AS r, "
						"toUInt64(sum(c)) AS e FROM ("
						"SELECT host, time, any(count) AS c FROM events "
						"PREWHERE %s GROUP BY service, event, stack, "
						"host, time, version, cgroup, comm) AS k GROUP BY "
						"host, time) AS a "
						"GROUP BY host, time) AS w GROUP BY host";

/*
 * A ledger row that replaces another row repeats the causes of that row, so rows without causes are
 * skipped.
 */
static const char by_cause[] =
	"SELECT cause, sum(n) FROM (SELECT cause, n FROM (SELECT host, time, argMax(causes, state) "
	"AS "
	"c, argMax(lost, state) AS l FROM ledger WHERE notEmpty(causes) AND %s GROUP BY host, "
	"boot, "
	"batch, time) AS r ARRAY JOIN c AS cause, l AS n) AS d GROUP BY cause";

static const char machines[] = "SELECT host, any(kernel), any(machine), max(cpus) FROM hosts "
			       "WHERE %s GROUP BY host";

#define X(id, name, meaning) [LOST_##id] = name,
static const char *const causes[LOST_COUNT] = {LEDGER_LOST(X)};
#undef X

/* Identifies a host by its shard and its name, which does not end with NUL. */
struct host_key {
	u32 shard;
	const char *name;
	size_t length;
};

static u32 hash_host(const struct host_key *key)
{
	u64 hash = hash_word(0, key->shard);

	for (size_t i = 0; i < key->length; i++)
		hash = hash_word(hash, (u8)key->name[i]);
	return hash_end(hash);
}

static bool is_host_of_key(const void *hosts, u32 index, const void *arg)
{
	const struct store_host *host = &((const struct store_host *)hosts)[index];
	const struct host_key *key = arg;

	return host->shard == key->shard && strlen(host->name) == key->length &&
	       !memcmp(host->name, key->name, key->length);
}

static struct store_host *find_host(struct store_account *account, const struct host_key *key)
{
	u32 index = hash_index_find(&account->index, hash_host(key), is_host_of_key, account->hosts,
				    key);

	return index == HASH_INDEX_NONE ? NULL : &account->hosts[index];
}

static struct host_key read_host_key(struct byte_cursor *row, u32 shard)
{
	struct host_key key = {.shard = shard};

	key.name = row_get_text(row, &key.length);
	key.length = strnlen(key.name, key.length);
	return key;
}

static int read_host_sums_row(void *arg, u32 shard, struct byte_cursor *row,
			      struct stackmap_error *error)
{
	struct store_account *account = arg;
	struct host_key key = read_host_key(row, shard);
	struct store_host host = {.shard = shard};

	host.produced = row_get_u64(row);
	host.recorded = row_get_u64(row);
	host.stored = row_get_u64(row);
	if (row->bad || find_host(account, &key))
		return 0;
	host.name = strndup(key.name, key.length);
	if (!host.name || array_make_room(account->hosts, account->count, account->room) ||
	    hash_index_add(&account->index, hash_host(&key), account->count)) {
		free(host.name);
		return error_set_errno(error, ENOMEM, "store");
	}
	account->hosts[account->count++] = host;
	return 0;
}

static int read_window_differences_row(void *arg, u32 shard, struct byte_cursor *row,
				       struct stackmap_error *error)
{
	struct host_key key = read_host_key(row, shard);
	u64 exact = row_get_u64(row), missing = row_get_u64(row), surplus = row_get_u64(row);
	struct store_host *host = find_host(arg, &key);

	(void)error;
	if (row->bad || !host)
		return 0;
	host->repeated = host->stored > exact ? host->stored - exact : 0;
	host->missing = missing < host->recorded ? missing : host->recorded;
	host->surplus = surplus;
	return 0;
}

static int read_loss_cause_row(void *arg, u32 shard, struct byte_cursor *row,
			       struct stackmap_error *error)
{
	struct store_account *account = arg;
	size_t length;
	const char *name = row_get_text(row, &length);
	u64 count = row_get_u64(row);
	u32 cause = 0;

	(void)shard;
	(void)error;
	while (cause < LOST_COUNT &&
	       (strlen(causes[cause]) != length || memcmp(causes[cause], name, length)))
		cause++;
	/* A cause that is unknown to this program counts as LOST_NOT_STORED. */
	if (!row->bad)
		account->lost[cause < LOST_COUNT ? cause : LOST_NOT_STORED] += count;
	return 0;
}

static int read_machine_row(void *arg, u32 shard, struct byte_cursor *row,
			    struct stackmap_error *error)
{
	struct host_key key = read_host_key(row, shard);
	size_t kernel_length, machine_length;
	const char *kernel = row_get_text(row, &kernel_length);
	const char *machine = row_get_text(row, &machine_length);
	u32 cpus = row_get_u16(row);
	struct store_host *host = find_host(arg, &key);

	if (row->bad || !host || host->kernel)
		return 0;
	host->kernel = strndup(kernel, kernel_length);
	host->machine = strndup(machine, machine_length);
	host->cpus = cpus;
	return host->kernel && host->machine ? 0 : error_set_errno(error, ENOMEM, "store");
}

/* Copies `text` and replaces each "%s" by the condition; NULL without memory. */
static char *copy_sql_with_condition(const char *text, const char *condition)
{
	size_t bytes;
	char *sql;
	FILE *stream = open_memstream(&sql, &bytes);

	if (!stream)
		return NULL;
	for (const char *place; (place = strstr(text, "%s")); text = place + 2)
		fprintf(stream, "%.*s%s", (int)(place - text), text, condition);
	fputs(text, stream);
	if (!fclose(stream))
		return sql;
	free(sql);
	return NULL;
}

/* A query about the hosts in `hosts` (RowBinary). An empty buffer selects all hosts. */
struct look {
	const char *sql, *condition;
	const struct byte_buffer *hosts;
	shard_row take;
};

static int query_hosts(struct shards *shards, u32 shard, const struct look *look,
		       struct store_account *account, struct stackmap_error *error)
{
	char condition[160];
	const struct clickhouse_table table = {
		.name = "chosen_host",
		.structure = "value String",
		.rows = look->hosts->data,
		.bytes = look->hosts->used,
	};
	struct shard_query query = {.tables = &table, .table_count = look->hosts->used > 0};
	char *sql;
	int err;

	snprintf(condition, sizeof(condition), "%s%s", look->condition,
		 query.table_count ? CHOSEN_HOSTS : "");
	sql = copy_sql_with_condition(look->sql, condition);
	query.sql = sql;
	err = sql ? shards_query_one_server(shards, shard, &query, look->take, account, error)
		  : error_set_errno(error, ENOMEM, "store");
	free(sql);
	return err;
}

/* Compares the hosts whose sums differ, window by window. */
static int query_unbalanced_hosts(struct shards *shards, u32 shard, const char *time,
				  struct store_account *account, struct stackmap_error *error)
{
	struct byte_buffer hosts = {};
	const struct look look = {by_window, time, &hosts, read_window_differences_row};
	int err = 0;

	for (u32 i = 0; i < account->count; i++)
		if (account->hosts[i].shard == shard &&
		    account->hosts[i].stored != account->hosts[i].recorded)
			row_put_text(&hosts, account->hosts[i].name);
	if (hosts.used || hosts.failed)
		err = hosts.failed ? error_set_errno(error, ENOMEM, "store")
				   : query_hosts(shards, shard, &look, account, error);
	byte_buffer_free(&hosts);
	return err;
}

static int query_account_of_shard(struct shards *shards, u32 shard,
				  const struct store_question *question,
				  const struct selection *selection, struct store_account *account,
				  struct stackmap_error *error)
{
	const struct byte_buffer *hosts = &selection->rows[STORE_FIELD_HOST];
	const struct look sums = {by_host, selection->time, hosts, read_host_sums_row};
	const struct look lost = {by_cause, selection->time, hosts, read_loss_cause_row};
	char days[96];
	const struct look about = {machines, days, hosts, read_machine_row};

	snprintf(days, sizeof(days), "day >= toDate(%llu) AND day <= toDate(%llu)",
		 (unsigned long long)(question->from / 86400),
		 (unsigned long long)(question->to / 86400));
	return query_hosts(shards, shard, &sums, account, error)
		       ?: query_unbalanced_hosts(shards, shard, selection->time, account, error)
		       ?: query_hosts(shards, shard, &lost, account, error)
		       ?: query_hosts(shards, shard, &about, account, error);
}

int store_account_read(struct shards *shards, const struct store_question *question,
		       const struct selection *selection, struct store_account *out,
		       struct stackmap_error *error)
{
	struct store_account account = {};
	int err = 0;

	for (u32 i = 0; i < shards_count(shards) && !err; i++)
		if (!reason_shard_is_missing(shards, i))
			err = query_account_of_shard(shards, i, question, selection, &account,
						     error);
	if (err) {
		store_account_clear(&account);
		return err;
	}
	for (u32 i = 0; i < account.count; i++) {
		const struct store_host *host = &account.hosts[i];

		account.produced += host->produced;
		account.recorded += host->recorded - host->missing;
		account.missing += host->missing;
		if (host->repeated)
			shards_mark_events_repeated(shards, host->shard);
	}
	account.lost[LOST_NOT_STORED] += account.missing;
	*out = account;
	return 0;
}

void store_account_clear(struct store_account *account)
{
	for (u32 i = 0; i < account->count; i++) {
		free(account->hosts[i].name);
		free(account->hosts[i].kernel);
		free(account->hosts[i].machine);
	}
	free(account->hosts);
	hash_index_free(&account->index);
	*account = (struct store_account){};
}
