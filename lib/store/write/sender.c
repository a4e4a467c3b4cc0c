/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a step does: it sees to it that the schema is known to be ours, which also tells the
 * server's clock, and sends the oldest batch. After a failure the next step comes later: twice as
 * late each time while the server is away, a minute later when it refuses; both spread by a
 * quarter, so that the machines of a fleet do not come back at once. The wait is the server's, not
 * the batch's.
 *
 * A batch that fails although the server has just told its schema is a suspect: the batch may be at
 * fault, or the server. Other batches show which: while they fail as well, the server is at fault
 * and all batches stay. A suspect that fails again and again, each time after the server took
 * another batch, is set aside. The server's code decides how often: two failures if it complains of
 * the rows, eight within as many minutes if the failure may pass. A code that keeps every batch out
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
#include "store/write/send_batch.h"

#define SCHEMA_MS (10 * 60 * 1000U) /* for so long it is taken to be the same */
#define IDLE_MS 2000
#define AWAY_MS_MIN 1000
#define AWAY_MS_MAX 60000
#define REFUSED_MS 60000
#define SUSPECT_MS 60000 /* for so long other batches go before a suspect */
#define STRIKES_REJECTED 2
#define STRIKES_MAX 8

struct suspect {
	u64 number;
	u64 due;	  /* ms: others go first until then */
	u32 strikes;	  /* failures, each but the first after the server took another batch */
	u64 struck;	  /* ms: the last strike */
	u64 taken;	  /* sender->taken at that time */
	bool is_rejected; /* the server complains of the rows */
};

struct sender {
	struct clickhouse *server;
	struct spool *spool;
	struct sender_state *state;
	void (*say)(void *arg, const char *text);
	void *arg;
	bool schema_known;
	u64 schema_ms; /* when it was asked for */
	u64 number;    /* of the batch that `progress` is of */
	struct batch_progress progress;
	u64 doubtful; /* batches up to this number may have been sent before, by this sender or
			 one before it */
	u64 taken;    /* batches and ledgers that the server took */
	struct suspect *suspects;
	u32 suspect_count, suspect_room;
	s64 date_skew;	 /* by the last date, which may be wrong alone */
	u64 server_date; /* 0: it never told */
	u32 failures;
	u64 complaint; /* what was said last; 0: nothing is wrong */
	u64 random;
};

static u64 seed_of(const char *host)
{
	u64 seed = clock_ns(CLOCK_REALTIME) | 1;

	for (; *host; host++)
		seed = (seed ^ (u8)*host) * 0x100000001b3;
	return seed | 1;
}

int sender_open(const struct sender_options *options, struct sender_state *state,
		struct sender **out, struct stackmap_error *error)
{
	const struct store_url *url = options->url;
	struct clickhouse_options server = *options->server;
	struct sender *sender = calloc(1, sizeof(*sender));
	struct spool_count there = {};
	int err;

	if (!sender)
		return error_set(error, ENOMEM, "the sender: %s", strerror(ENOMEM));
	server.http.base = url->shards[store_url_shard_of(url, options->host)];
	server.database = url->database;
	if (!server.http.timeout_ms)
		server.http.timeout_ms = SENDER_TIMEOUT_MS;
	spool_count(options->spool, &there);
	*sender = (struct sender){.spool = options->spool,
				  .doubtful = there.newest,
				  .state = state,
				  .say = options->say,
				  .arg = options->arg,
				  .random = seed_of(options->host)};
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

/* Between 3/4 and 5/4 of it: Marsaglia's xorshift. */
static u32 spread(struct sender *sender, u32 ms)
{
	sender->random ^= sender->random << 13;
	sender->random ^= sender->random >> 7;
	sender->random ^= sender->random << 17;
	return ms - ms / 4 + (u32)(sender->random % (ms / 2 + 1));
}

static u32 away_ms(struct sender *sender)
{
	u32 ms = AWAY_MS_MIN;

	for (u32 i = 1; i < sender->failures && ms < AWAY_MS_MAX; i++)
		ms *= 2;
	return spread(sender, ms < AWAY_MS_MAX ? ms : AWAY_MS_MAX);
}

/* Says it unless it is what was said last. */
static void complain(struct sender *sender, enum sender_standing standing, u32 kind,
		     const char *text)
{
	u64 complaint = (u64)standing << 32 | kind;

	sender->state->standing = standing;
	snprintf(sender->state->error, sizeof(sender->state->error), "%.*s",
		 (int)sizeof(sender->state->error) - 1, text);
	if (complaint != sender->complaint)
		say(sender, "%s; batches stay in the spool", text);
	sender->complaint = complaint;
}

static u32 fail(struct sender *sender, int err, const struct clickhouse_result *result,
		const struct stackmap_error *error)
{
	bool refused = result->outcome == CLICKHOUSE_DENIED ||
		       result->outcome == CLICKHOUSE_REFUSED || err == -EPROTONOSUPPORT ||
		       err == -ESTALE || err == -ENOENT;
	bool answers = refused || result->outcome == CLICKHOUSE_REJECTED;

	sender->schema_known = false;
	sender->failures++;
	complain(sender, answers ? SENDER_REFUSED : SENDER_AWAY,
		 result->code ? result->code : (u32)-err, error->message);
	return refused ? spread(sender, REFUSED_MS) : away_ms(sender);
}

/* The least that explains a date which was told between two moments of our clock. */
static s64 skew_of(u64 date, u64 before, u64 after)
{
	s64 late = (s64)date - (s64)after, early = (s64)date - (s64)before;

	if (late > SENDER_SKEW_SHIFTED)
		return late;
	return early < -SENDER_SKEW_SHIFTED ? early : 0;
}

/* As exactly as a date of whole seconds tells. */
static bool is_same_skew(s64 a, s64 b)
{
	return a - b >= -SENDER_SKEW_SHIFTED && a - b <= SENDER_SKEW_SHIFTED;
}

/* A single date may be wrong: windows are shifted when the next one says the same. */
static void note_skew(struct sender *sender, s64 skew)
{
	struct sender_state *state = sender->state;
	bool is_confirmed = is_same_skew(skew, sender->date_skew);

	sender->date_skew = skew;
	if (!is_confirmed)
		return;
	state->skew_known = true;
	if (is_same_skew(skew, state->skew))
		return;
	state->skew = (s32)skew;
	if (skew)
		say(sender, "the clock is %lld s %s the store's: windows are shifted by that",
		    (long long)(skew < 0 ? -skew : skew), skew < 0 ? "ahead of" : "behind");
	else
		say(sender, "the clock agrees with the store's");
}

static bool is_off_by_more_than_a_day(s64 skew)
{
	return skew > SENDER_SKEW_REFUSED || skew < -SENDER_SKEW_REFUSED;
}

/* False: nothing is sent with such a clock. */
static bool note_date(struct sender *sender, u64 date, u64 before)
{
	u64 after = (u64)time(NULL);
	s64 skew = date ? skew_of(date, before, after) : 0;
	char text[160];

	if (!date)
		return true;
	sender->server_date = date;
	if (!is_off_by_more_than_a_day(skew)) {
		note_skew(sender, skew);
		return true;
	}
	snprintf(text, sizeof(text),
		 "the clock is %lld s %s that of %s, more than a day: nothing is sent until it is "
		 "set",
		 (long long)(skew < 0 ? -skew : skew), skew < 0 ? "ahead of" : "behind",
		 clickhouse_name(sender->server));
	complain(sender, SENDER_CLOCK, 0, text);
	return false;
}

/* 0: it is known to be ours, and the clock will do. Else *wait_ms. */
static int see_to_schema(struct sender *sender, u32 *wait_ms)
{
	struct clickhouse_result result = {.outcome = CLICKHOUSE_UNSURE};
	struct stackmap_error error = {0};
	u64 before = (u64)time(NULL);
	int err;

	if (sender->schema_known && clock_ms() - sender->schema_ms < SCHEMA_MS)
		return 0;
	err = schema_check(sender->server, &result, &error);
	if (err) {
		*wait_ms = fail(sender, err, &result, &error);
		return err;
	}
	if (!note_date(sender, result.date, before)) {
		*wait_ms = spread(sender, REFUSED_MS);
		return -EDOM;
	}
	sender->schema_known = is_same_skew(sender->date_skew, sender->state->skew);
	sender->schema_ms = clock_ms();
	return 0;
}

/* Dated by a clock that was more than a day ahead. */
static bool is_of_the_future(const struct sender *sender, const struct batch *batch)
{
	for (u32 i = 0; i < batch->window_count && sender->server_date; i++)
		if (batch->windows[i].time > sender->server_date + SENDER_SKEW_REFUSED)
			return true;
	return false;
}

/* --- suspects --- */

static struct suspect *find_suspect(const struct sender *sender, u64 number)
{
	for (u32 i = 0; i < sender->suspect_count; i++)
		if (sender->suspects[i].number == number)
			return &sender->suspects[i];
	return NULL;
}

/* NULL without memory. */
static struct suspect *suspect(struct sender *sender, u64 number)
{
	struct suspect *found = find_suspect(sender, number);

	if (found)
		return found;
	if (array_make_room(sender->suspects, sender->suspect_count, sender->suspect_room))
		return NULL;
	found = &sender->suspects[sender->suspect_count++];
	*found = (struct suspect){.number = number};
	return found;
}

static void acquit(struct sender *sender, u64 number)
{
	struct suspect *found = find_suspect(sender, number);

	if (found)
		*found = sender->suspects[--sender->suspect_count];
}

static bool comes_later(const void *arg, u64 number)
{
	const struct suspect *found = find_suspect(arg, number);

	return found && found->due > clock_ms();
}

/* True: the failure was one too many. */
static bool strike(struct sender *sender, struct suspect *suspect, bool is_rejected)
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

/* Rows that were complained of are tried again at once when the server has taken others. */
static void note_taken(struct sender *sender, u64 number)
{
	acquit(sender, number);
	sender->taken++;
	for (u32 i = 0; i < sender->suspect_count; i++)
		if (sender->suspects[i].is_rejected)
			sender->suspects[i].due = 0;
}

/* --- batches --- */

static void count_sent(struct sender *sender, const struct spooled_batch *batch)
{
	struct sender_state *state = sender->state;

	note_taken(sender, batch->ledger.number);
	state->lost += batch->lost_as != NULL;
	state->batches += !batch->lost_as;
	state->rows += sender->progress.rows;
	sender->progress = (struct batch_progress){0};
	sender->failures = 0;
	state->error[0] = 0;
	if (sender->complaint)
		say(sender, "%s: sending goes on", clickhouse_name(sender->server));
	sender->complaint = 0;
}

static int send_one(struct sender *sender, struct spooled_batch *batch,
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

static u32 set_aside(struct sender *sender, const struct spooled_batch *batch, const char *why)
{
	struct stackmap_error error;

	say(sender, "%s; others are taken, so batch %llu is set aside, and its loss is noted", why,
	    (unsigned long long)batch->ledger.number);
	acquit(sender, batch->ledger.number);
	sender->state->refused++;
	if (!spool_set_aside(sender->spool, batch, &error))
		return 0;
	complain(sender, SENDER_AWAY, EIO, error.message);
	return spread(sender, REFUSED_MS);
}

/* Memory is ours; what the server names by its code keeps all batches out. */
static bool may_be_of_batch(int err, const struct clickhouse_result *result)
{
	bool keeps_all_out =
		result->outcome == CLICKHOUSE_DENIED || result->outcome == CLICKHOUSE_REFUSED;

	return err != -ENOMEM && !(result->code && keeps_all_out);
}

static u32 fail_batch(struct sender *sender, const struct spooled_batch *batch, int err,
		      const struct clickhouse_result *result, const struct stackmap_error *error)
{
	struct suspect *found =
		may_be_of_batch(err, result) ? suspect(sender, batch->ledger.number) : NULL;

	if (batch->ledger.number > sender->doubtful)
		sender->doubtful = batch->ledger.number;
	if (found && strike(sender, found, result->outcome == CLICKHOUSE_REJECTED))
		return set_aside(sender, batch, error->message);
	return fail(sender, err, result, error);
}

static u32 send_oldest(struct sender *sender, struct spooled_batch *batch)
{
	struct clickhouse_result result = {.outcome = CLICKHOUSE_UNSURE};
	struct stackmap_error error = {0};
	int err;

	sender->state->standing = SENDER_SENDING;
	if (!batch->lost_as && is_of_the_future(sender, &batch->ledger)) {
		say(sender, "a batch was dated by a clock that was more than a day ahead: its loss "
			    "is noted");
		err = spool_give_up(sender->spool, batch, LOST_AS_CLOCK, &error);
	} else {
		err = send_one(sender, batch, &result, &error);
		if (err)
			return fail_batch(sender, batch, err, &result, &error);
		err = spool_done(sender->spool, batch);
		count_sent(sender, batch);
		if (err)
			error_set(&error, -err, "spool: %s", strerror(-err));
	}
	if (!err)
		return 0;
	complain(sender, SENDER_AWAY, (u32)-err, error.message);
	return spread(sender, REFUSED_MS);
}

static u32 idle(struct sender *sender)
{
	sender->state->standing = SENDER_IDLE;
	sender->state->error[0] = 0;
	sender->suspect_count = 0;
	if (sender->complaint)
		say(sender, "%s: it goes on", clickhouse_name(sender->server));
	sender->complaint = 0;
	sender->failures = 0;
	return IDLE_MS;
}

static u32 step(struct sender *sender)
{
	struct spooled_batch batch;
	struct stackmap_error error = {0};
	u32 wait_ms = 0;
	int err;

	if (see_to_schema(sender, &wait_ms))
		return wait_ms;
	err = spool_oldest(sender->spool, comes_later, sender, &batch, &error);
	if (err == -ENOENT)
		err = spool_oldest(sender->spool, NULL, NULL, &batch, &error);
	if (err == -ENOENT)
		return idle(sender);
	if (err) {
		complain(sender, SENDER_AWAY, (u32)-err, error.message);
		return spread(sender, REFUSED_MS);
	}
	wait_ms = send_oldest(sender, &batch);
	spooled_batch_clear(&batch);
	return wait_ms;
}

u32 sender_step(struct sender *sender)
{
	struct sender_state *state = sender->state;
	u32 wait_ms = step(sender);
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
