/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "confine.h"
#include "end_process.h"

static void serve(helper_service service, int socket, pid_t parent)
{
	if (!confine_files(socket, parent))
		service(socket);
	_exit(0);
}

static bool never_wait(int socket)
{
	return !fcntl(socket, F_SETFL, O_NONBLOCK);
}

int helper_start(helper_service service, struct helper *out)
{
	pid_t parent = getpid(), child = -1;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	if (never_wait(ends[0]))
		child = fork();
	if (!child)
		serve(service, ends[1], parent);
	close(ends[1]);
	if (child < 0) {
		int result = -errno;

		close(ends[0]);
		return result;
	}
	*out = (struct helper){.pid = child, .socket = ends[0]};
	return 0;
}

void helper_end(struct helper *helper, int wait_ms)
{
	if (!helper->pid)
		return;
	close(helper->socket);
	wait_for_end(helper->pid, wait_ms);
	end_process(helper->pid, 0);
	*helper = (struct helper){.socket = -1};
}
