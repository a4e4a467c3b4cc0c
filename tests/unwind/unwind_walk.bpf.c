/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder in a BPF program: unwinds one task at the entry of its system calls, and stores the
 * frames in the map. The test prepares the mappings. With WALK_FAULTING reads may fault and the
 * program may sleep.
 */
#include <linux/bpf.h>
#include <linux/errno.h>

#include <asm/ptrace.h>

#include "unwind/unwind.h"
#include "unwind_walk.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct walk_control control SEC(".data.control"); /* the test maps this section */
struct pt_regs registers; /* too large for the BPF stack, which the unwinder needs */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct unwind);
} walks SEC(".maps");

#ifdef WALK_FAULTING
#define walk_read bpf_copy_from_user
#define WALK_SECTION "uprobe.s"
#else
#define walk_read bpf_probe_read_user
#define WALK_SECTION "raw_tp/sys_enter"
#endif

CORE_INLINE bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return walk_read(buffer, bytes, (const void *)address) == 0;
}

#include "listed_mappings.bpf.h"

CORE_INLINE void unwind_cache_rule(struct unwind *unwind)
{
}

#include "arch/code_rule.c"
#include "arch/return_search.c"
#include "deep_stack.c"
#include "stack_switch.c"
#include "unwind/cfi.c"
#include "unwind/cfi_rule.c"
#include "unwind/dwarf_expr.c"
#include "unwind/eh_frame.c"
#include "unwind/sframe.c"
#include "unwind/unwind.c"
#include "unwind/unwind_bytes.c"
#include "unwind/unwind_step.c"

static __always_inline void registers_take(struct unwind_registers *registers,
					   const struct pt_regs *regs)
{
	u64 *value = registers->value;

	value[REGISTER_RBX] = regs->rbx;
	value[REGISTER_RBP] = regs->rbp;
	value[REGISTER_RSP] = regs->rsp;
	value[REGISTER_R8] = regs->r8;
	value[REGISTER_R9] = regs->r9;
	value[REGISTER_R10] = regs->r10;
	value[REGISTER_R12] = regs->r12;
	value[REGISTER_R13] = regs->r13;
	value[REGISTER_R14] = regs->r14;
	value[REGISTER_R15] = regs->r15;
	value[REGISTER_RAX] = regs->orig_rax;
	value[REGISTER_RDX] = regs->rdx;
	value[REGISTER_RSI] = regs->rsi;
	value[REGISTER_RDI] = regs->rdi;
	value[REGISTER_RIP] = regs->rip;
	registers->known = (1U << REGISTER_COUNT) - 1;
}

/* The context of a uprobe is the registers; the first argument of a raw tracepoint points to them.
 */
static __always_inline const void *user_registers(u64 *ctx)
{
#ifdef WALK_FAULTING
	return ctx;
#else
	return (const void *)ctx[0];
#endif
}

SEC(WALK_SECTION)
int walk(u64 *ctx)
{
	u32 zero = 0;
	struct unwind *unwind = bpf_map_lookup_elem(&walks, &zero);

	if (!unwind || (u32)bpf_get_current_pid_tgid() != control.tid)
		return 0;
	if (bpf_probe_read_kernel(&registers, sizeof(registers), user_registers(ctx)))
		return 0;
	registers_take(&unwind->registers, &registers);
	unwind->budget = UNWIND_BUDGET;
	unwind->is_compat = 0;
	unwind_drop_mapping_and_tables(unwind);
	unwind_stack(unwind, STACK_USER_DEPTH_MAX);
	control.walks++;
	return 0;
}
