/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One function for each feature: it does with an empty BPF program what a recording would do, and
 * undoes it. Returns 0 or -errno; *step is the name of the last step.
 */
#ifndef LIB_CAPTURE_FEATURE_ATTEMPT_H
#define LIB_CAPTURE_FEATURE_ATTEMPT_H

#include <linux/bpf.h>

#include "scalar.h"

int attempt_bpf(const char **step);
int attempt_btf(const char **step);
int attempt_perf_event(const char **step);
int attempt_pmu(const char **step);
int attempt_tracepoint(const char **step);
int attempt_tracepoint_cookie(const char **step);
int attempt_typed_tracepoint(const char **step);
int attempt_tracefs(const char **step);
int attempt_uprobe(const char **step);
int attempt_uprobe_multi(const char **step);
int attempt_fentry(const char **step);
int attempt_kprobe(const char **step);
int attempt_kprobe_multi(const char **step);
int attempt_task_work(const char **step);
int attempt_map_iterator(const char **step);
int attempt_symbol_iterator(const char **step);
int attempt_task_iterator(const char **step);
int attempt_kallsyms(const char **step);
int attempt_ftrace_stack_ids(const char **step);

/* Loads an empty program. Returns its file descriptor, or -errno. `attach_type` and `btf_id` are 0
 * for program types that do not need them. */
int empty_program_load(enum bpf_prog_type type, u32 attach_type, u32 btf_id);

/* Closes a descriptor and returns 0; a negative `fd` is returned as it is. */
int close_fd_or_pass_error(int fd);

#endif
