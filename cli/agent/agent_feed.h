/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the agent records: one capture, whose events come window after window as recordings in
 * memory. Where one window ends the next begins. The stack map is emptied now and then, since the
 * machine's past would fill it.
 */
#ifndef CLI_AGENT_FEED_H
#define CLI_AGENT_FEED_H

#include "capture/live_window.h"
#include "capture/recording_info.h"
#include "recording/record_target.h"

struct agent_feed {
	char *command_line;
	struct record_target target;
	struct capture *capture;
	struct recording_info info;
	struct live_window window;
	u64 events_most; /* of a window */
	u64 next_reset;	 /* ms */
};

/* Exit status; what is wrong was said. `beside`: a process that is left out, too. `values` must
 * outlive the feed, which is to be closed in any case. */
int agent_feed_open(struct agent_feed *feed, const struct record_values *values, const char *host,
		    pid_t beside);
void agent_feed_close(struct agent_feed *feed);

/* Of what is sampled at a rate, in Hz; 0: nothing is. */
u64 agent_feed_frequency(const struct agent_feed *feed);
int agent_feed_set_frequency(struct agent_feed *feed, u64 frequency);

/* One visit to the rings. In how many ms the next is due, at most; 0: the window is full. -errno.
 */
int agent_feed_visit(struct agent_feed *feed);

/* The window's events; the next has begun. *copy, if not NULL: a descriptor of the recording, for
 * the caller to close. */
int agent_feed_take(struct agent_feed *feed, struct trace_reader **reader, int *copy,
		    struct stackmap_error *error);

#endif
