/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that stackmap/bpf.h declares: deferral with a tool in place of the rings. No user
 * space finishes stacks here, so a stack that is not in memory when its task exits is lost.
 */
#ifndef BPF_CLIENT_CALLS_H
#define BPF_CLIENT_CALLS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

/* `static` keeps stackmap's constants out of the skeleton of the tool. */
#define INSTANCE_CONSTANT static
#define INSTANCE_HAS_NO_RECORDER
/* The kernel counts a client's own callback among the calls of the program that schedules it. */
#define UNWIND_SAVES_A_CALL

#include "deferral/deliver.h"
#include "deferral/leave.h"
#include "ledger.h"
#include "state/stack_tables.h"

#include "arch/code_rule.c"
#include "arch/return_search.c"
#include "deep_stack.c"
#include "elf_build_id.c"
#include "stack_element.c"
#include "stack_hash.c"
#include "stack_map.c"
#include "stack_pack.c"
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

#define CLIENT_CALL static __always_inline __attribute__((unused))

static void stackmap_answer(u32 tid, u32 cookie, struct stack *stack, u32 reason);

static __always_inline void deferred_stack_send_stack(struct scratch *scratch, u32 cpu, u32 tid,
						      u32 cookie, u64 leaf)
{
	stackmap_answer(tid, cookie, &scratch->user, 0);
}

static __always_inline void deferred_stack_send_reason(struct scratch *scratch, u32 cpu, u32 tid,
						       u32 cookie, u32 reason)
{
	stackmap_answer(tid, cookie, NULL, reason);
}

/*
 * Frames of interpreters' loops stay native: a recorder would name the functions of scripts, and a
 * client has no recorder.
 */
static __always_inline u64 deferred_stack_replace_loop_frames(struct scratch *scratch)
{
	scratch->counters.script_unjoined += scratch->direct.scripts.count;
	return scratch->direct.leaf;
}

static __always_inline u64 deferred_stack_replace_unwinder_loops(struct scratch *scratch,
								 const struct unwinder *unwinder,
								 u64 leaf)
{
	scratch->counters.script_unjoined += unwinder->walk.scripts.count;
	return leaf;
}

static __always_inline bool deferred_stack_leave_to_user_space(struct scratch *scratch, u32 tid,
							       u32 cookie,
							       const struct unwinder *unwinder)
{
	return false;
}

static __always_inline void deferred_stack_send_memory(struct scratch *scratch, u32 cpu, u32 tid,
						       u32 cookie)
{
	stackmap_answer(tid, cookie, NULL, REASON_UNREADABLE);
}

/* Events of a client have no trace ids. */
static __always_inline void deferred_context_deliver(struct deferral *deferral, u32 tid, u32 cookie)
{
}

static __always_inline void deferred_stack_report_lost(u32 tid, u32 cookie)
{
	stackmap_answer(tid, cookie, NULL, REASON_NO_STATE);
}

/* The calling program schedules the callback itself. */
static __always_inline int ensure_callback_is_scheduled(struct scratch *scratch, u32 tid,
							const struct deferral *deferral)
{
	return callback_schedule(tid, deferral);
}

SEC("raw_tp/sched_process_exit")
int stackmap_task_exit(void *ctx)
{
	u32 tid = current_tid();

	if (tid || !records_ids_of_inner_pid_namespace()) {
		serve_request_before_leaving(tid);
		delete_deferral_state_of_task(tid);
	}
	execve_delete_record();
	return 0;
}

/* Later requests in the same execve get REASON_CHANGED. */
SEC("raw_tp/sched_prepare_exec")
int stackmap_task_exec(void *ctx)
{
	u64 pid_tgid = current_pid_and_tid();
	u32 tid = pid_tgid;

	serve_request_before_leaving(tid);
	if (tid != pid_tgid >> 32)
		delete_deferral_state_of_task(tid);
	return 0;
}

/* A global function: verified once for all callers. */
__noinline s64 client_get_id(struct stack *stack)
{
	void *table = current_stack_table();

	if (!stack || !table || !stack_pack(stack))
		return -EINVAL;
	return stack_map_get_id(table, &geometry, bpf_get_smp_processor_id(), stack);
}

CLIENT_CALL s64 stackmap_get_id(struct stack *stack)
{
	return client_get_id(stack);
}

/*
 * Requests the stack of an exiting task: returns a new cookie, whose stack is delivered before the
 * function returns.
 */
static __always_inline s64 deliver_stack_of_new_cookie(void)
{
	u32 cookie = cookie_new();

	if (!cookie)
		return -ENOMEM;
	serve_request_of_leaving_task(current_tid(), cookie);
	return cookie;
}

CLIENT_CALL s64 stackmap_request(void)
{
	if (config.deferral != DEFERRAL_TASK_WORK)
		return -EOPNOTSUPP;
	if (!bpf_get_current_task_btf()->mm)
		return -EINVAL;
	if (execve_user_stack_field())
		return -EINVAL;
	if (is_exiting())
		return deliver_stack_of_new_cookie();
	return deferral_request(NULL, 0);
}

CLIENT_CALL s32 stackmap_cancel(u32 tid)
{
	struct deferral *deferral = bpf_map_lookup_elem(&deferrals, &tid);

	if (!deferral)
		return -ENOENT;
	return take_pending_cookie(deferral, DEFERRAL_COOKIE(atomic_load_relaxed(&deferral->word)));
}

CLIENT_CALL s64 stackmap_unwind(struct stack *stack)
{
	u32 index = unwind_in_free_unwinder();
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	if (!unwinder)
		return -ENOMEM;
	copy_frames_of_unwinder(unwinder, stack, 0);
	unwinder_release(unwinder);
	return stack->depth ? stack->depth : -EINVAL;
}

#endif
