/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "file_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"

int file_worker_start(file_worker_service service, struct file_worker *out)
{
	pid_t parent = getpid(), child = -1;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	if (!fcntl(ends[0], F_SETFL, O_NONBLOCK))
		child = fork();
	if (!child) {
		if (!confine_file_worker_process(ends[1], parent))
			service(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (child < 0) {
		int result = -errno;

		close(ends[0]);
		return result;
	}
	*out = (struct file_worker){.pid = child, .socket = ends[0]};
	return 0;
}

/* Waits at most `wait_ms` for the exit of a child. poll() on a pidfd has a time limit, unlike
 * waitpid(). The child stays a zombie. */
static void wait_for_child_exit(pid_t child, int wait_ms)
{
	struct pollfd end = {.fd = -1, .events = POLLIN};

	if (wait_ms)
		end.fd = syscall(SYS_pidfd_open, child, 0);
	if (end.fd < 0)
		return;
	poll(&end, 1, wait_ms);
	close(end.fd);
}

void file_worker_end(struct file_worker *worker, int wait_ms)
{
	if (!worker->pid)
		return;
	close(worker->socket);
	wait_for_child_exit(worker->pid, wait_ms);
	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, NULL, WNOHANG);
	*worker = (struct file_worker){.socket = -1};
}
