/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A step of the sender checks the schema, whose answer also tells the server's time, and sends the
 * oldest batch. After a failure the next step is delayed. The delay doubles while the server does
 * not answer, and is a minute if the server refuses. Both delays vary randomly by a quarter, so
 * that the machines of a fleet do not return at the same moment. The delay applies to the server,
 * not to one batch.
 *
 * A batch that fails although the schema check succeeded is a suspect: the fault may be the batch's
 * or the server's. Other batches decide. While they fail as well, the server is at fault and all
 * batches stay. A suspect that fails repeatedly, each time after the server accepted another batch,
 * is set aside. The limit depends on the server's error code: two failures for an error in the
 * rows, eight within as many minutes for a transient error. An error that affects every batch
 * (password, tables) makes no suspects.
 */
#include "store/write/sender.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "clock.h"
#include "error.h"
#include "store/wire/row_binary.h"
#include "store/write/spool.h"

#define SCHEMA_MS (10 * 60 * 1000U) /* milliseconds between two schema checks */
#define IDLE_MS 2000
#define AWAY_MS_MIN 1000
#define AWAY_MS_MAX 60000
#define REFUSED_MS 60000
/* milliseconds in which other batches are sent before a suspect (a batch that was refused) */
#define SUSPECT_MS 60000
#define STRIKES_REJECTED 2
#define STRIKES_MAX 8

/* --- one batch --- */

/* Sends one batch to one server, or only the ledger of a batch whose rows are lost. */

/*
 * The ledger is sent first and the events last, so rows that are lost in between are counted as
 * recorded but not stored. The server's merge removes rows that were sent twice. Until this merge,
 * repeated events would count twice, so the sender queries the stored events before it sends them
 * again. This query groups by the whole key, so repeated rows count once.
 */

/* The progress of sending one batch. */
struct batch_progress {
	enum store_table next; /* the table whose rows are sent next */
	bool in_doubt;	       /* true: the server may already have some or all of the events */
	u64 rows;	       /* number of sent rows of all tables */
	u64 doubts, repeats;   /* number of queries for stored events, and of repeated inserts */
};

#define ANSWER_BYTES_MAX (8UL << 20)

#define STORED_IN_WINDOWS                                                                          \
	"SELECT time, count() AS rows, sum(events_of_key) FROM (SELECT time, any(count) AS "       \
	"events_of_key FROM events WHERE host IN (SELECT host FROM wanted) AND time >= "           \
	"toDateTime(%u) AND time <= toDateTime(%u) AND time IN (SELECT time FROM windows) "        \
	"GROUP BY time, service, version, cgroup, "                                                \
	"comm, event, stack) GROUP BY time FORMAT RowBinary"

/* The rows and events of one window that the server has. */
struct stored_window {
	u32 time;
	u64 rows, events;
};

typedef void on_window(void *arg, const struct stored_window *window);

static int query_stored_windows(struct clickhouse *server, const struct batch *batch,
				on_window *found, void *arg, struct clickhouse_result *result,
				struct stackmap_error *error)
{
	struct byte_buffer host = {0}, times = {0}, answer = {0};
	struct clickhouse_table tables[] = {
		{.name = "wanted", .structure = "host String"},
		{.name = "windows", .structure = "time DateTime('UTC')"}};
	char sql[sizeof(STORED_IN_WINDOWS) + 2 * 10];
	u32 first = UINT32_MAX, last = 0;
	struct byte_cursor rows;
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
	rows = (struct byte_cursor){answer.data, answer.data + answer.used, false};
	while (!err && byte_cursor_left(&rows)) {
		struct stored_window window = {.time = row_get_u32(&rows)};

		window.rows = row_get_u64(&rows);
		window.events = row_get_u64(&rows);
		if (rows.bad)
			err = -EBADMSG;
		else
			found(arg, &window);
	}
	if (err == -EBADMSG)
		error_set(error, EBADMSG, "%s: the answer makes no sense", clickhouse_name(server));
	byte_buffer_free(&host);
	byte_buffer_free(&times);
	byte_buffer_free(&answer);
	return err;
}

static void add_stored_rows(void *arg, const struct stored_window *window)
{
	*(u64 *)arg += window->rows;
}

static int insert_rows(struct clickhouse *server, const struct batch *batch, enum store_table table,
		       const struct spooled_rows *rows, struct clickhouse_result *result,
		       struct stackmap_error *error)
{
	char *token;
	int err;

	if (asprintf(&token, "%s/%s/%llu/%s", batch->host, batch->boot,
		     (unsigned long long)batch->number, store_table_name(table)) < 0)
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
	int err = batch_append_ledger_rows(batch, NULL, &rows);

	plain = (struct spooled_rows){.bytes = rows.data, .length = rows.used};
	if (err)
		error_set(error, ENOMEM, "the ledger to send: %s", strerror(ENOMEM));
	else
		err = insert_rows(server, batch, STORE_LEDGER, &plain, result, error);
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
		err = query_stored_windows(server, &batch->ledger, add_stored_rows, &stored, result,
					   error);
		if (err || stored == batch->ledger.row_count[STORE_EVENTS])
			return err;
		progress->repeats += stored != 0;
	}
	progress->in_doubt = true;
	err = insert_rows(server, &batch->ledger, STORE_EVENTS, &batch->rows[STORE_EVENTS], result,
			  error);
	progress->in_doubt = err;
	return err;
}

/*
 * Sends the tables of the batch from progress->next on. After a failure the caller repeats the call
 * later.
 */
static int send_batch(struct clickhouse *server, const struct spooled_batch *batch,
		      struct batch_progress *progress, struct clickhouse_result *result,
		      struct stackmap_error *error)
{
	int err = 0;

	if (!batch->ledger.window_count)
		return 0;
	for (; progress->next < STORE_TABLE_COUNT; progress->next++) {
		enum store_table table = progress->next;

		if (table == STORE_LEDGER)
			err = insert_ledger(server, &batch->ledger, result, error);
		else if (table == STORE_EVENTS && batch->rows[table].length)
			err = insert_events(server, batch, progress, result, error);
		else if (batch->rows[table].length)
			err = insert_rows(server, &batch->ledger, table, &batch->rows[table],
					  result, error);
		if (err)
			return err;
		progress->rows += batch->ledger.row_count[table];
	}
	return 0;
}

static void set_stored_events_of_window(void *arg, const struct stored_window *stored)
{
	struct batch *batch = arg;

	for (u32 i = 0; i < batch->window_count; i++)
		if (batch->windows[i].time == stored->time)
			batch->windows[i].stored = stored->events;
}

/*
 * Sends the ledger of a batch whose rows are lost. Events that the store has do not count as lost.
 * The insert has no deduplication token, because the same ledger may be sent later with other
 * numbers.
 */
static int send_lost_ledger(struct clickhouse *server, struct spooled_batch *batch,
			    struct clickhouse_result *result, struct stackmap_error *error)
{
	struct byte_buffer rows = {0};
	int err;

	if (!batch->ledger.window_count)
		return 0;
	err = query_stored_windows(server, &batch->ledger, set_stored_events_of_window,
				   &batch->ledger, result, error);
	if (!err && batch_append_ledger_rows(&batch->ledger, batch->lost_as, &rows))
		err = error_set(error, ENOMEM, "the ledger to send: %s", strerror(ENOMEM));
	if (!err)
		err = clickhouse_insert(server, store_table_name(STORE_LEDGER), rows.data,
					rows.used, NULL, result, error);
	byte_buffer_free(&rows);
	return err;
}

struct suspect {
	u64 number;
	u64 due;	  /* milliseconds: other batches are sent first until this time */
	u32 strikes;	  /* failures that count: after the first, only a failure before which the
			     server accepted another batch */
	u64 struck;	  /* milliseconds: time of the last counted failure */
	u64 taken;	  /* value of sender->taken at the suspect's last counted failure */
	bool is_rejected; /* the server's error code said that the rows have an error */
};

struct sender {
	struct clickhouse *server;
	struct spool *spool;
	struct sender_state *state;
	void (*say)(void *arg, const char *text);
	void *arg;
	bool schema_known;
	u64 schema_ms; /* milliseconds: time of the last schema check */
	u64 number;    /* number of the batch that `progress` describes */
	struct batch_progress progress;
	u64 doubtful; /* batches up to this number may have been sent before, by this or an
			 earlier sender */
	u64 taken;    /* number of batches and ledgers that the server accepted */
	struct suspect *suspects;
	u32 suspect_count, suspect_room;
	s64 date_skew;	 /* the difference of clocks by the server's last date, not confirmed yet */
	u64 server_date; /* date of the server's last answer, seconds since the epoch; 0: unknown */
	u32 failures;
	u64 last_failure; /* the kind of the last logged failure; 0: no failure since a success */
	u64 random;
};

int sender_open(const struct sender_options *options, struct sender_state *state,
		struct sender **out, struct stackmap_error *error)
{
	const struct store_url *url = options->url;
	struct clickhouse_options server = *options->server;
	struct sender *sender = calloc(1, sizeof(*sender));
	struct spool_count there = {};
	u64 seed = clock_ns(CLOCK_REALTIME) | 1;
	int err;

	if (!sender)
		return error_set(error, ENOMEM, "the sender: %s", strerror(ENOMEM));
	server.http.base = url->shards[choose_shard_of_host(url, options->host)];
	server.database = url->database;
	if (!server.http.timeout_ms)
		server.http.timeout_ms = SENDER_TIMEOUT_MS;
	for (const char *at = options->host; *at; at++)
		seed = (seed ^ (u8)*at) * 0x100000001b3;
	spool_count(options->spool, &there);
	*sender = (struct sender){.spool = options->spool,
				  .doubtful = there.newest,
				  .state = state,
				  .say = options->say,
				  .arg = options->arg,
				  .random = seed | 1};
	err = clickhouse_open(&server, &sender->server, error);
	if (err) {
		free(sender);
		return err;
	}
	*state = (struct sender_state){.standing = SENDER_STARTING};
	*out = sender;
	return 0;
}

void sender_close(struct sender **sender)
{
	if (!*sender)
		return;
	clickhouse_close(&(*sender)->server);
	free((*sender)->suspects);
	free(*sender);
	*sender = NULL;
}

__attribute__((format(printf, 2, 3))) static void say(struct sender *sender, const char *format,
						      ...)
{
	char text[640];
	va_list args;

	if (!sender->say)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sender->say(sender->arg, text);
}

/* Returns a random time between 3/4 and 5/4 of `ms` (Marsaglia's xorshift). */
static u32 random_delay_around(struct sender *sender, u32 ms)
{
	sender->random ^= sender->random << 13;
	sender->random ^= sender->random >> 7;
	sender->random ^= sender->random << 17;
	return ms - ms / 4 + (u32)(sender->random % (ms / 2 + 1));
}

/*
 * Stores the failure in the state, and logs it unless the last logged failure was of the same kind.
 */
static void log_changed_sender_failure(struct sender *sender, enum sender_standing standing,
				       u32 kind, const char *text)
{
	u64 last_failure = (u64)standing << 32 | kind;

	sender->state->standing = standing;
	snprintf(sender->state->error, sizeof(sender->state->error), "%.*s",
		 (int)sizeof(sender->state->error) - 1, text);
	if (last_failure != sender->last_failure)
		say(sender, "%s; batches stay in the spool", text);
	sender->last_failure = last_failure;
}

static u32 record_failure_and_choose_delay(struct sender *sender, int err,
					   const struct clickhouse_result *result,
					   const struct stackmap_error *error)
{
	bool refused = result->outcome == CLICKHOUSE_DENIED ||
		       result->outcome == CLICKHOUSE_REFUSED || err == -EPROTONOSUPPORT ||
		       err == -ESTALE || err == -ENOENT;
	bool answers = refused || result->outcome == CLICKHOUSE_REJECTED;
	u32 ms = AWAY_MS_MIN;

	sender->schema_known = false;
	sender->failures++;
	log_changed_sender_failure(sender, answers ? SENDER_REFUSED : SENDER_AWAY,
				   result->code ? result->code : (u32)-err, error->message);
	if (refused)
		return random_delay_around(sender, REFUSED_MS);
	for (u32 i = 1; i < sender->failures && ms < AWAY_MS_MAX; i++)
		ms *= 2;
	return random_delay_around(sender, ms < AWAY_MS_MAX ? ms : AWAY_MS_MAX);
}

/*
 * The smallest difference between the server's clock and this machine's that explains a server date
 * received between two moments of the local clock.
 */
static s64 clock_skew(u64 date, u64 before, u64 after)
{
	s64 late = (s64)date - (s64)after, early = (s64)date - (s64)before;

	if (late > SENDER_SKEW_SHIFTED)
		return late;
	return early < -SENDER_SKEW_SHIFTED ? early : 0;
}

/* True if two differences of clocks are equal within the precision of a date in whole seconds. */
static bool are_clock_skews_equal(s64 a, s64 b)
{
	return a - b >= -SENDER_SKEW_SHIFTED && a - b <= SENDER_SKEW_SHIFTED;
}

/*
 * Records a difference of clocks. A single date may be wrong, so a difference is applied when the
 * next date confirms it.
 */
static void record_clock_skew(struct sender *sender, s64 skew)
{
	struct sender_state *state = sender->state;
	bool is_confirmed = are_clock_skews_equal(skew, sender->date_skew);

	sender->date_skew = skew;
	if (!is_confirmed)
		return;
	state->skew_known = true;
	if (are_clock_skews_equal(skew, state->skew))
		return;
	state->skew = (s32)skew;
	if (skew)
		say(sender, "the clock is %lld s %s the store's: windows are shifted by that",
		    (long long)(skew < 0 ? -skew : skew), skew < 0 ? "ahead of" : "behind");
	else
		say(sender, "the clock agrees with the store's");
}

/*
 * Records the server's date. False if this machine's clock is off by more than a day, which stops
 * sending.
 */
static bool record_server_date(struct sender *sender, u64 date, u64 before)
{
	u64 after = (u64)time(NULL);
	s64 skew = date ? clock_skew(date, before, after) : 0;
	char text[160];

	if (!date)
		return true;
	sender->server_date = date;
	if (!(skew > SENDER_SKEW_REFUSED || skew < -SENDER_SKEW_REFUSED)) {
		record_clock_skew(sender, skew);
		return true;
	}
	snprintf(text, sizeof(text),
		 "the clock is %lld s %s that of %s, more than a day: nothing is sent until it is "
		 "set",
		 (long long)(skew < 0 ? -skew : skew), skew < 0 ? "ahead of" : "behind",
		 clickhouse_name(sender->server));
	log_changed_sender_failure(sender, SENDER_CLOCK, 0, text);
	return false;
}

/* Returns 0 if the server has this program's schema and the clock is usable, else sets *wait_ms. */
static int check_schema_and_clock(struct sender *sender, u32 *wait_ms)
{
	struct clickhouse_result result = {.outcome = CLICKHOUSE_UNSURE};
	struct stackmap_error error = {0};
	u64 before = (u64)time(NULL);
	int err;

	if (sender->schema_known && clock_ms() - sender->schema_ms < SCHEMA_MS)
		return 0;
	err = schema_check(sender->server, &result, &error);
	if (err) {
		*wait_ms = record_failure_and_choose_delay(sender, err, &result, &error);
		return err;
	}
	if (!record_server_date(sender, result.date, before)) {
		*wait_ms = random_delay_around(sender, REFUSED_MS);
		return -EDOM;
	}
	sender->schema_known = are_clock_skews_equal(sender->date_skew, sender->state->skew);
	sender->schema_ms = clock_ms();
	return 0;
}

/* --- suspects: batches that the server has refused --- */

static struct suspect *find_suspect_batch(const struct sender *sender, u64 number)
{
	for (u32 i = 0; i < sender->suspect_count; i++)
		if (sender->suspects[i].number == number)
			return &sender->suspects[i];
	return NULL;
}

/* Finds or adds a suspect; NULL without memory. */
static struct suspect *find_or_add_suspect_batch(struct sender *sender, u64 number)
{
	struct suspect *found = find_suspect_batch(sender, number);

	if (found)
		return found;
	if (array_make_room(sender->suspects, sender->suspect_count, sender->suspect_room))
		return NULL;
	found = &sender->suspects[sender->suspect_count++];
	*found = (struct suspect){.number = number};
	return found;
}

static void remove_suspect_batch(struct sender *sender, u64 number)
{
	struct suspect *found = find_suspect_batch(sender, number);

	if (found)
		*found = sender->suspects[--sender->suspect_count];
}

static bool is_suspect_batch_waiting(const void *arg, u64 number)
{
	const struct suspect *found = find_suspect_batch(arg, number);

	return found && found->due > clock_ms();
}

/* Counts a failure of a suspect. True if the limit is reached. */
static bool count_failure_of_suspect_batch(struct sender *sender, struct suspect *suspect,
					   bool is_rejected)
{
	u64 now = clock_ms();
	bool counts = !suspect->strikes || (suspect->taken != sender->taken &&
					    (is_rejected || now - suspect->struck >= SUSPECT_MS));

	suspect->due = now + SUSPECT_MS;
	suspect->is_rejected = is_rejected;
	if (!counts)
		return false;
	suspect->struck = now;
	suspect->taken = sender->taken;
	suspect->strikes++;
	return suspect->strikes >= (is_rejected ? STRIKES_REJECTED : STRIKES_MAX);
}

/* --- sending the batches of the spool --- */

static void count_sent_batch(struct sender *sender, const struct spooled_batch *batch)
{
	struct sender_state *state = sender->state;

	remove_suspect_batch(sender, batch->ledger.number);
	sender->taken++;
	for (u32 i = 0; i < sender->suspect_count; i++)
		if (sender->suspects[i].is_rejected)
			sender->suspects[i].due = 0;
	state->lost += batch->lost_as != NULL;
	state->batches += !batch->lost_as;
	state->rows += sender->progress.rows;
	sender->progress = (struct batch_progress){0};
	sender->failures = 0;
	state->error[0] = 0;
	if (sender->last_failure)
		say(sender, "%s: sending goes on", clickhouse_name(sender->server));
	sender->last_failure = 0;
}

static int send_spooled_batch(struct sender *sender, struct spooled_batch *batch,
			      struct clickhouse_result *result, struct stackmap_error *error)
{
	struct batch_progress *progress = &sender->progress;
	u64 number = batch->ledger.number;
	int err;

	if (batch->lost_as)
		return send_lost_ledger(sender->server, batch, result, error);
	if (number != sender->number)
		*progress = (struct batch_progress){.in_doubt = !sender->number ||
								number <= sender->doubtful};
	sender->number = number;
	err = send_batch(sender->server, batch, progress, result, error);
	sender->state->doubts += progress->doubts;
	sender->state->repeats += progress->repeats;
	progress->doubts = progress->repeats = 0;
	return err;
}

static u32 set_refused_batch_aside(struct sender *sender, const struct spooled_batch *batch,
				   const char *why)
{
	struct stackmap_error error;

	say(sender, "%s; others are taken, so batch %llu is set aside, and its loss is noted", why,
	    (unsigned long long)batch->ledger.number);
	remove_suspect_batch(sender, batch->ledger.number);
	sender->state->refused++;
	if (!spool_set_batch_aside(sender->spool, batch, &error))
		return 0;
	log_changed_sender_failure(sender, SENDER_AWAY, EIO, error.message);
	return random_delay_around(sender, REFUSED_MS);
}

static u32 handle_batch_failure(struct sender *sender, const struct spooled_batch *batch, int err,
				const struct clickhouse_result *result,
				const struct stackmap_error *error)
{
	/* A lack of local memory, and server error codes of this kind, affect every batch. */
	bool keeps_all_out =
		err == -ENOMEM || (result->code && (result->outcome == CLICKHOUSE_DENIED ||
						    result->outcome == CLICKHOUSE_REFUSED));
	struct suspect *found =
		keeps_all_out ? NULL : find_or_add_suspect_batch(sender, batch->ledger.number);

	if (batch->ledger.number > sender->doubtful)
		sender->doubtful = batch->ledger.number;
	if (found &&
	    count_failure_of_suspect_batch(sender, found, result->outcome == CLICKHOUSE_REJECTED))
		return set_refused_batch_aside(sender, batch, error->message);
	return record_failure_and_choose_delay(sender, err, result, error);
}

static u32 send_oldest_batch(struct sender *sender, struct spooled_batch *batch)
{
	struct clickhouse_result result = {.outcome = CLICKHOUSE_UNSURE};
	struct stackmap_error error = {0};
	bool is_from_future = false;
	int err;

	sender->state->standing = SENDER_SENDING;
	for (u32 i = 0; i < batch->ledger.window_count && sender->server_date; i++)
		is_from_future |=
			batch->ledger.windows[i].time > sender->server_date + SENDER_SKEW_REFUSED;
	if (!batch->lost_as && is_from_future) {
		say(sender, "a batch was dated by a clock that was more than a day ahead: its loss "
			    "is noted");
		err = spool_replace_batch_by_ledger(sender->spool, batch, LOST_AS_CLOCK, &error);
	} else {
		err = send_spooled_batch(sender, batch, &result, &error);
		if (err)
			return handle_batch_failure(sender, batch, err, &result, &error);
		err = spool_remove_sent_batch(sender->spool, batch);
		count_sent_batch(sender, batch);
		if (err)
			error_set(&error, -err, "spool: %s", strerror(-err));
	}
	if (!err)
		return 0;
	log_changed_sender_failure(sender, SENDER_AWAY, (u32)-err, error.message);
	return random_delay_around(sender, REFUSED_MS);
}

static u32 send_next_batch(struct sender *sender)
{
	struct spooled_batch batch;
	struct stackmap_error error = {0};
	u32 wait_ms = 0;
	int err;

	if (check_schema_and_clock(sender, &wait_ms))
		return wait_ms;
	err = spool_oldest(sender->spool, is_suspect_batch_waiting, sender, &batch, &error);
	if (err == -ENOENT)
		err = spool_oldest(sender->spool, NULL, NULL, &batch, &error);
	if (err == -ENOENT) {
		sender->state->standing = SENDER_IDLE;
		sender->state->error[0] = 0;
		sender->suspect_count = 0;
		if (sender->last_failure)
			say(sender, "%s: it goes on", clickhouse_name(sender->server));
		sender->last_failure = 0;
		sender->failures = 0;
		return IDLE_MS;
	}
	if (err) {
		log_changed_sender_failure(sender, SENDER_AWAY, (u32)-err, error.message);
		return random_delay_around(sender, REFUSED_MS);
	}
	wait_ms = send_oldest_batch(sender, &batch);
	spooled_batch_clear(&batch);
	return wait_ms;
}

u32 sender_step(struct sender *sender)
{
	struct sender_state *state = sender->state;
	u32 wait_ms = send_next_batch(sender);
	struct spool_count count;

	if (!spool_count(sender->spool, &count)) {
		state->waiting = count.batches;
		state->waiting_bytes = count.bytes;
		state->damaged = count.damaged;
	}
	state->suspects = sender->suspect_count;
	state->bytes =
		clickhouse_bytes_sent(sender->server) + clickhouse_bytes_received(sender->server);
	return wait_ms;
}
