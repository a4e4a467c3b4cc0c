/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording is of: its events, CPUs and processes, as the options of `record` name them. */
#ifndef CLI_RECORD_TARGET_H
#define CLI_RECORD_TARGET_H

#include "capture/source.h"
#include "config.h"
#include "option.h"
#include "pid_list.h"

struct record_values {
	const char *output, *comm, *cgroup, *cpus, *user_unwind, *rotate;
	struct string_list events, pids;
	u64 frequency, bits, pool, ring, flight, max_depth, keep;
	bool all, no_dedup, no_kernel, no_user, user_at_syscall, quiet;
};

#define RECORD_FREQUENCY_UNSET UINT64_MAX

struct record_target {
	struct source_list sources;
	bool user_stacks;
	enum user_unwind user_unwind;
	u64 cpu_mask[CONFIG_CPUS_MAX / 64];
	struct pid_list pids;
	int *pidfds; /* of `pids` */
};

/* Exit status; what is wrong was said. `has_command`: the command line names one.
 * record_target_clear() in any case. */
int record_target_choose(const struct record_values *values, bool has_command,
			 struct record_target *target);
void record_target_clear(struct record_target *target);

/* Whether all processes of -p have ended; false without -p. */
bool record_target_ended(const struct record_target *target);

#endif
