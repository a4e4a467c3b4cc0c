/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "user_way.h"

#include "terminal/message.h"

static const struct {
	const char *name, *meaning;
} ways[] = {
	[USER_WAY_NONE] = {"none", "not taken"},
	[USER_WAY_FP] = {"fp", "by frame pointers"},
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
	const char *why = capture_user_refusal(capture);

	if (why)
		message("user stacks are taken %s; a better way was tried: %s",
			user_way_meaning(user_way_of(capture_loaded(capture))), why);
}
