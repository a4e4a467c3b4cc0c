/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The child makes itself harmless, and says that it has or why not, before anything is sent to it.
 *
 * Without CAP_KILL we may not end a process of user nobody: one that was given up on finds its
 * socket closed, or comes to the end of its CPU time, or goes with us. It is not waited for.
 */
#include "sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "confine.h"
#include "message.h"

struct sandbox {
	sandbox_service service;
	u32 limit_ms;
	pid_t pid;
	int socket; /* -1: none runs */
	u32 starts;
	u64 deadline; /* of the request; CLOCK_MONOTONIC ns */
};

static void begin_limit(struct sandbox *sandbox)
{
	sandbox->deadline = clock_ns(CLOCK_MONOTONIC) + sandbox->limit_ms * NS_PER_MS;
}

static void serve(sandbox_service service, int socket, pid_t parent)
{
	int result = confine(socket, parent);

	if (!message_send(socket, &result, sizeof(result), MESSAGE_NO_DEADLINE) && !result)
		service(socket);
	_exit(0);
}

static int fork_child(struct sandbox *sandbox)
{
	pid_t parent = getpid();
	int ends[2], result = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	sandbox->pid = fork();
	if (!sandbox->pid)
		serve(sandbox->service, ends[1], parent);
	if (sandbox->pid < 0)
		result = -errno;
	close(ends[1]);
	if (result)
		close(ends[0]);
	else
		sandbox->socket = ends[0];
	return result;
}

static void give_up(struct sandbox *sandbox)
{
	if (sandbox->socket < 0)
		return;
	close(sandbox->socket);
	waitpid(sandbox->pid, NULL, kill(sandbox->pid, SIGKILL) ? WNOHANG : 0);
	sandbox->socket = -1;
	sandbox->pid = 0;
}

/* After a call that failed in the middle nobody knows what the next bytes would be. */
static int keep_or_give_up(struct sandbox *sandbox, int result)
{
	if (result)
		give_up(sandbox);
	return result;
}

static int start(struct sandbox *sandbox)
{
	int result, confined;

	if (sandbox->starts == SANDBOX_STARTS_MAX)
		return -EPIPE;
	sandbox->starts++;
	result = fork_child(sandbox);
	if (result)
		return result;
	begin_limit(sandbox);
	result = sandbox_receive(sandbox, &confined, sizeof(confined));
	return result ?: keep_or_give_up(sandbox, confined);
}

int sandbox_start(sandbox_service service, u32 limit_ms, struct sandbox **out)
{
	struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
	int result;

	if (!sandbox)
		return -ENOMEM;
	*sandbox = (struct sandbox){.service = service, .limit_ms = limit_ms, .socket = -1};
	result = start(sandbox);
	if (result)
		sandbox_end(&sandbox);
	else
		*out = sandbox;
	return result;
}

void sandbox_end(struct sandbox **sandbox)
{
	if (!*sandbox)
		return;
	give_up(*sandbox);
	free(*sandbox);
	*sandbox = NULL;
}

pid_t sandbox_pid(const struct sandbox *sandbox)
{
	return sandbox->pid;
}

/* A child that died since the last request, of which it knows nothing, is replaced at once. */
static int send_request(struct sandbox *sandbox, const void *data, size_t bytes, const int *fds,
			u32 count)
{
	int result = sandbox->socket < 0 ? start(sandbox) : 0;

	if (result)
		return result;
	begin_limit(sandbox);
	return keep_or_give_up(sandbox, message_send_files(sandbox->socket, data, bytes, fds, count,
							   sandbox->deadline));
}

int sandbox_request(struct sandbox *sandbox, const void *data, size_t bytes, const int *fds,
		    u32 count)
{
	int result = send_request(sandbox, data, bytes, fds, count);

	return result == -EPIPE ? send_request(sandbox, data, bytes, fds, count) : result;
}

int sandbox_send(struct sandbox *sandbox, const void *data, size_t bytes)
{
	if (sandbox->socket < 0)
		return -EPIPE;
	return keep_or_give_up(sandbox,
			       message_send(sandbox->socket, data, bytes, sandbox->deadline));
}

int sandbox_receive(struct sandbox *sandbox, void *data, size_t bytes)
{
	if (sandbox->socket < 0)
		return -EPIPE;
	return keep_or_give_up(sandbox,
			       message_receive(sandbox->socket, data, bytes, sandbox->deadline));
}

void sandbox_distrust(struct sandbox *sandbox)
{
	give_up(sandbox);
}
