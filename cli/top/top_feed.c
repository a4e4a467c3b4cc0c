/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top_feed.h"

#include "capture/drain/pace.h"
#include "capture/instance/status.h"
#include "clock.h"
#include "process/file_limit.h"
#include "recording/session_face.h"
#include "recording/user_way.h"
#include "terminal/message.h"

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

void top_feed_close(struct top_feed *feed)
{
	session_close(&feed->session);
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
