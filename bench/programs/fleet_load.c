// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Simulates the agents of many machines. Windows of real recordings are sent again and again under
 * the names of many hosts, through the agent's own code: rows, spool, sender, server. Hosts take
 * turns as in real time, so the server gets small batches of all of them.
 *
 * usage: fleet_load URL SPOOL FIRST_HOST HOSTS WINDOWS BATCH FROM [USER PASSWORD] < RECORDING...
 *
 * Paths of recordings come on standard input, one a line; each is a window of ten seconds. FROM is
 * the time of the first window. Prints one line: events, rows, bytes on the wire, CPU seconds of
 * rows and of spool and sender, and the sender's messages about failed requests.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "store/rows/window_rows.h"
#include "store/write/sender.h"
#include "trace/read/reader.h"

#define WINDOW_SECONDS 10
#define SERVICES 41
#define VERSIONS 2
#define MEMORY (16UL << 20)

struct host {
	char name[32], service[32], version[8];
	char folder[256];
	struct window_rows *rows;
};

struct load {
	const char *url, *spool;
	struct store_url store;
	struct clickhouse_options server;
	struct trace_reader **readers;
	u32 reader_count, reader_room;
	struct host *hosts;
	u32 first, host_count, windows, batch, from;
	u64 events, rows, bytes, doubts, repeats, lost;
	double rows_cpu, send_cpu;
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(int result, const struct stackmap_error *error, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "fleet_load: %s: %s\n", what,
		error && error->message[0] ? error->message : strerror(-result));
	exit(1);
}

static void say(void *arg, const char *text)
{
	fprintf(stderr, "fleet_load: %s: %s\n", ((const struct host *)arg)->name, text);
}

static struct task_service service_of(void *arg, const char *cgroup, bool is_kernel_thread)
{
	const struct host *host = arg;

	(void)cgroup;
	(void)is_kernel_thread;
	return (struct task_service){host->service, host->version};
}

static void open_readers(struct load *load)
{
	struct stackmap_error error = {};
	char path[4096];

	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = '\0';
		check(array_make_room(load->readers, load->reader_count, load->reader_room), NULL,
		      path);
		check(trace_reader_open(path, &load->readers[load->reader_count++], &error), &error,
		      path);
	}
	if (!load->reader_count)
		check(-EINVAL, NULL, "no recordings");
}

static void open_host(struct load *load, u32 index)
{
	struct host *host = &load->hosts[index];
	u32 number = load->first + index;
	struct window_rows_options options = {
		.host = host->name,
		.boot = "fleet",
		.memory = MEMORY,
		.service_of = service_of,
		.arg = host,
	};

	snprintf(host->name, sizeof(host->name), "host-%04u", number);
	snprintf(host->service, sizeof(host->service), "service-%02u", number % SERVICES);
	snprintf(host->version, sizeof(host->version), "1.%u", number / SERVICES % VERSIONS);
	snprintf(host->folder, sizeof(host->folder), "%s/%s", load->spool, host->name);
	check(window_rows_create(&options, &host->rows), NULL, host->name);
}

/* Writes a batch to the spool as the agent's recorder does. */
static void put_batch(struct load *load, struct host *host, struct spool *spool)
{
	struct stackmap_error error = {};
	struct batch batch = {};

	check(window_rows_take(host->rows, &batch), NULL, "batch");
	for (u32 i = 0; i < batch.window_count; i++)
		load->events += batch.windows[i].recorded;
	load->rows += batch.row_count[STORE_EVENTS];
	check(spool_put(spool, &batch, &error), &error, "spool");
	batch_clear(&batch);
}

/* Sends the spool's batches to the server as the agent's sender does. */
static void send_batches(struct load *load, struct host *host)
{
	struct stackmap_error error = {};
	const struct spool_options options = {
		.folder = host->folder,
		.most_bytes = SPOOL_BYTES_DEFAULT,
		.end = SPOOL_DRAIN,
		.say = say,
		.arg = host,
	};
	struct sender_state state = {};
	struct sender *sender = NULL;
	struct spool *spool = NULL;

	check(spool_open(&options, &spool, &error), &error, host->folder);
	check(sender_open(&(struct sender_options){.url = &load->store,
						   .server = &load->server,
						   .host = host->name,
						   .spool = spool,
						   .say = say,
						   .arg = host},
			  &state, &sender, &error),
	      &error, "sender");
	do {
		u32 wait_ms = sender_step(sender);

		if (state.standing != SENDER_IDLE && wait_ms)
			usleep(wait_ms * 1000);
	} while (state.standing != SENDER_IDLE);
	load->bytes += state.bytes;
	load->doubts += state.doubts;
	load->repeats += state.repeats;
	load->lost += state.lost;
	sender_close(&sender);
	spool_close(&spool);
}

static void add_window(struct load *load, u32 index, u32 window)
{
	struct stackmap_error error = {};
	struct trace_reader *reader =
		load->readers[((load->first + index) * 7 + window) % load->reader_count];
	const struct window_time time = {load->from + window * WINDOW_SECONDS, WINDOW_SECONDS, 0};

	check(window_rows_add(load->hosts[index].rows, reader, &time, &error), &error, "window");
}

static void run_batch(struct load *load, u32 index, u32 first_window, u32 windows)
{
	struct host *host = &load->hosts[index];
	struct stackmap_error error = {};
	const struct spool_options options = {
		.folder = host->folder,
		.most_bytes = SPOOL_BYTES_DEFAULT,
		.end = SPOOL_FILL,
		.say = say,
		.arg = host,
	};
	struct spool *spool = NULL;
	double began = cpu_seconds();

	for (u32 i = 0; i < windows; i++)
		add_window(load, index, first_window + i);
	load->rows_cpu += cpu_seconds() - began;
	began = cpu_seconds();
	check(spool_open(&options, &spool, &error), &error, host->folder);
	put_batch(load, host, spool);
	spool_close(&spool);
	send_batches(load, host);
	load->send_cpu += cpu_seconds() - began;
}

static void run(struct load *load)
{
	for (u32 window = 0; window < load->windows; window += load->batch)
		for (u32 i = 0; i < load->host_count; i++)
			run_batch(load, i, window,
				  load->windows - window < load->batch ? load->windows - window
								       : load->batch);
}

int main(int argc, char **argv)
{
	struct load load = {};
	struct stackmap_error error = {};

	if (argc != 8 && argc != 10) {
		fprintf(stderr, "usage: fleet_load URL SPOOL FIRST_HOST HOSTS WINDOWS BATCH FROM "
				"[USER PASSWORD] < RECORDING...\n");
		return 2;
	}
	load.spool = argv[2];
	load.first = (u32)strtoul(argv[3], NULL, 10);
	load.host_count = (u32)strtoul(argv[4], NULL, 10);
	load.windows = (u32)strtoul(argv[5], NULL, 10);
	load.batch = (u32)strtoul(argv[6], NULL, 10);
	load.from = (u32)strtoul(argv[7], NULL, 10);
	load.server.http.timeout_ms = SENDER_TIMEOUT_MS;
	if (argc == 10) {
		load.server.http.user = argv[8];
		load.server.http.password = argv[9];
	}
	check(store_url_parse(argv[1], &load.store, &error), &error, argv[1]);
	load.server.database = load.store.database;
	load.hosts = calloc(load.host_count + 1UL, sizeof(*load.hosts));
	check(load.hosts ? 0 : -ENOMEM, NULL, "hosts");
	open_readers(&load);
	for (u32 i = 0; i < load.host_count; i++)
		open_host(&load, i);
	run(&load);
	printf("events %llu rows %llu bytes %llu rows_cpu %.2f send_cpu %.2f doubts %llu repeats "
	       "%llu "
	       "lost %llu\n",
	       (unsigned long long)load.events, (unsigned long long)load.rows,
	       (unsigned long long)load.bytes, load.rows_cpu, load.send_cpu,
	       (unsigned long long)load.doubts, (unsigned long long)load.repeats,
	       (unsigned long long)load.lost);
	for (u32 i = 0; i < load.host_count; i++)
		window_rows_free(&load.hosts[i].rows);
	for (u32 i = 0; i < load.reader_count; i++)
		trace_reader_close(&load.readers[i]);
	free(load.readers);
	free(load.hosts);
	store_url_clear(&load.store);
	return 0;
}
