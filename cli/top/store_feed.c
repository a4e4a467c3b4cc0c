/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Servers are opened for each refresh, so one that was away comes back. While a screen is shown
 * nothing is said on standard error: events that are missing stand in the ledger. */
#include "top/store_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "product_version.h"
#include "terminal/message.h"

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

/* The lists point into the feed, which is not moved then. */
static void choose_events(struct store_feed *feed, const struct session_options *record)
{
	struct string_list *wanted = feed->choice.question.wanted;

	feed->cgroup = record->cgroup;
	wanted[STORE_FIELD_EVENT] = record->events;
	wanted[STORE_FIELD_COMM] = record->comms;
	if (feed->cgroup)
		wanted[STORE_FIELD_CGROUP] =
			(struct string_list){.items = &feed->cgroup, .count = 1};
}

int store_feed_open(struct store_feed *feed, const struct from_values *from,
		    const struct session_options *record)
{
	struct from_values values = *from;
	struct shards *shards;

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
	choose_events(feed, record);
	shards = from_connect(&feed->choice);
	if (!shards)
		return EXIT_FAILED;
	from_tell_away(&feed->choice, shards);
	shards_close(&shards);
	return EXIT_DONE;
}

int store_feed_close(struct store_feed *feed)
{
	from_clear(&feed->choice);
	text_set_clear(&feed->events);
	return feed->choice.is_partial ? EXIT_FAILED : EXIT_DONE;
}

int store_feed_take(struct store_feed *feed, struct trace_reader **reader,
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
