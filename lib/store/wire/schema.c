/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One schema in two forms. Servers before CLICKHOUSE_MODERN need a setting for LowCardinality and
 * choose the compression themselves. On modern servers each column has a codec, and the server
 * remembers as many deduplication tokens of inserts as the table's definition says.
 *
 * Every table except the list of versions is a ReplacingMergeTree, which merges repeated inserts. A
 * partition is a day, so a day is dropped as a partition.
 */
#include "store/wire/schema.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "store/wire/clickhouse.h"
#include "store/wire/row_binary.h"

#define LOW "LowCardinality(String)"
#define HASH "FixedString(16)"
#define SECONDS "DateTime('UTC')"
#define REMEMBERED_INSERTS "10000"
#define ANSWER_BYTES_MAX 64
#define SCHEMA_TABLE "schema"
#define SETTINGS_BYTES 256
#define ALLOW_LOW_CARDINALITY "&allow_experimental_low_cardinality_type=1"
#define CLUSTER_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."

struct column {
	const char *name, *type;
};

struct table {
	const char *name;
	const struct column *columns; /* columns of the table; the last entry has a NULL name */
	const char *version; /* column whose highest value wins a merge of rows; "": any row wins */
	const char *day;     /* the column that gives the day of the partition */
	const char *order;
};

static const struct column ledger_columns[] = {
	{"time", SECONDS},	   {"host", LOW},
	{"boot", "String"},	   {"batch", "UInt64"},
	{"seconds", "UInt16"},	   {"produced", "UInt64"},
	{"recorded", "UInt64"},	   {"causes", "Array(String)"},
	{"lost", "Array(UInt64)"}, {"skew", "Int32"},
	{"state", "UInt8"},	   {NULL, NULL},
};

static const struct column hosts_columns[] = {
	{"day", "Date"},
	{"host", LOW},
	{"boot", "String"},
	{"kernel", "String"},
	{"machine", "String"},
	{"cpus", "UInt16"},
	{"labels", "Array(String)"},
	{NULL, NULL},
};

static const struct column objects_columns[] = {
	{"day", "Date"},    {"object", HASH},	 {"kind", "UInt8"}, {"build_id", "String"},
	{"path", "String"}, {"kernel", "UInt8"}, {NULL, NULL},
};

static const struct column frames_columns[] = {
	{"day", "Date"},
	{"object", HASH},
	{"offset", "UInt64"},
	{"start", "UInt64"},
	{"size", "UInt64"},
	{"functions", "Array(String)"},
	{"files", "Array(String)"},
	{"lines", "Array(UInt32)"},
	{"rank", "UInt8"},
	{NULL, NULL},
};

static const struct column stacks_columns[] = {
	{"day", "Date"},
	{"stack", HASH},
	{"kernel_depth", "UInt16"},
	{"kernel_end", LOW},
	{"user_end", LOW},
	{"leaf", "UInt8"},
	{"object", "Array(" HASH ")"},
	{"offset", "Array(UInt64)"},
	{NULL, NULL},
};

static const struct column events_columns[] = {
	{"time", SECONDS},   {"host", LOW},	  {"service", LOW}, {"version", LOW},
	{"cgroup", LOW},     {"comm", LOW},	  {"event", LOW},   {"stack", HASH},
	{"count", "UInt32"}, {"value", "UInt64"}, {NULL, NULL},
};

static const struct table tables[STORE_TABLE_COUNT] = {
	[STORE_LEDGER] = {"ledger", ledger_columns, "state", "time", "host, boot, batch, time"},
	[STORE_HOSTS] = {"hosts", hosts_columns, "", "day", "host, boot"},
	[STORE_OBJECTS] = {"objects", objects_columns, "", "day", "object"},
	[STORE_FRAMES] = {"frames", frames_columns, "rank", "day", "object, offset"},
	[STORE_STACKS] = {"stacks", stacks_columns, "", "day", "stack"},
	[STORE_EVENTS] = {"events", events_columns, "", "time",
			  "service, event, toStartOfHour(time), stack, host, time, version, "
			  "cgroup, comm"},
};

const char *store_table_name(enum store_table table)
{
	return tables[table].name;
}

/* --- views --- */

/*
 * Views for dashboards and people: function names instead of hashes, and each batch of the ledger
 * once. The commands of stackmap do not use these views.
 */

/*
 * The queries run on ClickHouse 18.16 and on current versions: they name the strictness of joins
 * and use only functions that all these versions have. Equal rows of several days count once.
 */

struct store_view {
	const char *name;
	const char *query; /* the SQL, in which tables have no database name */
};

/* The views; the last entry has a NULL name. A view comes after the views that it uses. */
extern const struct store_view store_views[];

/*
 * The functions of a frame: names from debug information are preferred to names from a symbol
 * table.
 */
#define FRAMES                                                                                     \
	"SELECT object, offset, argMax(functions, rank) AS functions FROM frames "                 \
	"GROUP BY object, offset"

#define OBJECTS                                                                                    \
	"SELECT object, any(path) AS path, any(build_id) AS build_id FROM objects GROUP BY object"

/*
 * Turns one row for each stack into one row for each frame. The innermost frame of the kernel or
 * user part is a program counter. The other frames are return addresses, which are looked up by the
 * byte before.
 */
#define POSITIONS                                                                                  \
	"SELECT stack, position, object, if(position = 1 OR position = depth + 1 OR place = 0, "   \
	"place, toUInt64(place - 1)) AS offset FROM "                                              \
	"(SELECT stack, any(kernel_depth) AS depth, any(object) AS objects, "                      \
	"any(offset) AS places FROM stacks GROUP BY stack) AS whole "                              \
	"ARRAY JOIN objects AS object, places AS place, arrayEnumerate(objects) AS position"

/*
 * Inlined functions are separate frames, as in reports. Code without a name gets the name of its
 * file.
 */
#define NAMES                                                                                      \
	"if(empty(functions), [path], arrayMap((name, i) -> if(i < length(functions), "            \
	"concat(name, ' (inlined)'), name), functions, arrayEnumerate(functions)))"

const struct store_view store_views[] = {
	{"frame_names", FRAMES},
	{"object_names", OBJECTS},
	/* Function names are ordered outermost first, as a flame graph grows. */
	{"stack_names",
	 "SELECT stack, arrayReverse(groupArrayArray(names)) AS names FROM "
	 "(SELECT stack, position, " NAMES " AS names FROM "
	 "(SELECT stack, position, object, functions FROM (" POSITIONS ") AS positions "
	 "ANY LEFT JOIN (" FRAMES ") AS found USING (object, offset)) AS named "
	 "ANY LEFT JOIN (" OBJECTS ") AS files USING (object) ORDER BY stack, position) "
	 "GROUP BY stack"},
	{"ledger_final", "SELECT * FROM ledger FINAL"},
	{NULL, NULL},
};

/* An SQL statement that is being built. */
struct statement {
	FILE *stream;
	char *text;
	size_t bytes;
};

static int begin_statement(struct statement *statement)
{
	*statement = (struct statement){0};
	statement->stream = open_memstream(&statement->text, &statement->bytes);
	return statement->stream ? 0 : -ENOMEM;
}

/* Executes and frees the statement. */
static int execute_statement(struct clickhouse *server, struct statement *statement,
			     const char *settings, struct stackmap_error *error)
{
	bool failed = ferror(statement->stream);
	int err;

	failed |= fclose(statement->stream) != 0;
	if (failed)
		err = error_set_errno(error, ENOMEM, clickhouse_name(server));
	else
		err = clickhouse_execute(server, statement->text, settings, error);
	free(statement->text);
	return err;
}

static int create_server_table(struct clickhouse *server, const struct table *table, bool modern,
			       struct stackmap_error *error)
{
	struct statement statement;

	if (begin_statement(&statement))
		return -ENOMEM;
	fprintf(statement.stream, "CREATE TABLE IF NOT EXISTS %s.%s (", clickhouse_database(server),
		table->name);
	for (const struct column *column = table->columns; column->name; column++)
		fprintf(statement.stream, "%s%s %s%s", column == table->columns ? "" : ", ",
			column->name, column->type, modern ? " CODEC(ZSTD(1))" : "");
	fprintf(statement.stream,
		") ENGINE = ReplacingMergeTree(%s) PARTITION BY toYYYYMMDD(%s) ORDER BY (%s)",
		table->version, table->day, table->order);
	if (modern)
		fprintf(statement.stream,
			" SETTINGS non_replicated_deduplication_window = " REMEMBERED_INSERTS);
	return execute_statement(server, &statement, modern ? "" : ALLOW_LOW_CARDINALITY, error);
}

static int execute_sql_with_database_name(struct clickhouse *server, const char *before,
					  const char *after, struct stackmap_error *error)
{
	struct statement statement;

	if (begin_statement(&statement))
		return -ENOMEM;
	fprintf(statement.stream, "%s%s%s", before, clickhouse_database(server), after);
	return execute_statement(server, &statement, "", error);
}

/*
 * A function that migrates the tables of version N to version N + 1, and can be repeated. NULL: the
 * new version only has new tables. Version 0 is a store whose creation was interrupted.
 */
typedef int migration(struct clickhouse *server, struct stackmap_error *error);

static migration *const migrations[SCHEMA_VERSION] = {NULL};

static int query_schema_version(struct clickhouse *server, u32 *version,
				struct clickhouse_result *result, struct stackmap_error *error)
{
	struct byte_buffer answer;
	int err = clickhouse_query(
		server, "SELECT max(version), count() FROM " SCHEMA_TABLE " FORMAT RowBinary", NULL,
		0, ANSWER_BYTES_MAX, &answer, result, error);
	struct byte_cursor rows = {answer.data, answer.data + answer.used, false};
	u32 highest;
	u64 count;

	if (!err) {
		highest = row_get_u32(&rows);
		count = row_get_u64(&rows);
		if (rows.bad || byte_cursor_left(&rows))
			err = error_set(error, EBADMSG, "%s: the answer makes no sense",
					clickhouse_name(server));
		else
			*version = count ? highest : 0;
	}
	byte_buffer_free(&answer);
	return err;
}

/* The new version is stored last, so an interrupted migration is repeated. */
static int migrate_schema(struct clickhouse *server, struct stackmap_error *error)
{
	struct statement statement;
	u32 version, year;
	int err = query_schema_version(server, &version, NULL, error);

	if (err)
		return err;
	for (u32 i = version; !err && i < SCHEMA_VERSION; i++)
		err = migrations[i] ? migrations[i](server, error) : 0;
	err = err ?: clickhouse_year(server, &year, NULL, error);
	for (u32 i = 0; !err && i < STORE_TABLE_COUNT; i++)
		err = create_server_table(server, &tables[i], year >= CLICKHOUSE_MODERN, error);
	if (err || version == SCHEMA_VERSION)
		return err;
	if (begin_statement(&statement))
		return -ENOMEM;
	fprintf(statement.stream, "INSERT INTO %s." SCHEMA_TABLE " SELECT toUInt32(%d), now()",
		clickhouse_database(server), SCHEMA_VERSION);
	return execute_statement(server, &statement, "", error);
}

/*
 * Replaces the view: the old view may be of another version, and a view has no data. Its query uses
 * the session's database.
 */
static int replace_server_view(struct clickhouse *server, const struct store_view *view,
			       bool modern, struct stackmap_error *error)
{
	struct statement statement;
	char settings[SETTINGS_BYTES];
	int err;

	if (begin_statement(&statement))
		return -ENOMEM;
	fprintf(statement.stream, "DROP TABLE IF EXISTS %s.%s", clickhouse_database(server),
		view->name);
	err = execute_statement(server, &statement, "", error);
	if (err)
		return err;
	if (begin_statement(&statement))
		return -ENOMEM;
	fprintf(statement.stream, "CREATE VIEW %s.%s AS %s", clickhouse_database(server),
		view->name, view->query);
	snprintf(settings, sizeof(settings), "&database=%s%s", clickhouse_database(server),
		 modern ? "" : ALLOW_LOW_CARDINALITY);
	return execute_statement(server, &statement, settings, error);
}

/* Makes a table through which a table of all servers of a cluster is read. */
static int create_cluster_table(struct clickhouse *server, const char *name, const char *cluster,
				bool modern, struct stackmap_error *error)
{
	const char *database = clickhouse_database(server);
	struct statement statement;

	if (begin_statement(&statement))
		return -ENOMEM;
	fprintf(statement.stream,
		"CREATE TABLE IF NOT EXISTS %s.%s_all AS %s.%s ENGINE = Distributed('%s', '%s', "
		"'%s')",
		database, name, database, name, cluster, database, name);
	return execute_statement(server, &statement, modern ? "" : ALLOW_LOW_CARDINALITY, error);
}

static int make_cluster_tables(struct clickhouse *server, const char *cluster,
			       struct stackmap_error *error)
{
	u32 year;
	int err;

	if (!*cluster || cluster[strspn(cluster, CLUSTER_LETTERS)])
		return error_set(error, EINVAL,
				 "%s: the name of a cluster has letters, digits, _, - and .",
				 cluster);
	err = clickhouse_year(server, &year, NULL, error);
	for (u32 i = 0; !err && i < STORE_TABLE_COUNT; i++)
		err = create_cluster_table(server, tables[i].name, cluster,
					   year >= CLICKHOUSE_MODERN, error);
	for (const struct store_view *view = store_views; !err && view->name; view++)
		err = create_cluster_table(server, view->name, cluster, year >= CLICKHOUSE_MODERN,
					   error);
	return err;
}

int schema_init(struct clickhouse *server, const char *cluster, struct stackmap_error *error)
{
	struct clickhouse_result result;
	u32 year;
	int err = schema_check(server, &result, error);

	if (err == -ENOENT || err == -ESTALE)
		err = execute_sql_with_database_name(server, "CREATE DATABASE IF NOT EXISTS ", "",
						     error)
			      ?: execute_sql_with_database_name(
					 server, "CREATE TABLE IF NOT EXISTS ",
					 "." SCHEMA_TABLE " (version UInt32, made " SECONDS
					 ") ENGINE = MergeTree ORDER BY version",
					 error);
	if (!err)
		err = migrate_schema(server, error);
	err = err ?: clickhouse_year(server, &year, NULL, error);
	for (const struct store_view *view = store_views; !err && view->name; view++)
		err = replace_server_view(server, view, year >= CLICKHOUSE_MODERN, error);
	if (!err && cluster)
		err = make_cluster_tables(server, cluster, error);
	if (err == -ENOMEM)
		error_set_errno(error, ENOMEM, clickhouse_name(server));
	return err;
}

#define UNKNOWN_TABLE 60
#define UNKNOWN_DATABASE 81

int schema_check(struct clickhouse *server, struct clickhouse_result *result,
		 struct stackmap_error *error)
{
	struct clickhouse_result own;
	u32 version;
	int err;

	if (!result)
		result = &own;
	err = query_schema_version(server, &version, result, error);
	if (err && (result->code == UNKNOWN_TABLE || result->code == UNKNOWN_DATABASE))
		return error_set(error, ENOENT,
				 "%s: there is no store in database %s; stackmap store init makes "
				 "one",
				 clickhouse_name(server), clickhouse_database(server));
	if (err)
		return err;
	if (version > SCHEMA_VERSION)
		return error_set(error, EPROTONOSUPPORT,
				 "%s: the store has schema version %u, this program knows versions "
				 "up to %d: it needs a newer stackmap",
				 clickhouse_name(server), version, SCHEMA_VERSION);
	if (version == SCHEMA_VERSION)
		return 0;
	return error_set(error, ESTALE,
			 "%s: the store has schema version %u, this program writes version %d; "
			 "stackmap store init migrates it",
			 clickhouse_name(server), version, SCHEMA_VERSION);
}

/*
 * Retention: the oldest days are dropped whole. The server lists the days of a table as numbers, so
 * no text from its answer becomes part of an SQL statement.
 */

#define DAYS_BYTES_MAX (4UL << 20)
#define SQL_BYTES_MAX 512

#define DAYS                                                                                       \
	"SELECT toUInt32OrZero(partition) AS day, toUInt64(sum(rows)), toUInt64(sum(bytes)) FROM " \
	"system.parts WHERE active AND database = currentDatabase() AND table = '%s' GROUP BY "    \
	"day HAVING day > 0 AND day < %u ORDER BY day FORMAT RowBinary"

static int drop_days_of_table(struct clickhouse *server, const char *table, u32 first,
			      const struct byte_buffer *days,
			      void (*dropped)(void *arg, const struct dropped_day *day), void *arg,
			      struct stackmap_error *error)
{
	struct byte_cursor rows = {days->data, days->data + days->used, false};
	char sql[SQL_BYTES_MAX];
	int err = 0;

	while (!err && byte_cursor_left(&rows)) {
		struct dropped_day day = {.table = table, .day = row_get_u32(&rows)};

		day.rows = row_get_u64(&rows);
		day.bytes = row_get_u64(&rows);
		if (rows.bad || day.day >= first)
			return error_set(error, EBADMSG, "%s: the answer makes no sense",
					 clickhouse_name(server));
		snprintf(sql, sizeof(sql), "ALTER TABLE %s.%s DROP PARTITION %u",
			 clickhouse_database(server), table, day.day);
		err = clickhouse_execute(server, sql, "", error);
		if (!err)
			dropped(arg, &day);
	}
	return err;
}

int retention_drop(struct clickhouse *server, u32 first,
		   void (*dropped)(void *arg, const struct dropped_day *day), void *arg,
		   struct stackmap_error *error)
{
	int err = 0;

	for (u32 i = 0; !err && i < STORE_TABLE_COUNT; i++) {
		struct byte_buffer days;
		char sql[SQL_BYTES_MAX];

		snprintf(sql, sizeof(sql), DAYS, store_table_name(i), first);
		err = clickhouse_query(server, sql, NULL, 0, DAYS_BYTES_MAX, &days, NULL, error);
		if (!err)
			err = drop_days_of_table(server, store_table_name(i), first, &days, dropped,
						 arg, error);
		byte_buffer_free(&days);
	}
	return err;
}
