/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A server that refuses the request is a failure. Treating it as away would hide it for months. */
#include "store/read/shards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "store/wire/schema.h"
#include "store/wire/store_url.h"

#define TIMEOUT_MS 120000
#define ANSWER_BYTES_MAX (512ULL << 20)
#define SQL_BYTES 4096
#define EVENTS "{events}"

struct shard {
	struct clickhouse *server;
	char *away; /* cause of its absence; NULL: present */
	bool is_repeated;
};

struct shards {
	struct store_url url;
	struct shard *shards;
};

u32 shards_count(const struct shards *shards)
{
	return shards->url.count;
}

const char *shards_away(const struct shards *shards, u32 shard)
{
	return shards->shards[shard].away;
}

bool shards_are_whole(const struct shards *shards)
{
	for (u32 i = 0; i < shards->url.count; i++)
		if (shards->shards[i].away)
			return false;
	return true;
}

void shards_set_repeated(struct shards *shards, u32 shard)
{
	shards->shards[shard].is_repeated = true;
}

void shards_close(struct shards **shards)
{
	struct shards *old = *shards;

	if (!old)
		return;
	for (u32 i = 0; old->shards && i < old->url.count; i++) {
		clickhouse_close(&old->shards[i].server);
		free(old->shards[i].away);
	}
	free(old->shards);
	store_url_clear(&old->url);
	free(old);
	*shards = NULL;
}

static int set_away(struct shard *shard, struct stackmap_error *error)
{
	shard->away = strdup(error->message);
	return shard->away ? SHARD_WENT : error_set_errno(error, ENOMEM, "store");
}

static int open_shard(struct shards *shards, const struct store_access *access, u32 i,
		      struct stackmap_error *error)
{
	const struct clickhouse_options options = {
		.http = {.base = shards->url.shards[i],
			 .user = access->user,
			 .password = access->password,
			 .ca_file = access->ca_file,
			 .allows_cleartext = access->allows_cleartext,
			 .timeout_ms = TIMEOUT_MS},
		.database = shards->url.database,
	};
	struct clickhouse_result result = {};
	int err = clickhouse_open(&options, &shards->shards[i].server, error);

	if (err)
		return err;
	err = schema_check(shards->shards[i].server, &result, error);
	if (err && result.outcome == CLICKHOUSE_UNSURE)
		err = set_away(&shards->shards[i], error);
	return err == SHARD_WENT ? 0 : err;
}

static int open_all(struct shards *shards, const struct store_access *access,
		    struct stackmap_error *error)
{
	bool any = false;
	int err = store_url_parse(access->url, &shards->url, error);

	if (err)
		return err;
	shards->shards = calloc(shards->url.count, sizeof(*shards->shards));
	if (!shards->shards)
		return error_set_errno(error, ENOMEM, "store");
	for (u32 i = 0; i < shards->url.count && !err; i++) {
		err = open_shard(shards, access, i, error);
		any |= !err && !shards->shards[i].away;
	}
	return err || any ? err : error_set(error, EHOSTUNREACH, "%s", shards->shards[0].away);
}

int shards_open(const struct store_access *access, struct shards **out,
		struct stackmap_error *error)
{
	struct shards *shards = calloc(1, sizeof(*shards));
	int err;

	if (!shards)
		return error_set_errno(error, ENOMEM, "store");
	err = open_all(shards, access, error);
	if (err)
		shards_close(&shards);
	else
		*out = shards;
	return err;
}

/* --- questions --- */

static int make_sql(const struct shard *shard, const char *text, char sql[SQL_BYTES],
		    struct stackmap_error *error)
{
	const char *events = strstr(text, EVENTS);
	int before = events ? (int)(events - text) : (int)strlen(text);
	const char *table = !events ? "" : shard->is_repeated ? "events FINAL" : "events";
	int used = snprintf(sql, SQL_BYTES, "%.*s%s%s FORMAT RowBinary", before, text, table,
			    events ? events + strlen(EVENTS) : "");

	return used < SQL_BYTES ? 0 : error_set(error, E2BIG, "store: the question is too long");
}

static int take_rows(const struct shard *shard, u32 number, const struct byte_buffer *answer,
		     shard_row take, void *arg, struct stackmap_error *error)
{
	struct byte_cursor rows = {.at = answer->data, .end = answer->data + answer->used};
	int err = 0;

	while (!err && !rows.bad && byte_cursor_left(&rows))
		err = take(arg, number, &rows, error);
	if (!err && rows.bad)
		err = error_set(error, EBADMSG,
				"%s: its answer is cut or damaged: is this a ClickHouse server?",
				clickhouse_name(shard->server));
	return err;
}

int shards_ask(struct shards *shards, u32 number, const struct shard_query *query, shard_row take,
	       void *arg, struct stackmap_error *error)
{
	struct shard *shard = &shards->shards[number];
	struct clickhouse_result result = {};
	struct byte_buffer answer = {};
	char sql[SQL_BYTES];
	int err = make_sql(shard, query->sql, sql, error);

	if (err)
		return err;
	err = clickhouse_query(shard->server, sql, query->tables, query->table_count,
			       ANSWER_BYTES_MAX, &answer, &result, error);
	if (err && err != -EFBIG && result.outcome == CLICKHOUSE_UNSURE)
		err = set_away(shard, error);
	if (!err)
		err = take_rows(shard, number, &answer, take, arg, error);
	byte_buffer_free(&answer);
	return err;
}

int shards_ask_all(struct shards *shards, const struct shard_query *query, shard_row take,
		   void *arg, struct stackmap_error *error)
{
	int err = 0;

	for (u32 i = 0; i < shards->url.count && !err; i++)
		if (!shards->shards[i].away)
			err = shards_ask(shards, i, query, take, arg, error);
	return err;
}
