/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One window begins where the last ended, so that no event falls between two. A flight recorder is
 * locked only as long as it is looked at. */
#include "top_feed.h"

#include <stdlib.h>

#include "capture/bpffs/folder.h"
#include "capture/capture.h"
#include "capture/instance/metadata.h"
#include "capture/instance/reset.h"
#include "capture/instance/status.h"
#include "capture/live_recording.h"
#include "clock.h"
#include "command_line.h"
#include "process/file_limit.h"
#include "process/privilege.h"
#include "recording/record_instance.h"
#include "terminal/message.h"
#include "trace/ledger_sum.h"

#define WINDOW_EVENTS_MAX 100000
#define ROUND_MS 100 /* where nothing is drained */
#define RESET_MS 60000

static const char *name_of(const struct top_feed *feed)
{
	return feed->instance ?: "top";
}

static int open_window(struct top_feed *feed, struct stackmap_error *error)
{
	return live_window_open(&feed->window, feed->capture, &feed->info.info, name_of(feed),
				error);
}

static int create_own(struct top_feed *feed, const struct record_values *values,
		      struct stackmap_error *error)
{
	struct capture_options options = record_target_options(values, &feed->target);
	int result;

	result = capture_create(&options, &feed->capture, error)
			 ?: record_target_follow(&feed->target, feed->capture, error)
			 ?: reset_prepare(capture_loaded(feed->capture), error);
	if (result)
		return result;
	recording_info_init(&feed->info, feed->capture, feed->target.sources.sources[0].frequency,
			    feed->command_line ?: "");
	return open_window(feed, error) ?: capture_attach(feed->capture, error);
}

/* The mode is known when it is open; who empties it opens it in another way. */
static int find_mode(struct top_feed *feed, struct stackmap_error *error)
{
	struct capture *capture;
	int result = capture_open(feed->folder, &capture, error);

	if (result)
		return result;
	feed->flight = loaded_is_flight(capture_loaded(capture));
	capture_free(&capture);
	return 0;
}

static int open_capture(struct top_feed *feed, struct stackmap_error *error)
{
	return feed->flight ? capture_open_viewer(feed->folder, &feed->capture, error)
			    : capture_open_reader(feed->folder, &feed->capture, error);
}

static int open_instance(struct top_feed *feed, struct stackmap_error *error)
{
	int result = folder_open(feed->instance, &feed->folder, error)
			     ?: find_mode(feed, error)
			     ?: open_capture(feed, error);

	if (result)
		return result;
	recording_info_init(&feed->info, feed->capture,
			    capture_metadata(feed->capture)->sources.sources[0].frequency,
			    feed->command_line ?: "");
	return feed->flight ? 0 : open_window(feed, error);
}

static int drop_privileges(const struct top_feed *feed)
{
	const struct privilege_needs needs = {
		.reads_files = true,
		.opens_events = loaded_is_by_cpu(capture_loaded(feed->capture)),
	};

	return privilege_drop(&needs);
}

static int choose(struct top_feed *feed, const struct record_values *values)
{
	if (feed->instance)
		return record_instance_check(values, 0);
	return record_target_choose(values, false, &feed->target);
}

int top_feed_open(struct top_feed *feed, const struct record_values *values,
		  const struct from_values *from)
{
	struct stackmap_error error;
	int result, status;

	*feed = (struct top_feed){
		.instance = values->instance,
		.command_line = command_line_read(),
		.seen_until = clock_ms() * 1000000,
		.next_reset = clock_ms() + RESET_MS,
	};
	status = store_feed_open(&feed->store, from, values);
	if (status || feed->store.values)
		return status;
	status = choose(feed, values);
	if (status)
		return status;
	file_limit_raise();
	result = feed->instance ? open_instance(feed, &error) : create_own(feed, values, &error);
	return result ? message_failure(result, &error) : drop_privileges(feed);
}

void top_feed_close(struct top_feed *feed)
{
	live_window_discard(&feed->window);
	capture_free(&feed->capture);
	folder_close(&feed->folder);
	record_target_clear(&feed->target);
	free(feed->command_line);
}

int top_feed_visit(struct top_feed *feed)
{
	u64 events;
	int result, ms;

	if (feed->flight || feed->store.values)
		return ROUND_MS;
	loaded_follow_cpus(capture_loaded(feed->capture));
	result = live_window_drain(&feed->window, &ms, &events);
	if (result)
		return result;
	return events < WINDOW_EVENTS_MAX ? ms : 0;
}

/* What this process is the only one to use is emptied now and then: it would be full of the past
 * some day. If it cannot be now, it can later. */
static void reset_own(struct top_feed *feed)
{
	struct stackmap_error error;

	if (feed->instance || clock_ms() < feed->next_reset)
		return;
	reset_followed(capture_loaded(feed->capture), 0, &error);
	feed->next_reset = clock_ms() + RESET_MS;
}

static int take_window(struct top_feed *feed, struct trace_reader **reader,
		       struct stackmap_error *error)
{
	int result;

	reset_own(feed);
	result = live_window_close(&feed->window, reader, error);
	if (result)
		return result;
	ledger_add(&feed->ledger, trace_reader_ledger(*reader));
	result = open_window(feed, error);
	if (result)
		trace_reader_close(reader);
	return result;
}

/* Nobody resets it meanwhile, nor is another snapshot taken. */
static int look_locked(struct top_feed *feed, struct folder *control, struct trace_reader **reader,
		       struct stackmap_error *error)
{
	int result = folder_lock_wait(control, error);

	if (result)
		return result;
	result =
		live_recording_open(feed->capture, &feed->info.info, feed->instance, reader, error);
	if (!result)
		feed->ledger = *trace_reader_ledger(*reader);
	return result;
}

static int look(struct top_feed *feed, struct trace_reader **reader, struct stackmap_error *error)
{
	struct folder *control;
	int result = folder_open(feed->instance, &control, error);

	if (result)
		return result;
	result = look_locked(feed, control, reader, error);
	folder_close(&control);
	return result;
}

static int take_of_store(struct top_feed *feed, struct trace_reader **reader,
			 struct stackmap_error *error)
{
	int result = store_feed_take(&feed->store, reader, error);

	if (!result)
		feed->ledger = *trace_reader_ledger(*reader);
	return result;
}

int top_feed_take(struct top_feed *feed, struct trace_reader **reader, struct event_filter *filter,
		  struct stackmap_error *error)
{
	*filter = (struct event_filter){};
	if (feed->store.values)
		return take_of_store(feed, reader, error);
	if (feed->instance)
		instance_table_stat(capture_loaded(feed->capture), &feed->stacks);
	if (!feed->flight)
		return take_window(feed, reader, error);
	filter->from = feed->seen_until + 1;
	return look(feed, reader, error);
}

bool top_feed_ended(const struct top_feed *feed)
{
	if (feed->store.values)
		return false;
	return feed->folder ? !folder_is_there(feed->folder) : record_target_ended(&feed->target);
}
