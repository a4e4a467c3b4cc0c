/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signalfd() for the main loop. A blocked signal is queued even if it is ignored. A hang-up that
 * must stay ignored (nohup) is therefore not blocked.
 *
 * While a recording begins, the kernel verifies BPF programs for most of the time. A signal
 * interrupts the verification, but libbpf retries five times. A timer therefore repeats the signal
 * until the command gives up.
 */
#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "interrupt.h"

#define INSIST_MS 10

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t came, begins;
static pid_t process;

static bool is_signal_ignored(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

bool signal_asks_to_end(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

/* If a forked child inherits this handler, the handler does nothing in the child. */
static void on_first_signal(int signal)
{
	int error = errno;

	if (getpid() != process)
		return;
	came = signal;
	interrupt_request_immediate_end();
	if (begins) {
		const struct timeval period = {.tv_usec = INSIST_MS * 1000};
		const struct itimerval timer = {.it_interval = period, .it_value = period};

		setitimer(ITIMER_REAL, &timer, NULL);
	}
	errno = error;
}

static void ignore_timer_signal(int signal)
{
	(void)signal;
}

/* Installs the handlers. Ignored signals stay ignored, also for the recorded command. */
static void install_handlers(void)
{
	const struct sigaction action = {.sa_handler = on_first_signal, .sa_flags = SA_RESETHAND};

	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (!is_signal_ignored(ending[i]))
			sigaction(ending[i], &action, NULL);
}

static sigset_t ending_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!is_signal_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	return set;
}

int signals_install_and_open_fd(void)
{
	const struct sigaction nothing = {.sa_handler = ignore_timer_signal};
	sigset_t watched = ending_signals(), other;
	int fd;
	sigset_t set;

	process = getpid();
	begins = true;
	sigaction(SIGALRM, &nothing, NULL);
	install_handlers();
	/* These signals stay blocked, so that a write fails with an error that can be reported. */
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&other);
	sigaddset(&other, SIGUSR2);
	sigaddset(&other, SIGCHLD);
	sigprocmask(SIG_BLOCK, &other, NULL);
	sigorset(&watched, &watched, &other);
	fd = signalfd(-1, &watched, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool signals_block_until_read(void)
{
	const sigset_t set = ending_signals();

	sigprocmask(SIG_BLOCK, &set, NULL);
	begins = begins && came;
	return !begins;
}

/*
 * An ignored signal is lost while it is not blocked. Ignored signals therefore stay blocked, and
 * signals_wait() returns them.
 */
void signals_unblock_for_finish(void)
{
	sigset_t set = ending_signals();

	begins = false;
	install_handlers();
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (is_signal_ignored(ending[i]))
			sigdelset(&set, ending[i]);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int signals_wait(int signals, int wake, int ms)
{
	struct pollfd ready[] = {{.fd = signals, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
	struct signalfd_siginfo info;

	if (poll(ready, 2, ms) <= 0 || !ready[0].revents)
		return 0;
	return read(signals, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

void signals_exit_as_interrupted(void)
{
	const sigset_t set = ending_signals();

	if (!begins || !came)
		return;
	signal(came, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(came);
}
