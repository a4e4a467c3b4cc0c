/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What holds a program to its source: file descriptors of BPF links and perf events. Closing one
 * detaches it. The functions add to the list and return 0 or -errno; on failure the list holds what
 * was there before and what was attached on the way: the caller clears it.
 *
 * Some kernel interfaces used here are younger than libbpf 1.1: their bpf() calls are made
 * directly.
 */
#ifndef LIB_CAPTURE_LINK_H
#define LIB_CAPTURE_LINK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "scalar.h"

struct link_list {
	int *fds;
	u32 count, room;
};

void link_list_clear(struct link_list *links);

/* A perf event on one CPU (cpu >= 0) or one task, with its program. `cookie` 0: none. */
int link_perf_event(struct link_list *links, struct perf_event_attr *attr, pid_t pid, int cpu,
		    int program_fd, u64 cookie);

/* Another perf event, on one CPU, in place of the pair that link_perf_event() added at `index`. */
int link_perf_event_again(struct link_list *links, u32 index, struct perf_event_attr *attr, int cpu,
			  int program_fd);

/* Enables the perf event of the pair at `index`. */
int link_perf_enable(const struct link_list *links, u32 index);

/* Its period from now on, or its frequency, whichever it was opened with. */
int link_perf_period(const struct link_list *links, u32 index, u64 period);

/* Stops the event of the pair that link_perf_event() added at `index`, and reads its count (of all
 * tasks it was inherited by). */
int link_perf_count(const struct link_list *links, u32 index, u64 *count);

/* with_cookie: since 6.10. */
int link_raw_tracepoint(struct link_list *links, const char *name, int program_fd, bool with_cookie,
			u64 cookie);

/* Many functions of one file; since 6.6. */
int link_user_functions(struct link_list *links, const char *path, const u64 *offsets,
			const u64 *cookies, u32 count, bool on_return, int program_fd);

/* Many functions of the kernel; since 5.18. */
int link_kernel_functions(struct link_list *links, const char **names, const u64 *cookies,
			  u32 count, bool on_return, int program_fd);

/* A program for each task of the machine: a descriptor, or -errno. It runs when that is read. */
int link_tasks(struct link_list *links, int program_fd);

/* fentry, fexit, or a tracepoint by its types: the target is part of the program. */
int link_typed(struct link_list *links, int program_fd);

#endif
