/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Look, unwind, take or check. At the end of an instance a task that runs gets out of the kernel by
 * itself, and its callback answers; it is looked at again after a while, because it may also go to
 * sleep first. While the instance goes on each is looked at once.
 */
#include "capture/read/settle.h"

#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/load/skeleton.h"
#include "capture/read/pending.h"
#include "clock.h"
#include "interrupt.h"
#include "settling.h"

#define ROUND_MS 10
#define ROUNDS_MAX 100

/* The kernel writes the context back to where it came from. */
static int run_settle(const struct loaded *loaded, struct settle_request *request,
		      enum settle_operation operation)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = request, .ctx_size_in = sizeof(*request));
	int result;

	request->operation = operation;
	request->result = -EINVAL;
	result = bpf_prog_test_run_opts(loaded->settle_program, &options);
	return result ?: request->result;
}

/* 0: nothing is left to do for it, here. `proof` says that what was read was its stack. */
static int settle(struct recording *recording, const struct pending *pending,
		  enum settle_operation proof)
{
	struct settle_request request = {.tid = pending->tid, .cookie = pending->cookie};
	struct deferred_stack *stack;
	int result = run_settle(recording->loaded, &request, SETTLE_LOOK);

	result = result
			 ?: deferred_unwind(recording, (const void *)request.raw,
					    proof == SETTLE_CHECK, &stack);
	if (result)
		return result;
	result = run_settle(recording->loaded, &request, proof);
	if (!result)
		return deferred_join(recording, stack);
	deferred_stack_free(&stack);
	return result;
}

/* How many are left; or -errno. */
static int settle_round(struct recording *recording)
{
	struct pending_list list = {};
	int fd = bpf_map__fd(loaded_programs(recording->loaded)->maps.deferrals);
	int result = pending_list_read(fd, &list), left = 0;
	u32 i;

	for (i = 0; i < list.count && !result && !interrupted(); i++)
		left += settle(recording, &list.items[i], SETTLE_TAKE) != 0;
	pending_list_clear(&list);
	return result ?: left;
}

int settle_pending(struct recording *recording)
{
	int round, left;

	for (round = 0; round < ROUNDS_MAX && !interrupted(); round++) {
		left = settle_round(recording);
		if (left <= 0)
			return left;
		interrupt_nap(ROUND_MS);
	}
	return 0;
}

/* A snapshot has no events yet when it is asked, so it wants all that it does not know. */
static bool is_wanted(const struct recording *recording, const struct pending *pending)
{
	if (recording->mode != READ_DRAIN)
		return !deferred_stacks_find(recording->deferred->stacks, pending->tid,
					     pending->cookie);
	return deferred_stacks_is_waited(recording->deferred->stacks, pending->tid,
					 pending->cookie);
}

int settle_look(struct recording *recording, const struct pending_list *list, u32 *next, u32 ms)
{
	u64 end = clock_ms() + ms;

	if (recording->loaded->settle_program < 0 || interrupted())
		*next = list->count;
	while (*next < list->count) {
		const struct pending *pending = &list->items[(*next)++];

		if (is_wanted(recording, pending) &&
		    settle(recording, pending, SETTLE_CHECK) == -ENOMEM)
			return -ENOMEM;
		if (clock_ms() >= end || interrupted())
			break;
	}
	return 0;
}
