/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Windows go over a socket, as descriptors. What was handed over is still sent when the recorder
 * has ended, or was killed. */
#include "agent/agent_pusher.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "terminal/message.h"

#define BEHIND_MOST 4	 /* windows, all in memory */
#define TIMEOUT_MS 30000 /* of a request */
#define LAST_MS 10000	 /* for what is sent at the end */

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

static int run(const void *arg, int socket, void *state)
{
	const struct agent_pusher_options *options = arg;
	const struct export_options export = {.identity = *options->identity};
	struct push_access access = *options->access;
	struct stackmap_error error;
	struct push *push;

	access.timeout_ms = TIMEOUT_MS;
	if (push_open(options->url, &access, &push, &error)) {
		message_error(&error);
		return EXIT_FAILED;
	}
	push_all(push, socket, &export, state);
	push_close(&push);
	return EXIT_DONE;
}

/* --- in the recorder --- */

static int connect_ends(int ends[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ? -errno : 0;
}

int agent_pusher_start(struct agent_child *child, const struct agent_pusher_options *options)
{
	static const struct agent_child_kind kind = {
		.what = "pusher",
		.comm = "stackmap-push",
		.state_bytes = sizeof(struct agent_pusher_state),
		.last_ms = LAST_MS,
		.connect = connect_ends,
		.run = run,
	};

	return agent_child_start(child, &kind, options);
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

static bool is_behind(const struct agent_pusher *pusher, const struct agent_child *child)
{
	const struct agent_pusher_state *state = child->state;
	u32 taken = __atomic_load_n(&state->taken, __ATOMIC_ACQUIRE);

	return pusher->handed - taken >= BEHIND_MOST;
}

/* Said once, until it goes again. */
void agent_pusher_take(struct agent_pusher *pusher, const struct agent_child *child, int fd)
{
	bool lost = is_behind(pusher, child) || hand_over(child->end, fd);

	close(fd);
	pusher->handed += !lost;
	pusher->dropped += lost;
	if (lost && !pusher->is_behind)
		message("agent: the receiver is too slow: windows are lost");
	pusher->is_behind = lost;
}
