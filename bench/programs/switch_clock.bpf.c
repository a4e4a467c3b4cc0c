/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both clocks at each switch. `exec_start` of a thread is the clock of the run queue at the switch
 * by which it comes or goes (update_curr() and set_next_entity() of the fair class).
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "switch_clock.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sched_entity {
	u64 exec_start;
};

struct task_struct {
	int pid;
	struct sched_entity se;
};

#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_HASH); /* key: thread */
	__uint(max_entries, 1 << 16);
	__type(key, u32);
	__type(value, struct switch_clock);
} threads SEC(".maps");

/* NULL for the idle task. */
static struct switch_clock *clock_of(u32 tid)
{
	static const struct switch_clock none = {};

	if (!tid)
		return NULL;
	bpf_map_update_elem(&threads, &tid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&threads, &tid);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, _Bool preempted, struct task_struct *prev, struct task_struct *next)
{
	u64 now = bpf_ktime_get_ns();
	struct switch_clock *thread = clock_of(prev->pid);

	if (thread && thread->began_read) {
		thread->by_kernel += prev->se.exec_start - thread->began_kernel;
		thread->by_read += now - thread->began_read;
		thread->turns++;
		thread->began_read = 0;
	}
	thread = clock_of(next->pid);
	if (thread) {
		thread->began_kernel = next->se.exec_start;
		thread->began_read = now;
	}
	return 0;
}
