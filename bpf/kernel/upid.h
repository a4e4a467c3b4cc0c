/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ids of a task at each level of PID namespaces, from the initial one (0) to its own. */
#ifndef BPF_UPID_H
#define BPF_UPID_H

#include <bpf/bpf_core_read.h>

#include "kernel_types.h"

/* The entry of a level, which must not exceed the level of the task's own namespace. */
static __always_inline struct upid *upid_at(struct pid *pid, u32 level)
{
	return (void *)pid + bpf_core_field_offset(struct pid, numbers) +
	       level * bpf_core_type_size(struct upid);
}

#endif
