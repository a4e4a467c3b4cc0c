/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/feature/ways.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/feature/bpf_attr.h"
#include "capture/feature/feature.h"
#include "capture/feature/feature_attempt.h"

#define KERNEL_FUNCTIONS_FEW 4 /* functions that may have a program each, which slows the start */

static bool feature_works(enum feature feature)
{
	struct feature_result result;

	feature_probe_once(feature, &result);
	return result.works;
}

bool way_tracepoint_cookies(void)
{
	return feature_works(FEATURE_TRACEPOINT_COOKIE);
}

/* Attaches to functions of a folder: a kernel with uprobe multi returns EBADF. To attach and detach
 * a real function takes 40 ms, as the kernel waits for all CPUs. */
bool way_user_multi(void)
{
	const u64 offset = 0;
	const struct uprobe_multi_attr attr = {
		.prog_fd = empty_program_load(BPF_PROG_TYPE_KPROBE, ATTACH_TYPE_UPROBE_MULTI, 0),
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t) "/",
		.offsets = (uintptr_t)&offset,
		.count = 1,
	};
	bool works = false;

	if ((int)attr.prog_fd < 0)
		return false;
	works = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)) < 0 && errno == EBADF;
	close(attr.prog_fd);
	return works;
}

/* fentry is cheaper for an event, but while a task is preempted in the program, the kernel skips
 * the program for all other tasks of that CPU. The other methods forbid preemption. Before 6.7 the
 * kernel does not count skipped runs. */
struct kernel_ways way_kernel(unsigned int functions)
{
	struct kernel_ways ways = {
		.few = functions <= KERNEL_FUNCTIONS_FEW,
		.multi = feature_works(FEATURE_KPROBE_MULTI),
		.probe = feature_works(FEATURE_KPROBE),
	};

	ways.entry = !ways.multi && (ways.few || !ways.probe) && feature_works(FEATURE_FENTRY);
	return ways;
}
