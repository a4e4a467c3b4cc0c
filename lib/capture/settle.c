/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Look, unwind, take. A task that runs gets out of the kernel by itself, and its callback answers;
 * it is looked at again after a while, because it may also go to sleep first.
 */
#include "capture/settle.h"

#include <errno.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/pending.h"
#include "capture/skeleton.h"
#include "deferral.h"

#define ROUND_MS 10
#define ROUNDS_MAX 100

/* The kernel writes the context back to where it came from. */
static int run_settle(const struct capture *capture, const struct pending *pending,
		      enum settle_operation operation)
{
	struct settle_request request = {
		.tid = pending->tid,
		.cookie = pending->cookie,
		.operation = operation,
		.result = -EINVAL,
	};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &request, .ctx_size_in = sizeof(request));
	int result = bpf_prog_test_run_opts(capture->settle_program, &options);

	return result ?: request.result;
}

/* 0: nothing is left to do for it, here. */
static int settle(struct capture *capture, const struct pending *pending)
{
	struct assisted *assisted = capture->assisted;
	struct found_answer *found;
	u32 fill;
	int looked = run_settle(capture, pending, SETTLE_LOOK);
	int result = assisted_consume(assisted, &fill) ?: looked;

	found = assisted_take_alive(assisted, pending->tid, pending->cookie);
	if (result || !found) {
		found_answer_free(found);
		return result ?: -EAGAIN;
	}
	result = run_settle(capture, pending, SETTLE_TAKE);
	if (result)
		found_answer_free(found);
	else
		assisted_queue(assisted, found);
	return result;
}

/* How many are left; or -errno. */
static int settle_round(struct capture *capture)
{
	struct pending_list list = {};
	int fd = bpf_map__fd(capture_programs(capture)->maps.deferrals);
	int result = pending_list_read(fd, &list), left = 0;
	u32 i;

	for (i = 0; i < list.count && !result; i++)
		left += settle(capture, &list.items[i]) != 0;
	pending_list_clear(&list);
	return result ?: left;
}

int settle_pending(struct capture *capture)
{
	const struct timespec pause = {.tv_nsec = ROUND_MS * 1000000L};
	int round, left;

	for (round = 0; round < ROUNDS_MAX; round++) {
		left = settle_round(capture);
		if (left <= 0)
			return left;
		nanosleep(&pause, NULL);
	}
	return 0;
}
