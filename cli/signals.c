/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* signalfd(). A blocked signal is queued even if it is ignored, so one that must stay ignored
 * (nohup) is left out. */
#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static bool is_ignored(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

/* Blocked for good, so that a write fails with an error that can be told and accounted for. */
static void block_write_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int signals_take(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGCHLD);
	if (!is_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	block_write_signals();
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int signals_wait(int signals, int ms)
{
	struct pollfd ready = {.fd = signals, .events = POLLIN};
	struct signalfd_siginfo info;

	if (poll(&ready, 1, ms) <= 0)
		return 0;
	return read(signals, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

bool signal_asks_to_end(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}
