/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ledger goes first, the events last: whatever goes missing in between shows as recorded and
 * not stored. All tables collapse what is sent twice when the server merges; events are asked for
 * before they are sent again, so that they are not counted twice until then.
 *
 * The server counts by the whole key, so rows that are there twice count once.
 */
#include "store/write/send_batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "store/wire/row_binary.h"

#define ANSWER_BYTES_MAX (8UL << 20)

#define STORED_IN_WINDOWS                                                                          \
	"SELECT time, count() AS rows, sum(events_of_key) FROM (SELECT time, any(count) AS "       \
	"events_of_key FROM events WHERE host IN (SELECT host FROM wanted) AND time >= "           \
	"toDateTime(%u) AND time <= toDateTime(%u) AND time IN (SELECT time FROM windows) "        \
	"GROUP BY time, service, version, cgroup, "                                                \
	"comm, event, stack) GROUP BY time FORMAT RowBinary"

/* What the server has of a window. */
struct stored_window {
	u32 time;
	u64 rows, events;
};

typedef void on_window(void *arg, const struct stored_window *window);

static int read_windows(const struct byte_buffer *answer, on_window *found, void *arg)
{
	struct byte_cursor rows = {answer->data, answer->data + answer->used, false};

	while (byte_cursor_left(&rows)) {
		struct stored_window window = {.time = row_get_u32(&rows)};

		window.rows = row_get_u64(&rows);
		window.events = row_get_u64(&rows);
		if (rows.bad)
			return -EBADMSG;
		found(arg, &window);
	}
	return 0;
}

static int ask_windows(struct clickhouse *server, const struct batch *batch, on_window *found,
		       void *arg, struct clickhouse_result *result, struct stackmap_error *error)
{
	struct byte_buffer host = {0}, times = {0}, answer = {0};
	struct clickhouse_table tables[] = {
		{.name = "wanted", .structure = "host String"},
		{.name = "windows", .structure = "time DateTime('UTC')"}};
	char sql[sizeof(STORED_IN_WINDOWS) + 2 * 10];
	u32 first = UINT32_MAX, last = 0;
	int err;

	row_put_text(&host, batch->host);
	for (u32 i = 0; i < batch->window_count; i++) {
		u32 time = batch->windows[i].time;

		row_put_u32(&times, time);
		first = time < first ? time : first;
		last = time > last ? time : last;
	}
	tables[0].rows = host.data;
	tables[0].bytes = host.used;
	tables[1].rows = times.data;
	tables[1].bytes = times.used;
	snprintf(sql, sizeof(sql), STORED_IN_WINDOWS, first, last);
	err = clickhouse_query(server, sql, tables, 2, ANSWER_BYTES_MAX, &answer, result, error);
	if (!err)
		err = read_windows(&answer, found, arg);
	if (err == -EBADMSG)
		error_set(error, EBADMSG, "%s: the answer makes no sense", clickhouse_name(server));
	byte_buffer_free(&host);
	byte_buffer_free(&times);
	byte_buffer_free(&answer);
	return err;
}

static void count_rows(void *arg, const struct stored_window *window)
{
	*(u64 *)arg += window->rows;
}

/* Names these bytes; NULL without memory. */
static char *token_of(const struct batch *batch, enum store_table table)
{
	char *token;

	return asprintf(&token, "%s/%s/%llu/%s", batch->host, batch->boot,
			(unsigned long long)batch->number, store_table_name(table)) < 0
		       ? NULL
		       : token;
}

static int insert(struct clickhouse *server, const struct batch *batch, enum store_table table,
		  const struct spooled_rows *rows, struct clickhouse_result *result,
		  struct stackmap_error *error)
{
	char *token = token_of(batch, table);
	int err;

	if (!token)
		return error_set(error, ENOMEM, "the batch to send: %s", strerror(ENOMEM));
	err = clickhouse_insert_packed(server, store_table_name(table), rows->bytes, rows->length,
				       rows->packed, token, result, error);
	free(token);
	return err;
}

static int insert_ledger(struct clickhouse *server, const struct batch *batch,
			 struct clickhouse_result *result, struct stackmap_error *error)
{
	struct byte_buffer rows = {0};
	struct spooled_rows plain;
	int err = batch_ledger_rows(batch, NULL, &rows);

	plain = (struct spooled_rows){.bytes = rows.data, .length = rows.used};
	if (err)
		error_set(error, ENOMEM, "the ledger to send: %s", strerror(ENOMEM));
	else
		err = insert(server, batch, STORE_LEDGER, &plain, result, error);
	byte_buffer_free(&rows);
	return err;
}

static int insert_events(struct clickhouse *server, const struct spooled_batch *batch,
			 struct batch_progress *progress, struct clickhouse_result *result,
			 struct stackmap_error *error)
{
	u64 stored = 0;
	int err = 0;

	if (progress->in_doubt) {
		progress->doubts++;
		err = ask_windows(server, &batch->ledger, count_rows, &stored, result, error);
		if (err || stored == batch->ledger.row_count[STORE_EVENTS])
			return err;
		progress->repeats += stored != 0;
	}
	progress->in_doubt = true;
	err = insert(server, &batch->ledger, STORE_EVENTS, &batch->rows[STORE_EVENTS], result,
		     error);
	progress->in_doubt = err;
	return err;
}

static int send_table(struct clickhouse *server, const struct spooled_batch *batch,
		      struct batch_progress *progress, struct clickhouse_result *result,
		      struct stackmap_error *error)
{
	enum store_table table = progress->next;

	if (table == STORE_LEDGER)
		return insert_ledger(server, &batch->ledger, result, error);
	if (!batch->rows[table].length)
		return 0;
	if (table == STORE_EVENTS)
		return insert_events(server, batch, progress, result, error);
	return insert(server, &batch->ledger, table, &batch->rows[table], result, error);
}

int send_batch(struct clickhouse *server, const struct spooled_batch *batch,
	       struct batch_progress *progress, struct clickhouse_result *result,
	       struct stackmap_error *error)
{
	int err = 0;

	if (!batch->ledger.window_count)
		return 0;
	while (!err && progress->next < STORE_TABLE_COUNT) {
		err = send_table(server, batch, progress, result, error);
		if (err)
			return err;
		progress->rows += batch->ledger.row_count[progress->next];
		progress->next++;
	}
	return 0;
}

static void note_stored(void *arg, const struct stored_window *stored)
{
	struct batch *batch = arg;

	for (u32 i = 0; i < batch->window_count; i++)
		if (batch->windows[i].time == stored->time)
			batch->windows[i].stored = stored->events;
}

/* Without a token: the same ledger may be sent with other numbers, later. */
int send_lost_ledger(struct clickhouse *server, struct spooled_batch *batch,
		     struct clickhouse_result *result, struct stackmap_error *error)
{
	struct byte_buffer rows = {0};
	int err;

	if (!batch->ledger.window_count)
		return 0;
	err = ask_windows(server, &batch->ledger, note_stored, &batch->ledger, result, error);
	if (!err && batch_ledger_rows(&batch->ledger, batch->lost_as, &rows))
		err = error_set(error, ENOMEM, "the ledger to send: %s", strerror(ENOMEM));
	if (!err)
		err = clickhouse_insert(server, store_table_name(STORE_LEDGER), rows.data,
					rows.used, NULL, result, error);
	byte_buffer_free(&rows);
	return err;
}
