/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the features that this kernel offers to this user, by trying each feature (a probe program,
 * a map, a perf event), never by version number. `stackmap doctor` prints all features; a capture
 * tries the features that it needs.
 */
#ifndef LIB_CAPTURE_FEATURE_H
#define LIB_CAPTURE_FEATURE_H

#include <stdbool.h>

/* X(ID, "name", "what it is for") */
#define FEATURES(X)                                                                                \
	X(BPF, "bpf", "load BPF programs and maps")                                                \
	X(BTF, "kernel BTF", "find kernel structures on this kernel")                              \
	X(PERF_EVENT, "perf events", "CPU samples and perf events (-F, -e page-faults)")           \
	X(PMU, "hardware PMU", "sample by cycles instead of the clock")                            \
	X(TRACEPOINT, "raw tracepoints", "tracepoints (-e sched:sched_switch)")                    \
	X(TRACEPOINT_COOKIE, "raw tracepoint cookies", "many tracepoints through one program")     \
	X(TYPED_TRACEPOINT, "typed tracepoints", "how long tasks are blocked (--off-cpu)")         \
	X(TRACEFS, "tracefs", "names of tracepoints for globs and list")                           \
	X(UPROBE, "uprobes", "user functions (-e u:PATH:FUNC)")                                    \
	X(UPROBE_MULTI, "uprobe multi", "many user functions at once, fast to detach")             \
	X(FENTRY, "fentry", "kernel functions (-e k:FUNC), cheapest way")                          \
	X(KPROBE, "kprobes", "kernel functions (-e k:FUNC)")                                       \
	X(KPROBE_MULTI, "kprobe multi", "many kernel functions at once, by globs")                 \
	X(TASK_WORK, "BPF task work", "deferred user unwinding")                                   \
	X(MAP_ITERATOR, "map iterators", "files of an instance, which cat reads")                  \
	X(SYMBOL_ITERATOR, "symbol iterators", "the same files where map iterators are refused")   \
	X(TASK_ITERATOR, "task iterators", "waits from before the start, or beyond the end")       \
	X(KALLSYMS, "kernel addresses", "names of kernel functions")                               \
	X(FTRACE_STACK_IDS, "ftrace stack ids",                                                    \
	  "stacks by id in ftrace itself (import --ftrace); not needed to record")

#define X(id, name, meaning) FEATURE_##id,
enum feature { FEATURES(X) FEATURE_COUNT };
#undef X

struct feature_result {
	bool works;
	char why[160]; /* the kernel's error, if the feature does not work */
	char fix[160]; /* advice for the user, or "" */
};

void feature_probe(enum feature feature, struct feature_result *result);

/* Tries a feature unless it has worked since boot (boot_facts.h). A feature that failed is tried
 * again, as this process may have more privileges. */
void feature_probe_once(enum feature feature, struct feature_result *result);

const char *feature_name(enum feature feature);
const char *feature_meaning(enum feature feature);

/* The methods by which BPF programs are attached, where kernels differ. These functions try
 * features, so they take time. */

/* True if one program can serve many tracepoints, as each link passes a cookie to it. */
bool attach_has_tracepoint_cookies(void);

/* True if one link can serve many user functions. */
bool attach_has_uprobe_multi(void);

/* The methods to attach to this number of kernel functions. If there are few functions, each is
 * looked up in the kernel's BTF; a function without a BTF type gets a kprobe, as ftrace may not
 * know this function. */
struct kernel_attach_methods {
	bool few;
	bool multi; /* one link (kprobe multi) serves all functions that have a BTF type */
	bool entry; /* functions that have a BTF type get fentry programs */
	bool probe; /* each function gets a kprobe */
};

struct kernel_attach_methods attach_methods_for_kernel_functions(unsigned int functions);

#endif
