/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The server adds up the counts of each host, with every count weighted by a hash of its window. A
 * host with equal sums is correct: errors of several windows cancel with a probability of 2^-64.
 * All other hosts are compared window by window, an hour at a time, so that neither server nor
 * program needs memory for all windows of a day. An hour with a difference is compared again with
 * each key of events counted once, which separates missing events from repeated ones.
 *
 * If several ledger rows describe a window, the row with the highest state counts, whether the
 * server has merged the rows or not.
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

/* A ledger row that replaces another row repeats the causes of that row. */
#define CAUSES                                                                                     \
	"SELECT cause, toUInt64(sum(n)) FROM (SELECT cause, n FROM (SELECT host, time, "           \
	"argMax(causes, state) AS c, argMax(lost, state) AS l FROM ledger" WITHIN                  \
	"AND notEmpty(causes) GROUP BY host, boot, batch, time) AS w ARRAY JOIN c AS cause, l AS " \
	"n) AS d GROUP BY cause ORDER BY cause FORMAT RowBinary"

#define ALWAYS UINT32_MAX

/* The state of a comparison between ledger and events. */
struct checking {
	struct clickhouse *server;
	struct ledger_check *check;
	struct byte_buffer suspects; /* names of the hosts whose sums differ, as RowBinary */
	bool differs; /* true: in the hour that is being compared, the ledger and the events of a
			 window differ */
};

typedef int take_row(struct byte_cursor *row, struct checking *checking);

/*
 * Sends a query whose text is `format`, one of the texts above, with two times as its arguments:
 * the query is about windows that began at `from` or later, and before `to`. With `of_suspects` the
 * query is sent with the names of the suspects.
 */
__attribute__((format(printf, 2, 0))) static int
query_windows_between_times(struct checking *checking, const char *format, u32 from, u32 to,
			    bool of_suspects, take_row *take, struct stackmap_error *error)
{
	const struct byte_buffer *suspects = &checking->suspects;
	const struct clickhouse_table table = {
		.name = "suspect",
		.structure = "value String",
		.rows = suspects->data,
		.bytes = suspects->used,
	};
	struct byte_buffer answer = {0};
	struct byte_cursor rows;
	char sql[SQL_BYTES_MAX];
	int err;

	snprintf(sql, sizeof(sql), format, from, to);
	err = clickhouse_query(checking->server, sql, &table, of_suspects, ANSWER_BYTES_MAX,
			       &answer, NULL, error);
	rows = (struct byte_cursor){answer.data, answer.data + answer.used, false};
	if (!err) {
		while (!err && byte_cursor_left(&rows))
			err = take(&rows, checking);
		if (rows.bad)
			err = -EBADMSG;
		if (err == -EBADMSG)
			error_set(error, EBADMSG, "%s: the answer makes no sense",
				  clickhouse_name(checking->server));
		else if (err)
			error_set_errno(error, -err, clickhouse_name(checking->server));
	}
	byte_buffer_free(&answer);
	return err;
}

static int read_host_sums_and_find_suspect(struct byte_cursor *row, struct checking *checking)
{
	struct ledger_check *check = checking->check;
	size_t length;
	const char *host = row_get_text(row, &length);
	u64 windows = row_get_u64(row), weighted;

	check->hosts += windows != 0;
	check->windows += windows;
	check->produced += row_get_u64(row);
	check->recorded += row_get_u64(row);
	weighted = row_get_u64(row);
	if (weighted != row_get_u64(row)) {
		row_put_count(&checking->suspects, length);
		row_put_bytes(&checking->suspects, host, length);
	}
	return checking->suspects.failed ? -ENOMEM : 0;
}

static int read_cause_row(struct byte_cursor *row, struct checking *checking)
{
	struct ledger_check *check = checking->check;
	char *name = row_get_string(row);
	u64 events = row_get_u64(row);

	for (u32 i = 0; name && i < check->cause_count; i++) {
		if (strcmp(check->causes[i].name, name) != 0)
			continue;
		check->causes[i].events += events;
		free(name);
		return 0;
	}
	if (!name || check->cause_count == CAUSES_MAX ||
	    array_make_room(check->causes, check->cause_count, check->cause_room)) {
		free(name);
		return -ENOMEM;
	}
	check->causes[check->cause_count++] = (struct lost_cause){.name = name, .events = events};
	return 0;
}

/* Adds the window to the last range, or as a new range. The function takes over the host's name. */
static int add_window_to_ranges(struct window_ranges *ranges, const struct window_range *window)
{
	struct window_range *last = ranges->count ? &ranges->ranges[ranges->count - 1] : NULL;

	if (last && !strcmp(last->host, window->host) &&
	    (last->recorded > last->stored) == (window->recorded > window->stored)) {
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

static int read_window_fields(struct byte_cursor *row, struct window_range *window)
{
	*window = (struct window_range){.host = row_get_string(row), .windows = 1};
	window->from = window->to = row_get_u32(row);
	window->recorded = row_get_u64(row);
	window->stored = row_get_u64(row);
	return window->host ? 0 : -ENOMEM;
}

static int read_window_with_repeated_rows(struct byte_cursor *row, struct checking *checking)
{
	struct window_range window;
	int err = read_window_fields(row, &window);

	if (err)
		return err;
	checking->differs = true;
	if (window.stored > window.recorded)
		return add_window_to_ranges(&checking->check->repeated, &window);
	free(window.host);
	return 0;
}

static int read_different_window_row(struct byte_cursor *row, struct checking *checking)
{
	struct ledger_check *check = checking->check;
	struct window_range window;
	int err = read_window_fields(row, &window);

	if (err)
		return err;
	if (window.recorded > window.stored)
		check->missing += window.recorded - window.stored;
	else
		check->surplus += window.stored - window.recorded;
	return add_window_to_ranges(&check->different, &window);
}

int ledger_check_add(struct clickhouse *server, u32 from, u32 now, struct ledger_check *check,
		     struct stackmap_error *error)
{
	struct checking checking = {.server = server, .check = check};
	int err = query_windows_between_times(&checking, HOSTS, from, ALWAYS, false,
					      read_host_sums_and_find_suspect, error)
			  ?: query_windows_between_times(&checking, CAUSES, from, ALWAYS, false,
							 read_cause_row, error);

	for (u32 at = from; !err && checking.suspects.used && at <= now; at += HOUR) {
		u32 to = now - at < HOUR ? ALWAYS : at + HOUR;

		checking.differs = false;
		err = query_windows_between_times(&checking, DIFFERENT_WINDOWS(EVENTS_AS_THEY_ARE),
						  at, to, true, read_window_with_repeated_rows,
						  error);
		if (!err && checking.differs)
			err = query_windows_between_times(&checking, DIFFERENT_WINDOWS(EVENTS_ONCE),
							  at, to, true, read_different_window_row,
							  error);
	}
	byte_buffer_free(&checking.suspects);
	return err;
}

static void clear_window_ranges(struct window_ranges *ranges)
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
	clear_window_ranges(&check->different);
	clear_window_ranges(&check->repeated);
	memset(check, 0, sizeof(*check));
}
