/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * If there is a deadline, poll() waits. Otherwise the socket is in blocking mode, so that a
 * confined process needs only recvmsg() and sendmsg().
 */
#include "message.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "interrupt.h"

union files_header {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(MESSAGE_FILES_MAX * sizeof(int))];
};

/* Handles a call on the socket that has failed. If the socket is not ready and there is a deadline,
 * this function waits until the socket is ready or the deadline has passed. 0: the caller repeats
 * the call; -ETIMEDOUT; -EINTR: a signal asked to stop; -EPIPE: the peer is gone; or another
 * -errno. */
static int wait_or_return_socket_error(int socket, short events, u64 deadline)
{
	struct pollfd wanted = {.fd = socket, .events = events};
	u64 time;

	if (errno == EINTR)
		return 0;
	if (errno != EAGAIN || !deadline)
		return errno == ECONNRESET ? -EPIPE : -errno;
	time = clock_ns(CLOCK_MONOTONIC);
	if (interrupted())
		return -EINTR;
	if (time >= deadline)
		return -ETIMEDOUT;
	return poll(&wanted, 1, (deadline - time) / 1000000 + 1) < 0 && errno != EINTR ? -errno : 0;
}

int message_send_files(int socket, const void *data, size_t bytes, const int *fds, u32 count,
		       u64 deadline)
{
	struct iovec part = {.iov_base = (void *)data, .iov_len = bytes};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	int flags = MSG_NOSIGNAL | (deadline ? MSG_DONTWAIT : 0), result = 0;
	union files_header files;

	if (count > MESSAGE_FILES_MAX)
		return -EINVAL;
	if (count) {
		memset(&files, 0, sizeof(files));
		message.msg_control = &files;
		message.msg_controllen = CMSG_SPACE(count * sizeof(*fds));
		files.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(count * sizeof(*fds)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&files.header), fds, count * sizeof(*fds));
	}
	while (part.iov_len && !result) {
		ssize_t sent = sendmsg(socket, &message, flags);

		if (sent < 0) {
			result = wait_or_return_socket_error(socket, POLLOUT, deadline);
			continue;
		}
		part.iov_base = (char *)part.iov_base + sent;
		part.iov_len -= sent;
		message.msg_control = NULL;
		message.msg_controllen = 0;
	}
	return result;
}

int message_send(int socket, const void *data, size_t bytes, u64 deadline)
{
	return message_send_files(socket, data, bytes, NULL, 0, deadline);
}

static int receive_message(int socket, void *data, size_t bytes, int *fds, u64 deadline)
{
	struct iovec part = {.iov_base = data, .iov_len = bytes};
	int flags = MSG_CMSG_CLOEXEC | (deadline ? MSG_DONTWAIT : 0), result = 0;
	union files_header files;

	while (part.iov_len && !result) {
		struct msghdr message = {
			.msg_iov = &part,
			.msg_iovlen = 1,
			.msg_control = fds ? &files : NULL,
			.msg_controllen = fds ? sizeof(files) : 0,
		};
		ssize_t got = recvmsg(socket, &message, flags);

		if (got < 0) {
			result = wait_or_return_socket_error(socket, POLLIN, deadline);
			continue;
		}
		if (!got)
			return -EPIPE;
		if (fds) {
			const struct cmsghdr *header = CMSG_FIRSTHDR(&message);

			if (header && header->cmsg_level == SOL_SOCKET &&
			    header->cmsg_type == SCM_RIGHTS)
				memcpy(fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
		}
		fds = NULL;
		part.iov_base = (char *)part.iov_base + got;
		part.iov_len -= got;
	}
	return result;
}

int message_receive_files(int socket, void *data, size_t bytes, int *fds, u64 deadline)
{
	for (u32 i = 0; i < MESSAGE_FILES_MAX; i++)
		fds[i] = -1;
	return receive_message(socket, data, bytes, fds, deadline);
}

void message_close_files(const int *fds)
{
	for (u32 i = 0; i < MESSAGE_FILES_MAX; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int message_receive(int socket, void *data, size_t bytes, u64 deadline)
{
	return receive_message(socket, data, bytes, NULL, deadline);
}
