/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "capture/drain/pace.h"
#include "capture/instance/status.h"
#include "clock.h"
#include "process/privilege.h"
#include "product_version.h"
#include "recording/session_face.h"
#include "terminal/message.h"

/*
 * A store: servers are opened for each refresh, so a server that was away comes back. While a
 * screen is shown, messages are suppressed: the ledger counts the missing events.
 */

#define SINCE_DEFAULT "5m"

static int check_options(const struct session_options *record)
{
	const struct {
		const char *name;
		bool is_given;
	} options[] = {
		{"--instance", record->instance},
		{"--pid", record->pids.count > 0},
		{"--cpu", record->cpus},
		{"--off-cpu", record->off_cpu},
		{"--wakers", record->wakers},
		{"--no-kernel", record->no_kernel},
		{"--no-user", record->no_user},
		{"--user-at-syscall", record->user_at_syscall},
		{"--max-depth", record->max_depth},
		{"--ring", record->ring},
		{"--frequency", record->frequency},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_given) {
			message("%s: not with --from, which records nothing", options[i].name);
			return -EINVAL;
		}
	return 0;
}

/* Opens the store without a query, to see if the servers answer. Exit status; errors were printed.
 */
static int store_feed_open(struct store_feed *feed, const struct from_values *from,
			   const struct session_options *record)
{
	struct from_values values = *from;
	struct shards *shards;
	struct string_list *wanted;

	if (from->url && !from->since)
		values.since = SINCE_DEFAULT;
	if (from_choose(&values, &feed->choice) || (from->url && check_options(record)))
		return EXIT_USAGE;
	if (!from->url)
		return EXIT_DONE;
	if (from->until) {
		message("--until: not with top, which shows the time up to now");
		return EXIT_USAGE;
	}
	feed->values = from;
	feed->events = TEXT_SET;
	feed->seconds = feed->choice.question.to - feed->choice.question.from;
	/* Fills the lists, which point into the feed, so the feed must not be moved. */
	wanted = feed->choice.question.wanted;
	feed->cgroup = record->cgroup;
	wanted[STORE_FIELD_EVENT] = record->events;
	wanted[STORE_FIELD_COMM] = record->comms;
	if (feed->cgroup)
		wanted[STORE_FIELD_CGROUP] =
			(struct string_list){.items = &feed->cgroup, .count = 1};
	shards = from_connect(&feed->choice);
	if (!shards)
		return EXIT_FAILED;
	from_tell_away(&feed->choice, shards);
	shards_close(&shards);
	return EXIT_DONE;
}

static int store_feed_take(struct store_feed *feed, struct trace_reader **reader,
			   struct stackmap_error *error)
{
	struct store_recording_request request = {.question = feed->choice.question,
						  .name = feed->choice.access.url,
						  .description = "",
						  .version = STACKMAP_VERSION,
						  .events = &feed->events};
	struct store_account account;
	struct shards *shards;
	int err = shards_open(&feed->choice.access, &shards, error);

	if (err)
		return err;
	request.question.to = (u64)time(NULL);
	request.question.from = request.question.to - feed->seconds;
	err = store_recording_open(shards, &request, &account, reader, error);
	feed->choice.is_partial = !shards_are_whole(shards);
	shards_close(&shards);
	if (!err)
		store_account_clear(&account);
	return err;
}

int top_feed_open(struct top_feed *feed, const struct session_options *options,
		  const struct from_values *from)
{
	struct stackmap_error error;
	int result, status;

	*feed = (struct top_feed){
		.options = *options,
		.seen_until = clock_ns(CLOCK_MONOTONIC),
	};
	feed->options.use = SESSION_TAKE_OR_VIEW;
	feed->options.windows = true;
	feed->options.window_events = SESSION_WINDOW_EVENTS_MAX;
	feed->options.name = "top";
	status = store_feed_open(&feed->store, from, options);
	if (status || feed->store.values)
		return status;
	file_limit_raise();
	result = session_create(&feed->options, NULL, &feed->session, &error)
			 ?: session_open(feed->session, 0, NULL, &error)
			 ?: session_start(feed->session, &error);
	if (result)
		return message_failure(result, &error);
	user_way_tell(session_capture(feed->session));
	return session_face_drop_privileges(feed->session, false, NULL);
}

int top_feed_close(struct top_feed *feed)
{
	session_close(&feed->session);
	from_clear(&feed->store.choice);
	text_set_clear(&feed->store.events);
	return feed->store.choice.is_partial ? EXIT_FAILED : EXIT_DONE;
}

int top_feed_visit(struct top_feed *feed, struct stackmap_error *error)
{
	return feed->session ? session_visit(feed->session, error) : PACE_MS_MAX;
}

int top_feed_wake_fd(const struct top_feed *feed)
{
	return feed->session ? session_wake_fd(feed->session) : -1;
}

int top_feed_take(struct top_feed *feed, struct trace_reader **reader, struct event_filter *filter,
		  struct stackmap_error *error)
{
	int result;

	*filter = (struct event_filter){};
	if (!feed->session) {
		result = store_feed_take(&feed->store, reader, error);
		if (!result)
			feed->ledger = *trace_reader_ledger(*reader);
		return result;
	}
	if (feed->options.instance)
		instance_table_stat(capture_loaded(session_capture(feed->session)), &feed->stacks);
	if (session_kind(feed->session) == SESSION_VIEWER)
		filter->from = feed->seen_until + 1;
	result = session_take(feed->session, reader, NULL, error);
	feed->ledger = *session_ledger(feed->session);
	return result;
}

bool top_feed_ended(const struct top_feed *feed)
{
	return feed->session && session_is_over(feed->session);
}
