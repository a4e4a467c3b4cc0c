/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Windows go over a socket, as descriptors. That its other end is closed means the recorder has
 * ended, or was killed: what was handed over is still sent. */
#include "agent/agent_pusher.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "privilege/capability.h"
#include "terminal/message.h"

#define BEHIND_MOST 4	 /* windows, all in memory */
#define TIMEOUT_MS 30000 /* of a request */
#define LAST_MS 10000	 /* for what is sent at the end */
#define TRY_MS 20

/* --- in the process of its own --- */

/* The next window; -1: there is none any more. */
static int receive(int socket)
{
	char byte, room[CMSG_SPACE(sizeof(int))] = "";
	struct iovec part = {&byte, 1};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = room,
				.msg_controllen = sizeof(room)};
	struct cmsghdr *control;
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	control = got > 0 ? CMSG_FIRSTHDR(&header) : NULL;
	if (!control || control->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(control), sizeof(fd));
	return fd;
}

static int push_window(struct push *push, int fd, const struct export_options *options,
		       struct stackmap_error *error)
{
	struct trace_reader *reader;
	int err = trace_reader_open_fd(fd, "window", &reader, error);

	if (err)
		return err;
	err = push_recording(push, reader, options, error);
	trace_reader_close(&reader);
	return err;
}

static void push_all(struct push *push, int socket, const struct export_options *options,
		     struct agent_pusher_state *state)
{
	struct stackmap_error error;

	for (int fd; (fd = receive(socket)) >= 0;) {
		if (push_window(push, fd, options, &error))
			message("agent: a window is lost, or in doubt: %s", error.message);
		else
			state->sent++;
		__atomic_add_fetch(&state->taken, 1, __ATOMIC_RELEASE);
	}
}

/* Those who end the recorder by its terminal or its service mean it, which tells us. */
static void leave_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

__attribute__((noreturn)) static void run(const struct agent_pusher_options *options, int socket,
					  struct agent_pusher_state *state)
{
	const struct export_options export = {.identity = *options->identity};
	struct push_access access = *options->access;
	struct stackmap_error error;
	struct push *push;

	prctl(PR_SET_NAME, "stackmap-push");
	leave_signals();
	if (capability_keep(0)) {
		message("pusher: privileges cannot be given up");
		_exit(EXIT_FAILED);
	}
	access.timeout_ms = TIMEOUT_MS;
	if (push_open(options->url, &access, &push, &error)) {
		message_error(&error);
		_exit(EXIT_FAILED);
	}
	push_all(push, socket, &export, state);
	push_close(&push);
	_exit(EXIT_DONE);
}

/* --- in the recorder --- */

static int start(struct agent_pusher *pusher, const struct agent_pusher_options *options)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pusher->pid = fork();
	if (!pusher->pid) {
		close(ends[1]);
		run(options, ends[0], pusher->state);
	}
	close(ends[0]);
	pusher->socket = ends[1];
	if (pusher->pid > 0)
		return 0;
	close(ends[1]);
	pusher->pid = 0;
	return -EAGAIN;
}

int agent_pusher_start(struct agent_pusher *pusher, const struct agent_pusher_options *options)
{
	int err;

	pusher->state = mmap(NULL, sizeof(*pusher->state), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pusher->state == MAP_FAILED)
		pusher->state = NULL;
	err = pusher->state ? start(pusher, options) : -ENOMEM;
	if (!err)
		return EXIT_DONE;
	message("pusher: %s", strerror(-err));
	return EXIT_FAILED;
}

static int hand_over(int socket, int fd)
{
	char byte = 0, room[CMSG_SPACE(sizeof(int))] = "";
	struct iovec part = {&byte, 1};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = room,
				.msg_controllen = sizeof(room)};
	struct cmsghdr *control = CMSG_FIRSTHDR(&header);

	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(control), &fd, sizeof(fd));
	return sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static bool is_behind(const struct agent_pusher *pusher)
{
	u32 taken = __atomic_load_n(&pusher->state->taken, __ATOMIC_ACQUIRE);

	return pusher->handed - taken >= BEHIND_MOST;
}

/* Said once, until it goes again. */
void agent_pusher_take(struct agent_pusher *pusher, int fd)
{
	bool lost = is_behind(pusher) || hand_over(pusher->socket, fd);

	close(fd);
	pusher->handed += !lost;
	pusher->dropped += lost;
	if (lost && !pusher->is_behind)
		message("agent: the receiver is too slow: windows are lost");
	pusher->is_behind = lost;
}

bool agent_pusher_runs(struct agent_pusher *pusher)
{
	if (pusher->pid && waitpid(pusher->pid, NULL, WNOHANG) != pusher->pid)
		return true;
	pusher->pid = 0;
	return false;
}

void agent_pusher_end(struct agent_pusher *pusher)
{
	u64 until = clock_ms() + LAST_MS;

	if (!pusher->pid)
		return;
	close(pusher->socket);
	while (agent_pusher_runs(pusher) && clock_ms() < until)
		poll(NULL, 0, TRY_MS);
	if (!pusher->pid)
		return;
	kill(pusher->pid, SIGKILL);
	waitpid(pusher->pid, NULL, 0);
	pusher->pid = 0;
}

void agent_pusher_clear(struct agent_pusher *pusher)
{
	agent_pusher_end(pusher);
	if (pusher->state)
		munmap(pusher->state, sizeof(*pusher->state));
	pusher->state = NULL;
}
