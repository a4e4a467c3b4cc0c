/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/agent_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/instance/reset.h"
#include "capture/load/loaded.h"
#include "clock.h"
#include "command_line.h"
#include "recording/nameless.h"
#include "terminal/message.h"

#define NAME "agent"
#define RESET_MS 60000
#define LONGEST_MS 5000 /* longest wait for names: a window closes before the next one is due */

static int open_window(struct agent_feed *feed, struct stackmap_error *error)
{
	int result = live_window_open(&feed->window, feed->capture, &feed->info.info, NAME, error);

	feed->window.longest_ms = LONGEST_MS;
	return result;
}

static int create(struct agent_feed *feed, const struct record_values *values, const char *host,
		  pid_t beside, struct stackmap_error *error)
{
	struct capture_options options = record_target_options(values, &feed->target);
	int result = capture_create(&options, &feed->capture, error)
			     ?: reset_prepare(capture_loaded(feed->capture), error);

	if (result)
		return result;
	loaded_leave_out(capture_loaded(feed->capture), beside);
	recording_info_init(&feed->info, feed->capture, agent_feed_frequency(feed),
			    feed->command_line ?: "");
	/* Code that nothing else identifies is of its host, by the name that the store knows. */
	snprintf(feed->info.hostname, sizeof(feed->info.hostname), "%s", host);
	return open_window(feed, error) ?: capture_attach(feed->capture, error);
}

int agent_feed_open(struct agent_feed *feed, const struct record_values *values, const char *host,
		    pid_t beside)
{
	struct stackmap_error error;
	int status, result;

	feed->command_line = command_line_read();
	feed->next_reset = clock_ms() + RESET_MS;
	status = record_target_choose(values, false, &feed->target);
	if (status)
		return status;
	result = create(feed, values, host, beside, &error);
	return result ? message_failure(result, &error) : EXIT_DONE;
}

void agent_feed_close(struct agent_feed *feed)
{
	live_window_discard(&feed->window);
	capture_free(&feed->capture);
	record_target_clear(&feed->target);
	free(feed->command_line);
}

u64 agent_feed_frequency(const struct agent_feed *feed)
{
	const struct source_list *sources = &feed->target.sources;

	for (u32 i = 0; i < sources->count; i++)
		if (sources->sources[i].frequency)
			return sources->sources[i].frequency;
	return 0;
}

int agent_feed_set_frequency(struct agent_feed *feed, u64 frequency)
{
	feed->info.info.frequency = frequency;
	return loaded_set_frequency(capture_loaded(feed->capture), frequency);
}

int agent_feed_visit(struct agent_feed *feed)
{
	u64 events;
	int result, ms;

	loaded_follow_cpus(capture_loaded(feed->capture));
	result = live_window_drain(&feed->window, &ms, &events);
	if (result)
		return result;
	return events < feed->events_most ? ms : 0;
}

/* If it cannot be now, it can later. */
static void reset_map(struct agent_feed *feed)
{
	struct stackmap_error error;

	if (clock_ms() < feed->next_reset)
		return;
	reset_followed(capture_loaded(feed->capture), 0, &error);
	feed->next_reset = clock_ms() + RESET_MS;
}

int agent_feed_take(struct agent_feed *feed, struct trace_reader **reader, int *copy,
		    struct stackmap_error *error)
{
	int fd = copy ? dup(feed->window.recording.fd) : -1, result;

	reset_map(feed);
	result = live_window_close(&feed->window, reader, error);
	nameless_tell(feed->capture);
	if (!result) {
		result = open_window(feed, error);
		if (result)
			trace_reader_close(reader);
	}
	if (result && fd >= 0)
		close(fd);
	else if (copy)
		*copy = fd;
	return result;
}
