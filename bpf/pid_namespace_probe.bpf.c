/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells the process that runs this program which PID namespace the process is in: no file shows how
 * many namespaces are around it.
 */
#include <linux/bpf.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "config.h"
#include "kernel/kernel_types.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct pid_namespace_id found;

SEC("syscall")
int find_pid_namespace(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	u32 level = BPF_CORE_READ(pid, level);
	struct upid *number = upid_at(pid, level);

	found.level = level;
	found.address = (u64)BPF_CORE_READ(number, ns);
	found.inode = BPF_CORE_READ(number, ns, ns.inum);
	return 0;
}
