/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file descriptors that keep programs attached: BPF links and perf events. Closing a descriptor
 * detaches its program. The functions add descriptors to the list and return 0 or -errno; on
 * failure the list may have new descriptors, too, and the caller clears the list.
 *
 * Kernel interfaces that libbpf 1.1 does not have are called directly by bpf(2).
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

/* Adds a pair: a perf event on one CPU (cpu >= 0) or of one task, and the link of its program.
 * `cookie` 0: no cookie. */
int link_perf_event(struct link_list *links, struct perf_event_attr *attr, pid_t pid, int cpu,
		    int program_fd, u64 cookie);

/* Replaces the pair that link_perf_event() added at `index` by a new event on one CPU. */
int link_reopen_perf_event(struct link_list *links, u32 index, struct perf_event_attr *attr,
			   int cpu, int program_fd);

/* Enables the perf event of the pair at `index`. */
int link_enable_perf_event(const struct link_list *links, u32 index);

/* Sets the sampling period of the perf event at `index`, or its frequency if the event was opened
 * with a frequency. */
int link_set_period(const struct link_list *links, u32 index, u64 period);

/* Stops the perf event of the pair at `index` and reads its count, which includes the counts of
 * tasks that inherited the event. */
int link_read_final_count(const struct link_list *links, u32 index, u64 *count);

/* Attaches to a raw tracepoint. `with_cookie` needs Linux 6.10. */
int link_raw_tracepoint(struct link_list *links, const char *name, int program_fd, bool with_cookie,
			u64 cookie);

/* Functions in one file; each array has `count` elements. */
struct link_places {
	const char *path;
	u64 *offsets;
	u64 *semaphores; /* file offsets of USDT semaphores; 0: the function has none */
	u64 *cookies;
	u32 count;
};

/* Attaches to many functions of one file; since Linux 6.6. */
int link_user_functions(struct link_list *links, const struct link_places *places, bool on_return,
			int program_fd);

/* Attaches to many functions of the kernel; since Linux 5.18. */
int link_kernel_functions(struct link_list *links, const char **names, const u64 *cookies,
			  u32 count, bool on_return, int program_fd);

/* Adds an iterator over all tasks, and returns its descriptor or -errno. Reading the descriptor
 * runs the program for each task. */
int link_task_iterator(struct link_list *links, int program_fd);

/* Attaches fentry, fexit, or a typed tracepoint: the target is part of the program. */
int link_typed_program(struct link_list *links, int program_fd);

#endif
