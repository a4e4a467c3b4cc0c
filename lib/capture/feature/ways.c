/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/feature/ways.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/feature/bpf_attr.h"
#include "capture/feature/feature.h"
#include "capture/feature/feature_attempt.h"

#define KERNEL_FUNCTIONS_FEW 4 /* with a program of its own each a start takes longer */

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

/* Asks for functions of a folder. A kernel that knows the way says EBADF; to attach and detach a
 * real one takes it 40 ms, as it waits for all CPUs. */
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

/* A program of fentry is cheaper for an event, but a task that is preempted in it makes the kernel
 * skip it for all others of that CPU. The other ways forbid preemption; before 6.7 the kernel does
 * not count what it skips there. */
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
