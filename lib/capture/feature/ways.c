/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/feature/ways.h"

#include "capture/feature/feature.h"

/* Up to here each kernel function has a program of its own (fentry), the cheapest per event; above,
 * one link for all, the cheapest to set up. */
#define KERNEL_FUNCTIONS_SINGLE 4

static bool feature_works(enum feature feature)
{
	struct feature_result result = {};

	feature_probe(feature, &result);
	return result.works;
}

bool way_tracepoint_cookies(void)
{
	return feature_works(FEATURE_TRACEPOINT_COOKIE);
}

bool way_user_multi(void)
{
	return feature_works(FEATURE_UPROBE_MULTI);
}

struct kernel_ways way_kernel(unsigned int functions)
{
	bool many = functions > KERNEL_FUNCTIONS_SINGLE;
	struct kernel_ways ways = {
		.multi = many && feature_works(FEATURE_KPROBE_MULTI),
		.probe = feature_works(FEATURE_KPROBE),
	};

	ways.entry = !(many && ways.probe) && feature_works(FEATURE_FENTRY);
	return ways;
}
