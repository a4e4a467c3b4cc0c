/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/agent_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "privilege/capability.h"
#include "terminal/message.h"

#define TRY_MS 20

/* Those who end the recorder by its terminal or its service mean it, which tells us. */
static void leave_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

__attribute__((noreturn)) static void run(const struct agent_child *child, const void *options,
					  int end)
{
	prctl(PR_SET_NAME, child->kind->comm);
	leave_signals();
	if (capability_keep(0)) {
		message("%s: privileges cannot be given up", child->kind->what);
		_exit(EXIT_FAILED);
	}
	_exit(child->kind->run(options, end, child->state));
}

static int start(struct agent_child *child, const void *options)
{
	int ends[2], err = child->kind->connect(ends);

	if (err)
		return err;
	child->pid = fork();
	if (!child->pid) {
		close(ends[1]);
		run(child, options, ends[0]);
	}
	close(ends[0]);
	child->end = ends[1];
	if (child->pid > 0)
		return 0;
	close(ends[1]);
	child->pid = 0;
	return -EAGAIN;
}

int agent_child_start(struct agent_child *child, const struct agent_child_kind *kind,
		      const void *options)
{
	int err;

	child->kind = kind;
	child->state = mmap(NULL, kind->state_bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child->state == MAP_FAILED)
		child->state = NULL;
	err = child->state ? start(child, options) : -ENOMEM;
	if (!err)
		return EXIT_DONE;
	message("%s: %s", kind->what, strerror(-err));
	return EXIT_FAILED;
}

bool agent_child_runs(struct agent_child *child)
{
	if (child->pid && waitpid(child->pid, NULL, WNOHANG) != child->pid)
		return true;
	child->pid = 0;
	return false;
}

void agent_child_end(struct agent_child *child)
{
	u64 until;

	if (!child->pid)
		return;
	until = clock_ms() + child->kind->last_ms;
	close(child->end);
	while (agent_child_runs(child) && clock_ms() < until)
		poll(NULL, 0, TRY_MS);
	if (!child->pid)
		return;
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
	child->pid = 0;
}

void agent_child_clear(struct agent_child *child)
{
	agent_child_end(child);
	if (child->state)
		munmap(child->state, child->kind->state_bytes);
	child->state = NULL;
}
