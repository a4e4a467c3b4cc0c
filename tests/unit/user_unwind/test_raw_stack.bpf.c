/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs of an instance, and a program that saves the stack at each getppid() of a process.
 */
#include "capture.bpf.c"

#define SYSCALL_GETPPID 110

u32 wanted_tgid;

SEC("raw_tp/sys_enter")
int save_stack(struct bpf_raw_tracepoint_args *ctx)
{
	u64 id = bpf_get_current_pid_tgid();
	struct raw_request request = {.tid = id, .tgid = id >> 32, .cookie = 77};
	struct scratch *scratch;

	if (request.tgid != wanted_tgid || ctx->args[1] != SYSCALL_GETPPID)
		return 0;
	scratch = scratch_claim(bpf_get_smp_processor_id());
	if (!scratch)
		return 0;
	if (set_search_to_current_address_space(&scratch->search))
		raw_stack_send(scratch, &request,
			       (void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
	scratch_release(scratch);
	return 0;
}
