/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* waitpid() has no time limit, poll() on a process has one. */
#include "end_process.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void wait_for_end(pid_t child, int wait_ms)
{
	struct pollfd end = {.fd = -1, .events = POLLIN};

	if (wait_ms)
		end.fd = syscall(SYS_pidfd_open, child, 0);
	if (end.fd < 0)
		return;
	poll(&end, 1, wait_ms);
	close(end.fd);
}

void end_process(pid_t child, int wait_ms)
{
	if (!kill(child, SIGKILL))
		wait_for_end(child, wait_ms);
	waitpid(child, NULL, WNOHANG);
}
