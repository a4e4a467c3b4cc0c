/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs without statements at the places of bench/filter_cost, one for each way of being called.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("raw_tp/sys_enter")
int raw_tracepoint(void *ctx)
{
	return 0;
}

SEC("tp/kmem/kmem_cache_alloc")
int record(void *ctx)
{
	return 0;
}

SEC("uprobe")
int user_function(void *ctx)
{
	return 0;
}

SEC("fentry/vfs_read")
int kernel_entry(void *ctx)
{
	return 0;
}
