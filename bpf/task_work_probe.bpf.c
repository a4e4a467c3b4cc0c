/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tries task work: whoever runs this program is called back before the run returns, or the kernel
 * does not do it.
 */
#include <linux/bpf.h>
#include <stddef.h>

#include "task_work.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct deferral_work);
} works SEC(".maps");

u32 called_back;

static int on_resume(struct bpf_map *map, void *key, void *value)
{
	called_back = 1;
	return 0;
}

SEC("syscall")
int ask_for_callback(void *ctx)
{
	u32 key = 0;
	u64 empty = 0;
	struct deferral_work *work;

	bpf_map_update_elem(&works, &key, &empty, BPF_ANY);
	work = bpf_map_lookup_elem(&works, &key);
	if (!work)
		return -1;
	return bpf_task_work_schedule_resume_impl((void *)bpf_get_current_task_btf(), &work->work,
						  &works, on_resume, NULL);
}
