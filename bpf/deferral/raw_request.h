/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks that user space finishes: on kernels without task work, and for tasks that do not
 * return to user mode first.
 */
#ifndef BPF_RAW_REQUEST_H
#define BPF_RAW_REQUEST_H

#include "cookie.h"
#include "raw_stack_send.h"
#include "stack/stack_field.h"
#include "state/counted_events.h"
#include "state/task_ids.h"

/*
 * Saves the current task's stack under a cookie of this thread id, with these enum raw_flag.
 * scratch->search is in the task's address space. 0, or -ENOSPC: the ring buffer is full, or not
 * all mappings fit (RAW_BETTER).
 */
__noinline int raw_save(struct scratch *scratch, u32 tid, u32 cookie, u32 flags)
{
	struct raw_request request = {
		.tid = tid, .cookie = cookie, .flags = flags & (RAW_AT_ENTRY | RAW_BETTER)};

	if (!scratch)
		return -EINVAL;
	request.tgid = scratch->search.tgid;
	return raw_stack_send(scratch, &request,
			      (void *)bpf_task_pt_regs(bpf_get_current_task_btf()))
		       ? 0
		       : -ENOSPC;
}

static __always_inline struct stack_field raw_request(struct scratch *scratch, u32 flags)
{
	u32 cookie = cookie_new();

	if (!cookie)
		return no_stack(REASON_NO_STATE);
	if (is_aside(scratch))
		cookie |= COOKIE_LASTING;
	return raw_save(scratch, current_tid(), cookie, flags) ? no_stack(REASON_NO_ROOM)
							       : cookie_field(cookie);
}

#endif
