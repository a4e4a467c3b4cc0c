/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts recordings into a store as an agent does, each as one window:
 *
 *   store_recording URL USER PASSWORD init
 *   store_recording URL USER PASSWORD HOST SERVICE VERSION TIME TIMES FILE...
 *
 * TIME: the first window, in seconds since the epoch; each further window is 10 s later. TIMES: the
 * number of inserts of the events: 1; 0 for a lost insert, 2 for a repeated one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/rows/window_rows.h"
#include "store/wire/store_url.h"

#define WINDOW_SECONDS 10
#define TIMEOUT_MS 60000
#define MEMORY (64 << 20)
#define ARGUMENTS 9

struct service {
	const char *name, *version;
};

static int fail(const struct stackmap_error *error)
{
	fprintf(stderr, "store_recording: %s\n", error->message);
	return 1;
}

static struct task_service service_of(void *arg, const char *cgroup, bool is_kernel_thread)
{
	const struct service *service = arg;

	(void)cgroup;
	(void)is_kernel_thread;
	return (struct task_service){service->name, service->version};
}

static int insert(struct clickhouse *server, const char *table, const struct byte_buffer *rows,
		  u32 times, struct stackmap_error *error)
{
	int err = 0;

	while (rows->used && times-- && !err)
		err = clickhouse_insert(server, table, rows->data, rows->used, NULL, NULL, error);
	return err;
}

static int send_batch(struct clickhouse *server, struct batch *batch, u32 times,
		      struct stackmap_error *error)
{
	struct byte_buffer ledger = {};
	int err = batch_append_ledger_rows(batch, NULL, &ledger);

	err = err ?: insert(server, "ledger", &ledger, 1, error);
	for (u32 i = STORE_LEDGER + 1; i < STORE_TABLE_COUNT && !err; i++)
		err = insert(server, store_table_name(i), &batch->rows[i],
			     i == STORE_EVENTS ? times : 1, error);
	byte_buffer_free(&ledger);
	return err;
}

static int add_file(struct window_rows *rows, const char *path, u32 time,
		    struct stackmap_error *error)
{
	const struct window_time window = {time, WINDOW_SECONDS, 0};
	struct trace_reader *reader;
	int err = trace_reader_open(path, &reader, error);

	if (err)
		return err;
	err = window_rows_add(rows, reader, &window, error);
	trace_reader_close(&reader);
	return err;
}

/* argv: HOST SERVICE VERSION TIME TIMES FILE... */
static int store(struct clickhouse *server, char **argv, struct stackmap_error *error)
{
	struct service service = {argv[1], argv[2]};
	const struct window_rows_options options = {.host = argv[0],
						    .boot = "0123",
						    .memory = MEMORY,
						    .service_of = service_of,
						    .arg = &service};
	u32 time = strtoul(argv[3], NULL, 10), times = strtoul(argv[4], NULL, 10);
	struct window_rows *rows;
	struct batch batch;
	int err = window_rows_create(&options, &rows);

	for (u32 i = 0; argv[5 + i] && !err; i++)
		err = add_file(rows, argv[5 + i], time + i * WINDOW_SECONDS, error);
	err = err ?: window_rows_take(rows, &batch);
	if (!err) {
		batch.number = time;
		err = send_batch(server, &batch, times, error);
		batch_clear(&batch);
	}
	window_rows_free(&rows);
	return err;
}

static int with_server(const struct store_url *url, u32 shard, char **argv,
		       struct stackmap_error *error)
{
	const struct clickhouse_options options = {
		.http = {.base = url->shards[shard],
			 .user = argv[2],
			 .password = argv[3],
			 .timeout_ms = TIMEOUT_MS},
		.database = url->database,
	};
	struct clickhouse *server;
	int err = clickhouse_open(&options, &server, error);

	if (err)
		return err;
	err = argv[5] ? store(server, argv + 4, error) : schema_init(server, NULL, error);
	clickhouse_close(&server);
	return err;
}

int main(int argc, char **argv)
{
	struct stackmap_error error = {.message = "bad arguments"};
	struct store_url url;
	int err;

	if ((argc != 5 && argc <= ARGUMENTS) || store_url_parse(argv[1], &url, &error))
		return fail(&error);
	if (argc > ARGUMENTS)
		err = with_server(&url, choose_shard_of_host(&url, argv[4]), argv, &error);
	else
		for (u32 i = err = 0; i < url.count && !err; i++)
			err = with_server(&url, i, argv, &error);
	store_url_clear(&url);
	return err ? fail(&error) : 0;
}
