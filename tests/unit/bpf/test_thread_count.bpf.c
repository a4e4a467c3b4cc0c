/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An event that reads a counter. No program sees switches, so all of them are unseen ones. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "event/thread_count.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

u64 value;

SEC("raw_tp")
int event(void *ctx)
{
	value = counter_value(0, 0);
	return 0;
}
