/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cost of the first user stack of a process. At the process's first getppid() a callback is
 * scheduled as for any request, and the callback takes the time of the unwinding, page faults
 * included. With is_direct the program makes the direct walk at the system call and takes its time.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <stdbool.h>
#include <stddef.h>

#include <asm/ptrace.h>

#include "deferral.h"
#include "kernel/kernel_types.h"
#include "kernel/task_work.h"
#include "stack/direct_stack.h"
#include "stack/unwinder.h"
#include "state/scratch_slots.h"
#include "user_cold.h"

#include "arch/code_rule.c"
#include "arch/return_search.c"
#include "deep_stack.c"
#include "elf_build_id.c"
#include "stack_switch.c"
#include "unwind/cached_rule.c"
#include "unwind/cfi.c"
#include "unwind/cfi_rule.c"
#include "unwind/direct_walk.c"
#include "unwind/dwarf_expr.c"
#include "unwind/eh_frame.c"
#include "unwind/rule_search.c"
#include "unwind/sframe.c"
#include "unwind/table_search.c"
#include "unwind/unwind.c"
#include "unwind/unwind_bytes.c"
#include "unwind/unwind_step.c"

#define GETPPID 110 /* x86-64 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct deferral_work);
} work SEC(".maps");

struct cold_control control;

static int before_user_mode(struct bpf_map *map, void *key, void *value)
{
	u64 start = bpf_ktime_get_ns();
	u32 index = unwinder_claim();
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	if (!unwinder)
		return 0;
	unwind_current_user_stack(unwinder);
	control.elapsed_ns = bpf_ktime_get_ns() - start;
	control.depth = unwinder->walk.depth;
	control.stop = unwinder->walk.stop;
	unwinder_release(unwinder);
	return 0;
}

static __always_inline void walk_now(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct scratch *scratch = scratch_claim(cpu);
	u64 start = bpf_ktime_get_ns();

	if (!scratch)
		return;
	if (set_search_to_current_address_space(&scratch->search) &&
	    !registers_of_current(&scratch->direct.registers)) {
		scratch->direct.is_compat = 0;
		direct_stack_walk(scratch, cpu, STACK_USER_DEPTH_MAX, 0);
		control.elapsed_ns = bpf_ktime_get_ns() - start;
		control.depth = scratch->user.depth;
		control.stop = scratch->direct.stop;
	}
	scratch_release(scratch);
}

SEC("raw_tp/sys_enter")
int on_syscall_enter(struct bpf_raw_tracepoint_args *ctx)
{
	struct deferral_work *only;
	u32 zero = 0;

	if (bpf_get_current_pid_tgid() >> 32 != control.tgid || ctx->args[1] != GETPPID)
		return 0;
	if (control.is_direct) {
		walk_now();
		return 0;
	}
	only = bpf_map_lookup_elem(&work, &zero);
	if (only)
		task_work_schedule(&only->work, &work, before_user_mode);
	return 0;
}
