/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An event that reads a counter, and the parts of a switch. No program sees the kernel's switches,
 * so all of them are unseen ones. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "event/thread_count.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

u64 value;

SEC("raw_tp")
int event(void *ctx)
{
	value = count_since_last_event_of_thread(0, 0);
	return 0;
}

/* The program at a switch, as if the current task gave its CPU to itself. */
SEC("raw_tp")
int change(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	hand_over_counters_at_switch(task, task, false, bpf_get_smp_processor_id());
	return 0;
}

/* The begin of a switch: the kernel has counted it, and `change` has not run yet. */
SEC("raw_tp")
int count_only(void *ctx)
{
	u32 zero = 0;
	struct cpu_count *own = bpf_map_lookup_elem(&cpu_counts, &zero);

	if (own)
		own->switches--;
	return 0;
}
