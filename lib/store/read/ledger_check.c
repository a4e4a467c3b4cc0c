/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The server adds up by host, with every count weighted by a hash of its window. A host with equal
 * sums is correct: errors of several windows cancel with a probability of 2^-64. All other hosts
 * are compared window by window, an hour at a time, so that neither side needs memory for all
 * windows of a day. An hour with a difference is compared again with each key of events counted
 * once, which separates missing events from repeated ones.
 *
 * The ledger's row with the highest state counts for a window, merged or not.
 */
#include "store/read/ledger_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "store/wire/row_binary.h"

#define HOUR 3600
#define ANSWER_BYTES_MAX (32UL << 20)
#define SQL_BYTES_MAX 2048
#define CAUSES_MAX 256

#define WITHIN " WHERE time >= toDateTime(%1$u) AND time < toDateTime(%2$u) "
#define SUSPECT "AND host IN suspect "

#define HOSTS                                                                                      \
	"SELECT toString(host), sum(w), sum(p), sum(r), sum(weighted), sum(found) FROM (SELECT "   \
	"host, count() AS w, sum(produced) AS p, sum(recorded) AS r, sum(recorded * "              \
	"intHash64(time)) AS weighted, toUInt64(0) AS found FROM ledger FINAL" WITHIN              \
	"GROUP BY host UNION ALL SELECT host, toUInt64(0) AS w, toUInt64(0) AS p, toUInt64(0) AS " \
	"r, toUInt64(0) AS weighted, sum(count * intHash64(time)) AS found FROM events" WITHIN     \
	"GROUP BY host) AS a GROUP BY host FORMAT RowBinary"

#define EVENTS_AS_THEY_ARE                                                                         \
	"SELECT host, time, toUInt64(0) AS r, toUInt64(sum(count)) AS s FROM events" WITHIN        \
		SUSPECT "GROUP BY host, time"

#define EVENTS_ONCE                                                                                \
	"SELECT host, time, toUInt64(0) AS r, toUInt64(sum(c)) AS s FROM (SELECT host, time, "     \
	"any(count) AS c FROM events" WITHIN SUSPECT "GROUP BY host, time, service, version, "     \
	"cgroup, comm, event, stack) AS k GROUP BY host, time"

#define DIFFERENT_WINDOWS(events)                                                                  \
	"SELECT toString(host), time, sum(r) AS recorded, sum(s) AS stored FROM (SELECT host, "    \
	"time, toUInt64(sum(one)) AS r, toUInt64(0) AS s FROM (SELECT host, time, "                \
	"argMax(recorded, state) AS one FROM ledger" WITHIN SUSPECT                                \
	"GROUP BY host, boot, batch, time) AS l GROUP BY host, time UNION ALL " events             \
	") AS a GROUP BY host, time HAVING recorded != stored ORDER BY host, time LIMIT 100000 "   \
	"FORMAT RowBinary"

/* A row that replaces another has the other's causes. */
#define CAUSES                                                                                     \
	"SELECT cause, toUInt64(sum(n)) FROM (SELECT cause, n FROM (SELECT host, time, "           \
	"argMax(causes, state) AS c, argMax(lost, state) AS l FROM ledger" WITHIN                  \
	"AND notEmpty(causes) GROUP BY host, boot, batch, time) AS w ARRAY JOIN c AS cause, l AS " \
	"n) AS d GROUP BY cause ORDER BY cause FORMAT RowBinary"

#define ALWAYS UINT32_MAX

typedef int take_row(struct byte_cursor *row, void *arg);

static int take_rows(const struct byte_buffer *answer, take_row *take, void *arg)
{
	struct byte_cursor rows = {answer->data, answer->data + answer->used, false};
	int err = 0;

	while (!err && byte_cursor_left(&rows))
		err = take(&rows, arg);
	return rows.bad ? -EBADMSG : err;
}

/* Windows that began at `from` or later, and before `to`. */
struct span {
	u32 from, to;
	const struct byte_buffer *suspects; /* hosts, RowBinary; NULL: all hosts */
};

/* `format` is one of the texts above, with the two times as its arguments. */
__attribute__((format(printf, 2, 0))) static int ask(struct clickhouse *server, const char *format,
						     const struct span *span, take_row *take,
						     void *arg, struct stackmap_error *error)
{
	const struct byte_buffer *suspects = span->suspects;
	const struct clickhouse_table table = {
		.name = "suspect",
		.structure = "value String",
		.rows = suspects ? suspects->data : NULL,
		.bytes = suspects ? suspects->used : 0,
	};
	struct byte_buffer answer = {0};
	char sql[SQL_BYTES_MAX];
	int err;

	snprintf(sql, sizeof(sql), format, span->from, span->to);
	err = clickhouse_query(server, sql, &table, suspects != NULL, ANSWER_BYTES_MAX, &answer,
			       NULL, error);
	if (!err) {
		err = take_rows(&answer, take, arg);
		if (err == -EBADMSG)
			error_set(error, EBADMSG, "%s: the answer makes no sense",
				  clickhouse_name(server));
		else if (err)
			error_set_errno(error, -err, clickhouse_name(server));
	}
	byte_buffer_free(&answer);
	return err;
}

/* State of the comparison by host. */
struct hosts {
	struct ledger_check *check;
	struct byte_buffer suspects; /* hosts whose sums differ */
};

static int take_host(struct byte_cursor *row, void *arg)
{
	struct hosts *hosts = arg;
	struct ledger_check *check = hosts->check;
	size_t length;
	const char *host = row_get_text(row, &length);
	u64 windows = row_get_u64(row), weighted;

	check->hosts += windows != 0;
	check->windows += windows;
	check->produced += row_get_u64(row);
	check->recorded += row_get_u64(row);
	weighted = row_get_u64(row);
	if (weighted != row_get_u64(row)) {
		row_put_count(&hosts->suspects, length);
		row_put_bytes(&hosts->suspects, host, length);
	}
	return hosts->suspects.failed ? -ENOMEM : 0;
}

static struct lost_cause *cause_of(struct ledger_check *check, const char *name)
{
	for (u32 i = 0; i < check->cause_count; i++)
		if (!strcmp(check->causes[i].name, name))
			return &check->causes[i];
	return NULL;
}

static int add_cause(struct ledger_check *check, char *name, u64 events)
{
	struct lost_cause *cause = cause_of(check, name);

	if (cause) {
		cause->events += events;
		free(name);
		return 0;
	}
	if (check->cause_count == CAUSES_MAX ||
	    array_make_room(check->causes, check->cause_count, check->cause_room)) {
		free(name);
		return -ENOMEM;
	}
	check->causes[check->cause_count++] = (struct lost_cause){.name = name, .events = events};
	return 0;
}

static int take_cause(struct byte_cursor *row, void *arg)
{
	char *name = row_get_string(row);
	u64 events = row_get_u64(row);

	return name ? add_cause(arg, name, events) : -ENOMEM;
}

static bool goes_on(const struct window_ranges *ranges, const struct window_range *next)
{
	const struct window_range *last = ranges->count ? &ranges->ranges[ranges->count - 1] : NULL;

	return last && !strcmp(last->host, next->host) &&
	       (last->recorded > last->stored) == (next->recorded > next->stored);
}

/* Takes over the host's name. */
static int add_window(struct window_ranges *ranges, const struct window_range *window)
{
	struct window_range *last;

	if (goes_on(ranges, window)) {
		last = &ranges->ranges[ranges->count - 1];
		last->to = window->to;
		last->windows++;
		last->recorded += window->recorded;
		last->stored += window->stored;
		free(window->host);
		return 0;
	}
	if (array_make_room(ranges->ranges, ranges->count, ranges->room)) {
		free(window->host);
		return -ENOMEM;
	}
	ranges->ranges[ranges->count++] = *window;
	return 0;
}

static int read_window(struct byte_cursor *row, struct window_range *window)
{
	*window = (struct window_range){.host = row_get_string(row), .windows = 1};
	window->from = window->to = row_get_u32(row);
	window->recorded = row_get_u64(row);
	window->stored = row_get_u64(row);
	return window->host ? 0 : -ENOMEM;
}

/* State of the comparison of one hour. */
struct hour {
	struct ledger_check *check;
	bool differs;
};

static int take_as_it_is(struct byte_cursor *row, void *arg)
{
	struct hour *hour = arg;
	struct window_range window;
	int err = read_window(row, &window);

	if (err)
		return err;
	hour->differs = true;
	if (window.stored > window.recorded)
		return add_window(&hour->check->repeated, &window);
	free(window.host);
	return 0;
}

static int take_different(struct byte_cursor *row, void *arg)
{
	struct ledger_check *check = arg;
	struct window_range window;
	int err = read_window(row, &window);

	if (err)
		return err;
	if (window.recorded > window.stored)
		check->missing += window.recorded - window.stored;
	else
		check->surplus += window.stored - window.recorded;
	return add_window(&check->different, &window);
}

static int check_hour(struct clickhouse *server, const struct span *span,
		      struct ledger_check *check, struct stackmap_error *error)
{
	struct hour hour = {.check = check};
	int err = ask(server, DIFFERENT_WINDOWS(EVENTS_AS_THEY_ARE), span, take_as_it_is, &hour,
		      error);

	if (err || !hour.differs)
		return err;
	return ask(server, DIFFERENT_WINDOWS(EVENTS_ONCE), span, take_different, check, error);
}

static int check_windows(struct clickhouse *server, u32 from, u32 now,
			 const struct byte_buffer *suspects, struct ledger_check *check,
			 struct stackmap_error *error)
{
	int err = 0;

	for (u32 at = from; !err && at <= now; at += HOUR) {
		const struct span span = {at, now - at < HOUR ? ALWAYS : at + HOUR, suspects};

		err = check_hour(server, &span, check, error);
	}
	return err;
}

int ledger_check_add(struct clickhouse *server, u32 from, u32 now, struct ledger_check *check,
		     struct stackmap_error *error)
{
	const struct span all = {.from = from, .to = ALWAYS};
	struct hosts hosts = {.check = check};
	int err = ask(server, HOSTS, &all, take_host, &hosts, error);

	if (!err)
		err = ask(server, CAUSES, &all, take_cause, check, error);
	if (!err && hosts.suspects.used)
		err = check_windows(server, from, now, &hosts.suspects, check, error);
	byte_buffer_free(&hosts.suspects);
	return err;
}

static void clear_ranges(struct window_ranges *ranges)
{
	for (u32 i = 0; i < ranges->count; i++)
		free(ranges->ranges[i].host);
	free(ranges->ranges);
}

void ledger_check_clear(struct ledger_check *check)
{
	for (u32 i = 0; i < check->cause_count; i++)
		free(check->causes[i].name);
	free(check->causes);
	clear_ranges(&check->different);
	clear_ranges(&check->repeated);
	memset(check, 0, sizeof(*check));
}
