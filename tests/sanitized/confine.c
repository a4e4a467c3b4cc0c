/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sandbox of the commands in builds with sanitizers: an ordinary child process.
 * AddressSanitizer maps terabytes of address space and writes its report to a file, which the
 * sandbox of the product refuses. tests/unit/privilege tests the real sandbox; the sanitized build
 * tests the parsers inside. This file is not part of the product.
 */
#include "privilege/confine.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static int end_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

int confine(int socket, int lifeline, u64 memory, pid_t parent)
{
	(void)socket;
	(void)lifeline;
	(void)memory;
	return end_with(parent);
}

int confine_file_worker_process(int socket, pid_t parent)
{
	(void)socket;
	return end_with(parent);
}
