/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinding a task takes three steps: peek (copy the registers and the stack memory), unwind the
 * copy, and check that the cookie is still open; at the end of an instance the check also closes
 * the cookie. A running task soon leaves the kernel, and its callback delivers the stack; or the
 * task is blocked again first, so it is peeked again after RETRY_MS. While the instance goes on,
 * each task is peeked once.
 */
#include "capture/file/unwind_blocked.h"

#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/drain/open_cookies.h"
#include "capture/load/skeleton.h"
#include "clock.h"
#include "interrupt.h"
#include "raw_stack.h"

#define RETRY_MS 10
#define ROUNDS_MAX 100
/* Tries for a task whose answer was replaced by the answer to another reader. */
#define PEEKS_MAX 8

/* Runs the BPF program `unwind_blocked` once. The kernel writes the changed request back. */
static int run_unwind_program(const struct loaded *loaded, struct unwind_blocked_request *request,
			      enum unwind_blocked_operation operation)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = request, .ctx_size_in = sizeof(*request));
	int result;

	request->operation = operation;
	request->result = -EINVAL;
	result = bpf_prog_test_run_opts(loaded->unwind_blocked_program, &options);
	return result ?: request->result;
}

/* Reads the answer to a request twice: if the second copy has the request's sequence, no program
 * has written the answer while the first copy was made. -EAGAIN: the answer to another reader's
 * request has replaced this answer. */
static int read_unwind_blocked_answer(const struct loaded *loaded,
				      const struct unwind_blocked_request *request,
				      struct unwind_blocked_answer *answer)
{
	int map = bpf_map__fd(loaded_programs(loaded)->maps.blocked_answer);
	struct unwind_blocked_answer later;
	u32 key = 0;

	if (bpf_map_lookup_elem(map, &key, answer) || bpf_map_lookup_elem(map, &key, &later))
		return -errno;
	return later.sequence == request->answer ? 0 : -EAGAIN;
}

/* Unwinds one task. `proof`: the operation that checks that the stack is that of the event. 0: the
 * stack was joined to its event. */
static int unwind_blocked_task(struct recording *recording, const struct open_cookie *open,
			       enum unwind_blocked_operation proof)
{
	struct unwind_blocked_request request = {.tid = open->tid, .cookie = open->cookie};
	struct unwind_blocked_answer answer;
	struct deferred_stack *stack;
	int result = run_unwind_program(recording->loaded, &request, UNWIND_BLOCKED_PEEK);

	result = result ?: read_unwind_blocked_answer(recording->loaded, &request, &answer);
	result = result
			 ?: deferred_unwind_raw_stack(recording, (const void *)answer.raw,
						      proof == UNWIND_BLOCKED_CHECK, &stack);
	if (result)
		return result;
	result = run_unwind_program(recording->loaded, &request, proof);
	if (!result)
		return join_deferred_stack_with_events(recording, stack);
	deferred_stack_free(&stack);
	return result;
}

/* Tries each task with an open cookie once. Returns the number of tasks whose stack is still
 * missing, or -errno. */
static int unwind_blocked_tasks_once(struct recording *recording)
{
	struct open_cookies list = {};
	int result = open_cookies_read(recording->loaded, &list), left = 0;

	for (u32 i = 0; i < list.count && !result && !interrupted(); i++)
		left += unwind_blocked_task(recording, &list.items[i], UNWIND_BLOCKED_TAKE) != 0;
	open_cookies_clear(&list);
	return result ?: left;
}

int unwind_blocked_at_end(struct recording *recording)
{
	int left;

	for (int round = 0; round < ROUNDS_MAX && !interrupted(); round++) {
		left = unwind_blocked_tasks_once(recording);
		if (left <= 0)
			return left;
		sleep_until_timeout_or_signal(RETRY_MS);
	}
	return 0;
}

int unwind_blocked_peek(struct recording *recording, const struct open_cookies *list, u32 *next,
			u32 ms)
{
	struct deferred_stacks *stacks = recording->deferred->stacks;
	u64 end = clock_ms() + ms;

	if (recording->loaded->unwind_blocked_program < 0 || interrupted())
		*next = list->count;
	while (*next < list->count) {
		const struct open_cookie *open = &list->items[(*next)++];
		/* A snapshot takes stacks before events, so it needs all stacks that it does not
		 * have yet.
		 */
		bool is_needed =
			recording->mode == READ_DRAIN
				? deferred_stacks_is_awaited(stacks, open->tid, open->cookie)
				: !deferred_stacks_find(stacks, open->tid, open->cookie);
		int result = is_needed ? -EAGAIN : 0;

		/* The map of the answer may have the answer to another reader of the instance for a
		 * moment. */
		for (int i = 0; i < PEEKS_MAX && (result == -EAGAIN || result == -ENOSPC); i++)
			result = unwind_blocked_task(recording, open, UNWIND_BLOCKED_CHECK);
		if (result == -ENOMEM)
			return result;
		if (clock_ms() >= end || interrupted())
			break;
	}
	return 0;
}
