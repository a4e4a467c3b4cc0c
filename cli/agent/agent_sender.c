/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recorder holds the writing end of a pipe. A byte wakes the sender; when the pipe is closed,
 * what can be sent at once still is. The next recorder may be there by then: its sender waits until
 * the spool is free.
 */
#include "agent/agent_sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "clock.h"
#include "terminal/message.h"

#define LAST_MS 10000 /* for what is sent at the end */
#define GRACE_MS 2000 /* then it is killed */
#define TRY_MS 200
#define PATIENCE_MS 60000 /* with a sender of before */

static void say(void *arg, const char *text)
{
	(void)arg;
	message("%s", text);
}

static int fail(const struct stackmap_error *error)
{
	message_error(error);
	return EXIT_FAILED;
}

/* --- in the process of its own --- */

static int open_spool(const struct agent_sender_options *options, struct spool **spool)
{
	const struct spool_options spool_options = {.folder = options->spool,
						    .most_bytes = options->spool_bytes,
						    .end = SPOOL_DRAIN,
						    .say = say};
	u64 until = clock_ms() + PATIENCE_MS;
	struct stackmap_error error;
	int result = spool_open(&spool_options, spool, &error);

	while (result == -EBUSY && clock_ms() < until) {
		poll(NULL, 0, TRY_MS);
		result = spool_open(&spool_options, spool, &error);
	}
	return result ? fail(&error) : EXIT_DONE;
}

/* A new batch is a reason to look at the spool, but none to spare the server less. False: the
 * recorder is gone. */
static bool wait_for_work(int wake, u32 ms, bool is_idle)
{
	struct pollfd ready = {.fd = wake, .events = is_idle ? POLLIN : 0};
	char bytes[64];

	if (poll(&ready, 1, ms) <= 0)
		return true;
	if (ready.revents & POLLIN)
		return read(wake, bytes, sizeof(bytes)) != 0;
	return !(ready.revents & POLLHUP);
}

/* A request that hangs ends by the alarm. */
static void send_last(struct sender *sender, const struct sender_state *state)
{
	u64 until = clock_ms() + LAST_MS;
	u32 ms;

	alarm((LAST_MS + GRACE_MS) / 1000);
	do {
		bool others_wait;

		ms = sender_step(sender);
		others_wait =
			state->standing == SENDER_SENDING ||
			(state->standing == SENDER_REFUSED && state->suspects < state->waiting);
		if (!others_wait || clock_ms() + ms > until)
			return;
		poll(NULL, 0, ms);
	} while (clock_ms() < until);
}

static int send_all(const void *arg, int wake, void *state)
{
	const struct agent_sender_options *options = arg;
	struct sender_options sender_options = {
		.url = options->url, .server = options->server, .host = options->host, .say = say};
	struct stackmap_error error;
	const struct sender_state *sender_state = state;
	struct sender *sender;
	struct spool *spool;
	u32 ms;

	if (open_spool(options, &spool))
		return EXIT_FAILED;
	sender_options.spool = spool;
	if (sender_open(&sender_options, state, &sender, &error)) {
		spool_close(&spool);
		return fail(&error);
	}
	do
		ms = sender_step(sender);
	while (wait_for_work(wake, ms, sender_state->standing == SENDER_IDLE));
	send_last(sender, state);
	sender_close(&sender);
	spool_close(&spool);
	return EXIT_DONE;
}

/* --- in the recorder --- */

static int connect_ends(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	return fcntl(ends[1], F_SETFL, O_NONBLOCK) ? -errno : 0;
}

int agent_sender_start(struct agent_child *child, const struct agent_sender_options *options)
{
	static const struct agent_child_kind kind = {
		.what = "sender",
		.comm = "stackmap-send",
		.state_bytes = sizeof(struct sender_state),
		.last_ms = LAST_MS + 2 * GRACE_MS,
		.connect = connect_ends,
		.run = send_all,
	};

	return agent_child_start(child, &kind, options);
}

/* A full pipe wakes it as well. */
void agent_sender_wake(const struct agent_child *child)
{
	ssize_t written = write(child->end, "", 1);

	(void)written;
}
