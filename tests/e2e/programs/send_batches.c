/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both ends of a spool in one process, with the product's code. Each line of standard input is a
 * command, and is answered by one line.
 *
 *   put N ROWS     spools N batches of ROWS rows of events in each of 3 windows; says
 *                  "put NUMBER PRODUCED RECORDED" of the last one and of all of them together
 *   step           a step of the sender: "STANDING WAITING ERROR"
 *   drain MOST     steps until the sender is idle, MOST at most: the same
 *   state          "BATCHES ROWS LOST DOUBTS REPEATS SKEW DAMAGED BYTES DROPPED REFUSED"
 *   shift SECONDS  windows begin so much later from now on
 *
 * usage: send_batches URL SPOOL BYTES HOST PASSWORD_FILE TIMEOUT_MS; messages go to standard error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "store/wire/row_binary.h"
#include "store/write/sender.h"

#define WINDOWS 3
#define WINDOW_SECONDS 10
#define FIRST_WINDOW_AGO 3600
#define DAY_SECONDS 86400

static struct spool *filling, *draining;
static struct sender *sender;
static struct sender_state state;
static const char *host;
static u64 shift, stacks;

static void say(void *arg, const char *text)
{
	fprintf(stderr, "%s: %s\n", (const char *)arg, text);
}

static void fail(const char *what, const struct stackmap_error *error)
{
	fprintf(stderr, "send_batches: %s: %s\n", what, error->message);
	exit(1);
}

static void put_hash(struct byte_buffer *rows, u64 number)
{
	u64 hash[2] = {number * 0x9ddfea08eb382d69, number};

	row_put_bytes(rows, hash, sizeof(hash));
}

static void put_event(struct batch *batch, u32 time, u64 stack, u32 count)
{
	struct byte_buffer *rows = &batch->rows[STORE_EVENTS];

	row_put_u32(rows, time);
	row_put_text(rows, host);
	row_put_text(rows, "service");
	row_put_text(rows, "1.0");
	row_put_text(rows, "/system.slice/service");
	row_put_text(rows, "worker");
	row_put_text(rows, "cpu-clock");
	put_hash(rows, stack);
	row_put_u32(rows, count);
	row_put_u64(rows, count * 1000);
	batch->row_count[STORE_EVENTS]++;
}

static void put_stack(struct batch *batch, u16 day, u64 stack)
{
	struct byte_buffer *rows = &batch->rows[STORE_STACKS];

	row_put_u16(rows, day);
	put_hash(rows, stack);
	row_put_u16(rows, 0);
	row_put_text(rows, "none");
	row_put_text(rows, "complete");
	row_put_u8(rows, 2);
	row_put_count(rows, 1);
	put_hash(rows, 1);
	row_put_count(rows, 1);
	row_put_u64(rows, stack);
	batch->row_count[STORE_STACKS]++;
}

static void put_frame(struct batch *batch, u16 day, u64 offset)
{
	struct byte_buffer *rows = &batch->rows[STORE_FRAMES];

	row_put_u16(rows, day);
	put_hash(rows, 1);
	row_put_u64(rows, offset);
	row_put_u64(rows, offset);
	row_put_u64(rows, 1);
	row_put_count(rows, 1);
	row_put_text(rows, "main");
	row_put_count(rows, 1);
	row_put_text(rows, "main.c");
	row_put_count(rows, 1);
	row_put_u32(rows, 7);
	row_put_u8(rows, 1);
	batch->row_count[STORE_FRAMES]++;
}

static void put_object(struct batch *batch, u16 day)
{
	struct byte_buffer *rows = &batch->rows[STORE_OBJECTS];

	row_put_u16(rows, day);
	put_hash(rows, 1);
	row_put_u8(rows, 1);
	row_put_text(rows, "00c0ffee");
	row_put_text(rows, "/usr/bin/worker");
	row_put_u8(rows, 0);
	batch->row_count[STORE_OBJECTS]++;
}

static void put_host(struct batch *batch, u16 day)
{
	struct byte_buffer *rows = &batch->rows[STORE_HOSTS];

	row_put_u16(rows, day);
	row_put_text(rows, host);
	row_put_text(rows, batch->boot);
	row_put_text(rows, "6.1");
	row_put_text(rows, "x86_64");
	row_put_u16(rows, 2);
	row_put_count(rows, 1);
	row_put_text(rows, "rack=b");
	batch->row_count[STORE_HOSTS]++;
}

static void put_window(struct batch *batch, u32 time, u32 rows)
{
	struct window_ledger window = {.time = time, .seconds = WINDOW_SECONDS};

	for (u32 i = 0; i < rows; i++) {
		u32 count = 1 + i % 5;

		put_event(batch, time, ++stacks, count);
		put_stack(batch, (u16)(time / DAY_SECONDS), stacks);
		window.recorded += count;
	}
	window.lost[LOST_RING_FULL] = 3;
	window.produced = window.recorded + 3;
	if (array_make_room(batch->windows, batch->window_count, batch->window_room))
		exit(1);
	batch->windows[batch->window_count++] = window;
}

/* The first window begins an hour ago, so that many windows end before now. */
static void make(struct batch *batch, u32 rows)
{
	u32 from = (u32)((u64)time(NULL) - FIRST_WINDOW_AGO + shift);
	u16 day = (u16)(from / DAY_SECONDS);

	*batch = (struct batch){.host = strdup(host), .boot = strdup("a-boot")};
	for (u32 i = 0; i < WINDOWS; i++)
		put_window(batch, spool_reserve_window_time(filling, from + i * WINDOW_SECONDS),
			   rows);
	put_host(batch, day);
	put_object(batch, day);
	put_frame(batch, day, 1);
}

static void put(u32 count, u32 rows)
{
	u64 produced = 0, recorded = 0, number = 0;
	struct stackmap_error error;

	for (u32 i = 0; i < count; i++) {
		struct batch batch;

		make(&batch, rows);
		if (spool_put(filling, &batch, &error))
			fail("put", &error);
		number = batch.number;
		for (u32 w = 0; w < WINDOWS; w++) {
			produced += batch.windows[w].produced;
			recorded += batch.windows[w].recorded;
		}
		batch_clear(&batch);
	}
	printf("put %llu %llu %llu\n", (unsigned long long)number, (unsigned long long)produced,
	       (unsigned long long)recorded);
}

static void step(u32 most)
{
	static const char *const standings[] = {"starting", "idle",    "sending",
						"away",	    "refused", "clock"};

	do
		sender_step(sender);
	while (--most && state.standing != SENDER_IDLE);
	printf("%s %u %s\n", standings[state.standing], state.waiting, state.error);
}

static void tell(void)
{
	struct spool_count count = {0};

	spool_count(filling, &count);
	printf("%llu %llu %llu %llu %llu %d %u %llu %u %llu\n", (unsigned long long)state.batches,
	       (unsigned long long)state.rows, (unsigned long long)state.lost,
	       (unsigned long long)state.doubts, (unsigned long long)state.repeats, state.skew,
	       state.damaged, (unsigned long long)state.bytes, count.dropped,
	       (unsigned long long)state.refused);
}

static void obey(const char *line)
{
	unsigned int first = 0, second = 0;
	long long seconds;

	if (sscanf(line, "put %u %u", &first, &second) == 2)
		put(first, second);
	else if (sscanf(line, "drain %u", &first) == 1)
		step(first);
	else if (sscanf(line, "shift %lld", &seconds) == 1)
		printf("shifted by %lld\n", (long long)(shift = (u64)seconds));
	else if (!strncmp(line, "state", 5))
		tell();
	else
		step(1);
	fflush(stdout);
}

static const char *read_password(const char *path)
{
	static char password[256];
	FILE *file = fopen(path, "r");

	if (!file || !fgets(password, sizeof(password), file))
		exit(1);
	fclose(file);
	password[strcspn(password, "\n")] = 0;
	return password;
}

static void open_ends(const char *folder, u64 bytes)
{
	struct spool_options options = {
		.folder = folder, .most_bytes = bytes, .say = say, .arg = "filling"};
	struct stackmap_error error;

	options.end = SPOOL_FILL;
	if (spool_open(&options, &filling, &error))
		fail("filling", &error);
	options.end = SPOOL_DRAIN;
	options.arg = "draining";
	if (spool_open(&options, &draining, &error))
		fail("draining", &error);
}

static void open_sender(const char *where, const char *password, u32 timeout_ms)
{
	struct clickhouse_options server = {
		.http = {.user = "agent", .password = password, .timeout_ms = timeout_ms}};
	struct sender_options options = {
		.server = &server, .host = host, .spool = draining, .say = say, .arg = "sender"};
	struct stackmap_error error;
	struct store_url url;

	if (store_url_parse(where, &url, &error))
		fail("url", &error);
	options.url = &url;
	if (sender_open(&options, &state, &sender, &error))
		fail("sender", &error);
	store_url_clear(&url);
}

int main(int argc, char **argv)
{
	char line[128];

	if (argc != 7)
		return 2;
	host = argv[4];
	open_ends(argv[2], strtoull(argv[3], NULL, 10));
	open_sender(argv[1], read_password(argv[5]), (u32)strtoul(argv[6], NULL, 10));
	stacks = (u64)time(NULL) << 24;
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	sender_close(&sender);
	spool_close(&filling);
	spool_close(&draining);
	return 0;
}
