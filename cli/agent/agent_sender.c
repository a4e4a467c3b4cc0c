/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recorder holds the writing end of a pipe. A byte wakes the sender; that the pipe is closed
 * means the recorder has ended, or was killed: what can be sent at once still is. The next recorder
 * may be there by then: its sender waits until the spool is free.
 */
#include "agent/agent_sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "privilege/capability.h"
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

/* False: the recorder is gone. */
static bool wait_for_work(int wake, u32 ms)
{
	struct pollfd ready = {.fd = wake, .events = POLLIN};
	char bytes[64];

	if (poll(&ready, 1, ms) <= 0 || !ready.revents)
		return true;
	return read(wake, bytes, sizeof(bytes)) != 0;
}

/* A request that hangs ends by the alarm. */
static void send_last(struct sender *sender, const struct sender_state *state)
{
	u64 until = clock_ms() + LAST_MS;
	u32 ms;

	alarm((LAST_MS + GRACE_MS) / 1000);
	do {
		ms = sender_step(sender);
		if (state->standing != SENDER_SENDING && state->standing != SENDER_STARTING)
			return;
		poll(NULL, 0, ms < TRY_MS ? ms : TRY_MS);
	} while (clock_ms() < until);
}

static int send_all(const struct agent_sender_options *options, int wake,
		    struct sender_state *state)
{
	struct sender_options sender_options = {
		.url = options->url, .server = options->server, .host = options->host, .say = say};
	struct stackmap_error error;
	struct sender *sender;
	struct spool *spool;

	if (open_spool(options, &spool))
		return EXIT_FAILED;
	sender_options.spool = spool;
	if (sender_open(&sender_options, state, &sender, &error)) {
		spool_close(&spool);
		return fail(&error);
	}
	while (wait_for_work(wake, sender_step(sender)))
		continue;
	send_last(sender, state);
	sender_close(&sender);
	spool_close(&spool);
	return EXIT_DONE;
}

/* Those who end the recorder by its terminal or its service mean it, which tells us. */
static void leave_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

__attribute__((noreturn)) static void run(const struct agent_sender_options *options, int wake,
					  struct sender_state *state)
{
	prctl(PR_SET_NAME, "stackmap-send");
	leave_signals();
	if (capability_keep(0)) {
		message("sender: privileges cannot be given up");
		_exit(EXIT_FAILED);
	}
	_exit(send_all(options, wake, state));
}

/* --- in the recorder --- */

static int start(struct agent_sender *sender, const struct agent_sender_options *options)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	sender->pid = fork();
	if (!sender->pid) {
		close(ends[1]);
		run(options, ends[0], sender->state);
	}
	close(ends[0]);
	if (sender->pid > 0) {
		sender->wake = ends[1];
		return fcntl(ends[1], F_SETFL, O_NONBLOCK) ? -errno : 0;
	}
	close(ends[1]);
	sender->pid = 0;
	return -EAGAIN;
}

int agent_sender_start(struct agent_sender *sender, const struct agent_sender_options *options)
{
	int err;

	sender->state = mmap(NULL, sizeof(*sender->state), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sender->state == MAP_FAILED)
		sender->state = NULL;
	err = sender->state ? start(sender, options) : -ENOMEM;
	if (!err)
		return EXIT_DONE;
	message("sender: %s", strerror(-err));
	return EXIT_FAILED;
}

/* A full pipe wakes it as well. */
void agent_sender_wake(const struct agent_sender *sender)
{
	ssize_t written = write(sender->wake, "", 1);

	(void)written;
}

bool agent_sender_runs(struct agent_sender *sender)
{
	if (sender->pid && waitpid(sender->pid, NULL, WNOHANG) != sender->pid)
		return true;
	sender->pid = 0;
	return false;
}

static void wait_for_end(struct agent_sender *sender)
{
	u64 until = clock_ms() + LAST_MS + 2 * GRACE_MS;

	while (agent_sender_runs(sender) && clock_ms() < until)
		poll(NULL, 0, TRY_MS / 10);
	if (!sender->pid)
		return;
	kill(sender->pid, SIGKILL);
	waitpid(sender->pid, NULL, 0);
	sender->pid = 0;
}

void agent_sender_end(struct agent_sender *sender)
{
	if (!sender->pid)
		return;
	close(sender->wake);
	wait_for_end(sender);
}

void agent_sender_clear(struct agent_sender *sender)
{
	agent_sender_end(sender);
	if (sender->state)
		munmap(sender->state, sizeof(*sender->state));
	sender->state = NULL;
}
