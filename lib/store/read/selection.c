/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The values of a field that the store has are queried only if a glob must be matched with them: a
 * plain name is sent as it is.
 */
#include "store/read/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "intern.h"
#include "name_match.h"
#include "store/wire/row_binary.h"
#include "store/wire/schema.h"
#include "store/wire/store_url.h"
#include "trace/read/names.h"

/*
 * A server that refuses the request is a failure, not an absent server: treating it as absent would
 * hide the fault for months.
 */

#define TIMEOUT_MS 120000
#define ANSWER_BYTES_MAX (512ULL << 20)
#define SQL_BYTES 4096
#define EVENTS "{events}"

struct shard {
	struct clickhouse *server;
	char *away; /* why the server does not answer; NULL: it answers */
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

const char *reason_shard_is_missing(const struct shards *shards, u32 shard)
{
	return shards->shards[shard].away;
}

bool are_all_shards_available(const struct shards *shards)
{
	for (u32 i = 0; i < shards->url.count; i++)
		if (shards->shards[i].away)
			return false;
	return true;
}

void shards_mark_events_repeated(struct shards *shards, u32 shard)
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

static int mark_shard_missing(struct shard *shard, struct stackmap_error *error)
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
		err = mark_shard_missing(&shards->shards[i], error);
	return err == SHARD_WENT ? 0 : err;
}

int shards_open(const struct store_access *access, struct shards **out,
		struct stackmap_error *error)
{
	struct shards *shards = calloc(1, sizeof(*shards));
	bool any_answers = false;
	int err;

	if (!shards)
		return error_set_errno(error, ENOMEM, "store");
	err = store_url_parse(access->url, &shards->url, error);
	if (!err)
		shards->shards = calloc(shards->url.count, sizeof(*shards->shards));
	if (!err && !shards->shards)
		err = error_set_errno(error, ENOMEM, "store");
	for (u32 i = 0; !err && i < shards->url.count; i++) {
		err = open_shard(shards, access, i, error);
		any_answers |= !err && !shards->shards[i].away;
	}
	if (!err && !any_answers)
		err = error_set(error, EHOSTUNREACH, "%s", shards->shards[0].away);
	if (err)
		shards_close(&shards);
	else
		*out = shards;
	return err;
}

/* --- the SQL of a question --- */

int shards_query_one_server(struct shards *shards, u32 number, const struct shard_query *query,
			    shard_row take, void *arg, struct stackmap_error *error)
{
	struct shard *shard = &shards->shards[number];
	struct clickhouse_result result = {};
	struct byte_buffer answer = {};
	struct byte_cursor rows;
	const char *events = strstr(query->sql, EVENTS);
	int before = events ? (int)(events - query->sql) : (int)strlen(query->sql), err;
	char sql[SQL_BYTES];

	if (snprintf(sql, SQL_BYTES, "%.*s%s%s FORMAT RowBinary", before, query->sql,
		     !events		  ? ""
		     : shard->is_repeated ? "events FINAL"
					  : "events",
		     events ? events + strlen(EVENTS) : "") >= SQL_BYTES)
		return error_set(error, E2BIG, "store: the question is too long");
	err = clickhouse_query(shard->server, sql, query->tables, query->table_count,
			       ANSWER_BYTES_MAX, &answer, &result, error);
	if (err && err != -EFBIG && result.outcome == CLICKHOUSE_UNSURE)
		err = mark_shard_missing(shard, error);
	rows = (struct byte_cursor){.at = answer.data, .end = answer.data + answer.used};
	while (!err && !rows.bad && byte_cursor_left(&rows))
		err = take(arg, number, &rows, error);
	if (!err && rows.bad)
		err = error_set(error, EBADMSG,
				"%s: its answer is cut or damaged: is this a ClickHouse server?",
				clickhouse_name(shard->server));
	byte_buffer_free(&answer);
	return err;
}

int shards_query_all_servers(struct shards *shards, const struct shard_query *query, shard_row take,
			     void *arg, struct stackmap_error *error)
{
	int err = 0;

	for (u32 i = 0; i < shards->url.count && !err; i++)
		if (!shards->shards[i].away)
			err = shards_query_one_server(shards, i, query, take, arg, error);
	return err;
}

#define VALUES_SHOWN 8

#define X(id, column)                                                                              \
	[STORE_FIELD_##id] = {column, "chosen_" column, " AND " column " IN chosen_" column,       \
			      "SELECT DISTINCT " column " FROM events WHERE %s"},
static const struct field {
	const char *name, *table, *condition, *values;
} fields[] = {STORE_FIELDS(X)};
#undef X

/* The values that the store has of a field, and the values among them that match the patterns. */
struct values {
	const struct string_list *wanted;
	enum store_field field;
	struct text_set all;
	struct byte_buffer *rows;
	u32 chosen;
	char near[NAME_NEAREST_BYTES];
};

const char *store_field_name(enum store_field field)
{
	return fields[field].name;
}

char *selection_sql(const struct selection *selection, const char *format)
{
	const char *place = strstr(format, "%s");
	char *sql;

	if (asprintf(&sql, "%.*s%s%s", (int)(place - format), format, selection->where, place + 2) <
	    0)
		return NULL;
	return sql;
}

static bool matches_any_pattern(struct values *values, const char *value)
{
	for (size_t i = 0; i < values->wanted->count; i++) {
		const char *pattern = values->wanted->items[i];
		struct name_match match;

		if (values->field == STORE_FIELD_CGROUP) {
			if (trace_cgroup_is_within(value, pattern))
				return true;
			continue;
		}
		name_match_init(&match, pattern);
		if (name_match_compare_name(&match, value))
			return true;
	}
	return false;
}

static int read_value_row(void *arg, u32 shard, struct byte_cursor *row,
			  struct stackmap_error *error)
{
	struct values *values = arg;
	u32 before = values->all.count, number;
	char *value = row_get_string(row);

	(void)shard;
	number = value ? text_set_find_or_add_number(&values->all, value) : HASH_INDEX_NONE;
	if (number != HASH_INDEX_NONE && values->all.count > before &&
	    matches_any_pattern(values, value)) {
		row_put_text(values->rows, value);
		values->chosen++;
	}
	free(value);
	return number == HASH_INDEX_NONE ? error_set_errno(error, ENOMEM, "store") : 0;
}

static int query_matching_values(struct shards *shards, struct selection *selection,
				 struct values *values, struct stackmap_error *error)
{
	const char *name = fields[values->field].name;
	char list[384] = "";
	size_t used = 0;
	char *sql = selection_sql(selection, fields[values->field].values);
	const struct shard_query query = {
		.sql = sql, .tables = selection->tables, .table_count = selection->table_count};
	int err = sql ? shards_query_all_servers(shards, &query, read_value_row, values, error)
		      : error_set_errno(error, ENOMEM, "store");

	free(sql);
	if (err || values->chosen)
		return err;
	/* Lists up to VALUES_SHOWN values, as "a, b and others". */
	for (u32 i = 0; i < values->all.count && i <= VALUES_SHOWN && used < sizeof(list); i++)
		used += i == VALUES_SHOWN
				? snprintf(list + used, sizeof(list) - used, " and others")
				: snprintf(list + used, sizeof(list) - used, "%s%.40s",
					   i ? ", " : "", values->all.texts[i]);
	return error_set(error, ENOENT, "--%s %s: the store has no such %s in this time%s%s", name,
			 values->wanted->items[0], name, list[0] ? ", but " : "", list);
}

static int limit_selection_to_field_values(struct shards *shards,
					   const struct store_question *question,
					   enum store_field field, struct selection *selection,
					   struct stackmap_error *error)
{
	const struct string_list *wanted = &question->wanted[field];
	struct byte_buffer *rows = &selection->rows[field];
	struct values values = {.wanted = wanted, .field = field, .all = TEXT_SET, .rows = rows};
	size_t used = strlen(selection->where);
	bool needs_values = field == STORE_FIELD_CGROUP;
	int err = 0;

	if (!wanted->count)
		return 0;
	for (size_t i = 0; i < wanted->count; i++)
		needs_values |= strpbrk(wanted->items[i], "*?[") != NULL;
	if (needs_values)
		err = query_matching_values(shards, selection, &values, error);
	else
		for (size_t i = 0; i < wanted->count; i++)
			row_put_text(rows, wanted->items[i]);
	text_set_clear(&values.all);
	if (err || rows->failed)
		return err ?: error_set_errno(error, ENOMEM, "store");
	selection->tables[selection->table_count++] = (struct clickhouse_table){
		.name = fields[field].table,
		.structure = "value String",
		.rows = rows->data,
		.bytes = rows->used,
	};
	snprintf(selection->where + used, sizeof(selection->where) - used, "%s",
		 fields[field].condition);
	return 0;
}

int selection_make(struct shards *shards, const struct store_question *question,
		   struct selection *out, struct stackmap_error *error)
{
	struct selection selection = {};
	int err = 0;

	snprintf(selection.time, sizeof(selection.time),
		 "time >= toDateTime(%llu) AND time < toDateTime(%llu)",
		 (unsigned long long)question->from, (unsigned long long)question->to);
	snprintf(selection.where, sizeof(selection.where), "%s", selection.time);
	for (u32 field = 0; field < STORE_FIELD_COUNT && !err; field++)
		err = limit_selection_to_field_values(shards, question, field, &selection, error);
	if (err)
		selection_clear(&selection);
	else
		*out = selection;
	return err;
}

void selection_clear(struct selection *selection)
{
	for (u32 field = 0; field < STORE_FIELD_COUNT; field++)
		byte_buffer_free(&selection->rows[field]);
	*selection = (struct selection){};
}
