/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tries task work: a task that schedules a callback is called back before user mode goes on, or the
 * kernel lacks the feature. The request comes from a clock's interrupt, as for samples: some
 * kernels call back from a system call only.
 */
#include <linux/bpf.h>
#include <stddef.h>

#include "kernel/task_work.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct deferral_work);
} works SEC(".maps");

u64 user_steps; /* counter that the test's loop in user mode increments */
u64 asked_at;	/* value of user_steps at the last request for a callback */
u32 asked;	/* number of requests for a callback */
s32 answer;	/* result of the last request: 0, or -errno */
/* number of callbacks that came before user mode went on (user_steps was unchanged) */
u32 called_back;

static int on_resume(struct bpf_map *map, void *key, void *value)
{
	if (user_steps == asked_at)
		called_back++;
	return 0;
}

static __always_inline s32 request_callback(void)
{
	u32 key = 0;
	u64 empty = 0;
	struct deferral_work *work;

	bpf_map_update_elem(&works, &key, &empty, BPF_NOEXIST);
	work = bpf_map_lookup_elem(&works, &key);
	return work ? task_work_schedule(&work->work, &works, on_resume) : -ENOMEM;
}

SEC("perf_event")
int ask_for_callback(void *ctx)
{
	asked_at = user_steps;
	answer = request_callback();
	asked++;
	return 0;
}
