/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/source/source_needs.h"

#include <stdio.h>
#include <string.h>

#include "capture/feature/feature.h"
#include "error.h"

#define ALTERNATIVES 3

/* The need of a source: one of these features of the kernel is enough. */
struct need {
	enum feature any_of[ALTERNATIVES];
	u32 count;
};

/* The feature that each recording needs, to follow new and ending tasks. */
static const struct need common = {{FEATURE_TRACEPOINT}, 1};

static const struct need needs[] = {
	[SOURCE_SAMPLE] = {{FEATURE_PERF_EVENT}, 1},
	[SOURCE_PERF] = {{FEATURE_PERF_EVENT}, 1},
	[SOURCE_TRACEPOINT] = {{FEATURE_TRACEPOINT}, 1},
	[SOURCE_SYSCALL] = {{FEATURE_TRACEPOINT}, 1},
	[SOURCE_USER] = {{FEATURE_UPROBE, FEATURE_UPROBE_MULTI}, 2},
	[SOURCE_KERNEL] = {{FEATURE_FENTRY, FEATURE_KPROBE, FEATURE_KPROBE_MULTI}, 3},
	[SOURCE_OFF_CPU] = {{FEATURE_TYPED_TRACEPOINT}, 1},
	[SOURCE_WAKER] = {{FEATURE_TYPED_TRACEPOINT}, 1},
	[SOURCE_TIME] = {{FEATURE_TYPED_TRACEPOINT}, 1},
	[SOURCE_HOLDER] = {{FEATURE_TYPED_TRACEPOINT}, 1},
	[SOURCE_ORIGIN] = {{FEATURE_TRACEPOINT}, 1},
};

/* True if none of the features works; `text` gets the reason of each feature, and the advice for
 * the first. */
static bool lacks_feature_of_need(const struct need *need, char *text, size_t bytes)
{
	struct feature_result result;
	char fix[sizeof(result.fix)];
	size_t used = 0;

	for (u32 i = 0; i < need->count; i++) {
		feature_probe(need->any_of[i], &result);
		if (result.works)
			return false;
		if (!i)
			memcpy(fix, result.fix, sizeof(fix));
		used += snprintf(text + used, bytes - used, "%s%s: %s", i ? "; " : "",
				 feature_name(need->any_of[i]), result.why);
	}
	snprintf(text + used, bytes - used, "; %s", fix);
	return true;
}

int source_needs_explain(const struct source_list *sources, int code, struct stackmap_error *error)
{
	struct feature_result bpf;
	char why[(sizeof(((struct feature_result *)0)->why) + 32) * (ALTERNATIVES + 1)];

	feature_probe(FEATURE_BPF, &bpf);
	if (!bpf.works)
		return -code;
	if (lacks_feature_of_need(&common, why, sizeof(why)))
		return error_set(error, code, "%s", why);
	for (u32 kind = 0; kind < sources->count; kind++)
		if (lacks_feature_of_need(&needs[sources->sources[kind].type], why, sizeof(why)))
			return error_set(error, code, "-e %s: %s", sources->sources[kind].name,
					 why);
	return -code;
}
