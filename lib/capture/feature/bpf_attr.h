/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attributes of bpf(2) that libbpf 1.1 and its headers do not have. A kernel without these
 * attributes returns -EINVAL.
 */
#ifndef LIB_CAPTURE_BPF_ATTR_H
#define LIB_CAPTURE_BPF_ATTR_H

#include "scalar.h"

#define ATTACH_TYPE_UPROBE_MULTI 48

/* BPF_RAW_TRACEPOINT_OPEN, since 6.10 */
struct raw_tracepoint_attr {
	u64 name;
	u32 prog_fd;
	u32 reserved;
	u64 cookie;
};
ABI_SIZE(struct raw_tracepoint_attr, 24);

/* BPF_LINK_CREATE with ATTACH_TYPE_UPROBE_MULTI, since 6.6 */
struct uprobe_multi_attr {
	u32 prog_fd;
	u32 target_fd;
	u32 attach_type;
	u32 link_flags;
	u64 path;
	u64 offsets;
	u64 ref_ctr_offsets;
	u64 cookies;
	u32 count;
	u32 flags;
	u32 pid;
	u32 reserved;
};
ABI_SIZE(struct uprobe_multi_attr, 64);

#define UPROBE_MULTI_RETURN 1U /* a bit of uprobe_multi_attr.flags */

#endif
