/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The advice for the user depends on the errno of an attempt. After a refusal (EPERM, EACCES)
 * the advice is to get the privilege, if the user lacks it, and otherwise to allow the call in the
 * part that refuses it (seccomp of a container, an LSM, lockdown). For other errors
 * the advice is a kernel with another configuration.
 */
#include "capture/feature/feature.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/feature/boot_facts.h"
#include "capture/feature/bpf_attr.h"
#include "capture/feature/feature_attempt.h"
#include "privilege/capability.h"

#define CAPS_BPF (CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON))
#define FIX_BPF "run as root, or with CAP_BPF and CAP_PERFMON"
#define CAPS_ADMIN CAPABILITY(CAP_SYS_ADMIN)

static const struct probe {
	int (*attempt)(const char **step);
	u64 caps; /* capabilities that the feature needs; CAP_SYS_ADMIN is always enough for BPF and
		     perf */
	const char *caps_fix;
	const char *kernel_fix;
} probes[FEATURE_COUNT] = {
	[FEATURE_BPF] = {attempt_bpf, CAPS_BPF, FIX_BPF, "a kernel with CONFIG_BPF_SYSCALL"},
	[FEATURE_BTF] = {attempt_btf, 0, "make /sys/kernel/btf/vmlinux readable",
			 "a kernel with CONFIG_DEBUG_INFO_BTF, and sysfs mounted"},
	[FEATURE_PERF_EVENT] = {attempt_perf_event, CAPS_BPF, FIX_BPF,
				"a kernel with CONFIG_PERF_EVENTS and CONFIG_BPF_EVENTS"},
	[FEATURE_PMU] = {attempt_pmu, CAPS_BPF, "run as root, or with CAP_PERFMON",
			 "none needed: -F samples by the clock; a VM needs a virtual PMU for it"},
	[FEATURE_TRACEPOINT] = {attempt_tracepoint, CAPS_BPF, FIX_BPF,
				"a kernel with CONFIG_BPF_EVENTS and CONFIG_TRACEPOINTS"},
	[FEATURE_TRACEPOINT_COOKIE] = {attempt_tracepoint_cookie, CAPS_BPF, FIX_BPF,
				       "a kernel of version 6.10 or newer"},
	[FEATURE_TYPED_TRACEPOINT] = {attempt_typed_tracepoint, CAPS_BPF, FIX_BPF,
				      "a kernel with CONFIG_BPF_EVENTS and BTF"},
	[FEATURE_TRACEFS] =
		{attempt_tracefs, CAPS_ADMIN,
		 "run as root, or with CAP_DAC_READ_SEARCH; names given in full work without",
		 "a kernel with CONFIG_FTRACE; names given in full work without"},
	[FEATURE_UPROBE] =
		{attempt_uprobe, CAPS_ADMIN,
		 "run as root, or with CAP_SYS_ADMIN; not needed where uprobe multi works",
		 "a kernel with CONFIG_UPROBE_EVENTS"},
	[FEATURE_UPROBE_MULTI] = {attempt_uprobe_multi, CAPS_BPF, FIX_BPF,
				  "a kernel of version 6.6 or newer with CONFIG_UPROBES"},
	[FEATURE_FENTRY] = {attempt_fentry, CAPS_BPF, FIX_BPF,
			    "a kernel with CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS and BTF"},
	[FEATURE_KPROBE] = {attempt_kprobe, CAPS_ADMIN, "run as root, or with CAP_SYS_ADMIN",
			    "a kernel with CONFIG_KPROBE_EVENTS"},
	[FEATURE_KPROBE_MULTI] =
		{attempt_kprobe_multi, CAPS_BPF, FIX_BPF,
		 "a kernel of version 5.18 or newer, on arm64 newer than 6.12, with "
		 "CONFIG_FPROBE"},
	[FEATURE_TASK_WORK] = {attempt_task_work, CAPS_BPF, FIX_BPF,
			       "Linux 6.18 or newer; from 7.1 on without PREEMPT_RT, and on x86-64 "
			       "with a CPU that has cmpxchg16b. "
			       "User stacks are assisted without"},
	[FEATURE_MAP_ITERATOR] = {attempt_map_iterator, CAPS_BPF, FIX_BPF,
				  "none needed where symbol iterators work"},
	[FEATURE_SYMBOL_ITERATOR] = {attempt_symbol_iterator, CAPS_BPF, FIX_BPF,
				     "none needed where map iterators work"},
	[FEATURE_TASK_ITERATOR] = {attempt_task_iterator, CAPS_BPF, FIX_BPF,
				   "a kernel with CONFIG_BPF_SYSCALL and BTF"},
	[FEATURE_KALLSYMS] = {attempt_kallsyms, CAPABILITY(CAP_SYSLOG),
			      "run as root, or with CAP_SYSLOG, or sysctl kernel.kptr_restrict=0 "
			      "kernel.perf_event_paranoid=1",
			      "a kernel with CONFIG_KALLSYMS_ALL"},
	[FEATURE_FTRACE_STACK_IDS] =
		{attempt_ftrace_stack_ids, CAPS_ADMIN, "run as root, or with CAP_DAC_READ_SEARCH",
		 "a kernel with the patches of docs/internals/kernel.md, CONFIG_FTRACE_STACKMAP "
		 "and "
		 "CONFIG_FTRACE_USER_STACKMAP; 'stackmap record' works without"},
};

static const struct {
	const char *name;
	const char *meaning;
} words[] = {
#define X(id, name, meaning) {name, meaning},
	FEATURES(X)
#undef X
};

const char *feature_name(enum feature feature)
{
	return words[feature].name;
}

const char *feature_meaning(enum feature feature)
{
	return words[feature].meaning;
}

static const char *advice_for_error(const struct probe *probe, int err)
{
	u64 effective = capability_held();

	if (err != -EPERM && err != -EACCES)
		return probe->kernel_fix;
	if (!probe->caps || ((effective & probe->caps) != probe->caps &&
			     !(probe->caps == CAPS_BPF && effective & CAPS_ADMIN)))
		return probe->caps_fix;
	if (probe->attempt == attempt_kallsyms)
		return "sysctl kernel.kptr_restrict=0";
	return "the privilege is there, but a user namespace, a container's seccomp, an LSM or "
	       "lockdown refuses: allow it there";
}

void feature_probe(enum feature feature, struct feature_result *result)
{
	const struct probe *probe = &probes[feature];
	const char *step = "";
	int err = probe->attempt(&step);

	*result = (struct feature_result){.works = err == 0};
	if (!err)
		return;
	snprintf(result->why, sizeof(result->why), "%s: %s", step, strerror(-err));
	snprintf(result->fix, sizeof(result->fix), "%s", advice_for_error(probe, err));
}

void feature_probe_once(enum feature feature, struct feature_result *result)
{
	*result = (struct feature_result){.works = true};
	if (boot_fact_read(BOOT_FACTS_FOLDER, feature_name(feature)) == 1)
		return;
	feature_probe(feature, result);
	if (result->works)
		boot_fact_store(BOOT_FACTS_FOLDER, feature_name(feature), true);
}

/* Up to this many kernel functions get a program each; programs of their own for more functions
 * would make the start slow. */
#define KERNEL_FUNCTIONS_FEW 4

static bool is_feature_working(enum feature feature)
{
	struct feature_result result;

	feature_probe_once(feature, &result);
	return result.works;
}

bool attach_has_tracepoint_cookies(void)
{
	return is_feature_working(FEATURE_TRACEPOINT_COOKIE);
}

/* Tries to attach to a function in a directory: a kernel with uprobe multi returns EBADF. Attaching
 * to a real function and detaching from it would take 40 ms, as the kernel waits for all CPUs. */
bool attach_has_uprobe_multi(void)
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

/* fentry is the cheapest method for an event, but while a task is preempted in the fentry program,
 * the kernel skips the program for all other tasks of that CPU, and before 6.7 the kernel does not
 * count skipped runs. Programs of the other methods are not preempted. fentry is therefore used
 * only without kprobe multi. */
struct kernel_attach_methods attach_methods_for_kernel_functions(unsigned int functions)
{
	struct kernel_attach_methods ways = {
		.few = functions <= KERNEL_FUNCTIONS_FEW,
		.multi = is_feature_working(FEATURE_KPROBE_MULTI),
		.probe = is_feature_working(FEATURE_KPROBE),
	};

	ways.entry = !ways.multi && (ways.few || !ways.probe) && is_feature_working(FEATURE_FENTRY);
	return ways;
}
