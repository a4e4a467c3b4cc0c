/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user_way.h"

#include "terminal/message.h"

static const char *const stop_names[] = {
#define X(id, name, meaning) [STOP_##id] = name,
	STOP_REASONS(X)
#undef X
};

static const struct {
	const char *name, *meaning;
} ways[] = {
	[USER_WAY_NONE] = {"none", "not taken"},
	[USER_WAY_FP] = {"fp", "by frame pointers alone"},
	[USER_WAY_DEFERRED] = {"deferred", "by unwind tables, in the kernel"},
	[USER_WAY_ASSISTED] = {"assisted", "by frame pointers and learned rules; a reader finishes "
					   "the rest"},
};

const char *user_way_name(enum user_way way)
{
	return ways[way].name;
}

const char *user_way_meaning(enum user_way way)
{
	return ways[way].meaning;
}

void user_way_tell(struct capture *capture)
{
	const struct capture_refusals *refusals = capture_refusals(capture);
	const struct plan *plan = &capture_loaded(capture)->plan;

	if (refusals->user_stacks.message[0])
		message("user stacks are taken %s; a better way was tried: %s",
			user_way_meaning(user_way_of(capture_loaded(capture))),
			refusals->user_stacks.message);
	if (refusals->task_iterators.message[0] && (plan->off_cpu || plan->times))
		message("waits that begin before the recording, or do not end in it, have no "
			"event: %s",
			refusals->task_iterators.message);
}

void user_way_tell_counts(struct capture *capture)
{
	struct walk_counts counts = loaded_walks(capture_loaded(capture));

	message("user_walked: %llu", (unsigned long long)counts.walked);
	message("user_table_frames: %llu", (unsigned long long)counts.table_frames);
	message("user_mapping_walks: %llu", (unsigned long long)counts.mapping_walks);
	message("script_loops: %llu", (unsigned long long)counts.script_loops);
	for (u32 stop = 0; stop < STOP_COUNT; stop++)
		if (STOP_IS_DEFERRAL(stop) && counts.deferred[stop])
			message("user_deferred_%s: %llu", stop_names[stop],
				(unsigned long long)counts.deferred[stop]);
}
