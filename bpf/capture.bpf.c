/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs of an instance, one for each way of being called. A program names the event kind and
 * the number of tracer frames on the stack, and calls event_emit().
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#define UNWIND_READS_JAVA
#define UNWIND_READS_V8

#include "deferral/callback.h"
#include "deferral/deferred_stack.h"
#include "deferral/deliver.h"
#include "deferral/leave.h"
#include "deferral/unwind_blocked.h"
#include "event/at_syscall.h"
#include "event/emit.h"
#include "event/field_value.h"
#include "event/filter.h"
#include "event/off_cpu.h"
#include "event/origin_queue.h"
#include "event/since_before.h"
#include "event/thread_count.h"
#include "event/thread_time.h"
#include "mapping/kernel_symbols.h"
#include "mapping/running_code.h"
#include "stack/java_names.h"
#include "stack/perl_names.h"
#include "stack/v8_names.h"
#include "state/instance.h"
#include "task/tasks.h"

#include "arch/code_rule.c"
#include "arch/return_search.c"
#include "deep_stack.c"
#include "elf_build_id.c"
#include "script_walk.c"
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
#include "unwind/java_rule.c"
#include "unwind/rule_search.c"
#include "unwind/sframe.c"
#include "unwind/table_search.c"
#include "unwind/unwind.c"
#include "unwind/unwind_bytes.c"
#include "unwind/unwind_step.c"
#include "unwind/v8_inlined.c"
#include "unwind/v8_name.c"

#include "perl_walk.c"	      /* included after script_walk.c, whose functions it uses */
#include "unwind/java_name.c" /* uses functions of java_rule.c */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct syscall_kinds syscalls = {};

static __always_inline u64 event_cookie(void *ctx)
{
	return config.cookie ? bpf_get_attach_cookie(ctx) : config.kind;
}

/*
 * Runs of a perf event's program, filtered events included. The kernel skips the program without a
 * trace while another program is active on that CPU. The difference between these runs and the
 * event's own count shows the skips; the count is stored for readers that have not opened the
 * event. For the same reason this program never nests.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KIND_SOURCES);
	__type(key, u32);
	__type(value, struct perf_runs);
} perf_runs SEC(".maps");

static __always_inline void count_program_run(struct bpf_perf_event_data *ctx, u32 kind)
{
	struct perf_runs *own = bpf_map_lookup_elem(&perf_runs, &kind);
	struct bpf_perf_event_value value;

	if (!own)
		return;
	own->runs++;
	if (!config.sample && !bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
		own->count = value.counter;
}

SEC("stackmap.perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	u64 pc = EVENT_PC(ctx);
	bool in_kernel = FRAME_IS_KERNEL(pc);
	struct hit hit = {
		.kind = event_cookie(ctx),
		.is_sample = config.sample,
		.kernel_pc = config.sample && in_kernel ? pc : 0,
	};

	count_program_run(ctx, hit.kind);
	if (!in_kernel)
		hit.user_pc = user_pc_without_probe_code();

	return schedule_callback_or_tail_call(ctx, &callbacks_perf_event,
					      event_emit(ctx, &hit, NULL));
}

SEC("stackmap.raw_tp")
int on_tracepoint(struct bpf_raw_tracepoint_args *ctx)
{
	struct hit hit = {.kind = event_cookie(ctx), .skip = SKIP_RAW_TRACEPOINT};

	return tail_call_callback_scheduler(ctx, &callbacks_raw_tp,
					    event_emit_even_in_interrupt(ctx, &hit, NULL));
}

/*
 * on_field_value and on_field_call are attached to one tracepoint (bpf/event/field_value.h),
 * on_field_value first.
 */
SEC("stackmap.tracepoint")
int on_field_value(void *ctx)
{
	return tail_call_callback_scheduler(ctx, &callbacks_tracepoint,
					    field_value_emit(ctx, event_cookie(ctx)));
}

SEC("stackmap.raw_tp")
int on_field_call(void *ctx)
{
	field_value_count_run_of_second_program(ctx, config.kind);
	return 0;
}

/*
 * 32-bit tasks have other system call numbers; the kernel's own syscall events leave such tasks
 * out, too. compat_calls counts the calls of 32-bit tasks whose number is that of a chosen system
 * call.
 */
u64 compat_calls;

static __always_inline bool is_compat_call(void)
{
	return is_compat_syscall(&current_typed_task()->thread_info);
}

/* A global function: verified once for all callers. */
__noinline int count_compat_syscall(void)
{
	if (!paused && current_thread_passes_filters(bpf_get_smp_processor_id()))
		atomic_add_relaxed(&compat_calls, 1);
	return 0;
}

static __always_inline int emit_syscall_event(struct bpf_raw_tracepoint_args *ctx,
					      const volatile struct syscall_side *side, u64 number)
{
	struct hit hit = {.skip = SKIP_RAW_TRACEPOINT};
	u32 kind;

	if (number >= CONFIG_SYSCALLS_MAX)
		return 0;
	kind = side->kind[number];
	if (!kind)
		return 0;
	if (is_compat_call()) {
		count_compat_syscall();
		return 0;
	}
	hit.kind = kind - 1;
	hit.numbers = ctx->args[0];
	return tail_call_callback_scheduler(ctx, &callbacks_raw_tp, event_emit(ctx, &hit, NULL));
}

SEC("stackmap.raw_tp")
int on_syscall_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return emit_syscall_event(ctx, &syscalls.enter, ctx->args[1]);
}

SEC("stackmap.raw_tp")
int on_syscall_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return emit_syscall_event(ctx, &syscalls.exit, read_syscall_number((void *)ctx->args[0]));
}

/*
 * User functions. The task is about to run a copy of the instruction under the probe, so a callback
 * would find other registers. A stack that cannot be walked at once is saved for user space, and
 * the rules of its code are found for the next event (request_rules). Only the callback has the
 * rules of Java's code: a stack with such code is left to the callback, with the registers at the
 * probe (request_stack_at_probe). (Programs that may sleep could unwind here, but on 6.18 they were
 * sometimes not run for any hit of a task, and no counter shows that.)
 */
static __always_inline bool emit_user_function_event(struct pt_regs *ctx, u64 cookie)
{
	struct hit hit = {
		.kind = COOKIE_KIND(cookie),
		.is_probe = true,
		.at_entry = COOKIE_AT_ENTRY(cookie),
	};

	return event_emit(ctx, &hit, ctx);
}

SEC("stackmap.uprobe")
int on_user_function(struct pt_regs *ctx)
{
	return tail_call_callback_scheduler(ctx, &callbacks_kprobe,
					    emit_user_function_event(ctx, event_cookie(ctx)));
}

/*
 * User functions where one link serves many functions (uprobe_multi). User space sets the attach
 * type.
 */
SEC("stackmap.uprobe")
int on_user_functions(struct pt_regs *ctx)
{
	return tail_call_callback_scheduler(ctx, &callbacks_uprobe_multi,
					    emit_user_function_event(ctx, event_cookie(ctx)));
}

/* TP_PROTO(bool preempt, prev, next, unsigned int prev_state) */
SEC("tp_btf/sched_switch")
int on_switch(u64 *ctx)
{
	struct task_struct *before = (void *)ctx[1], *after = (void *)ctx[2];
	u32 cpu = bpf_get_smp_processor_id();

	off_cpu_wait_end(after, cpu, false, false);
	off_cpu_wait_end(before, cpu, true, false);
	return tail_call_callback_scheduler(ctx, &callbacks_switch,
					    !ctx[0] && off_cpu_wait_begin(before, ctx[3], cpu));
}

SEC("iter/task")
int on_stop(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		off_cpu_record_unfinished(task);
	return 0;
}

/*
 * Called for each task when recording begins: notes a wait that the task is in already
 * (bpf/event/since_before.h).
 */
SEC("iter/task")
int on_start(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		off_cpu_add_waiting_task(task, true);
	return 0;
}

/*
 * The variant of on_start for instances whose iterator asks for no callback: the kernel has no task
 * work, or the recording defers no user stacks (bpf/event/since_before.h).
 */
SEC("iter/task")
int on_start_plain(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		off_cpu_add_waiting_task(task, false);
	return 0;
}

SEC("tp_btf/sched_switch")
int on_time_switch(u64 *ctx)
{
	struct task_struct *before = (void *)ctx[1], *after = (void *)ctx[2];
	u64 now = bpf_ktime_get_ns();
	u32 cpu = bpf_get_smp_processor_id();

	if (!is_time_recorded(now))
		return 0;
	time_account_begin_running(after, cpu, now);
	return tail_call_callback_scheduler(
		ctx, &callbacks_switch, time_account_end_running(before, ctx[0], ctx[3], cpu, now));
}

/*
 * Other programs at sched_switch run before this one, which is attached last: their events still
 * count for the thread that leaves the CPU.
 */
SEC("tp_btf/sched_switch")
int on_count_switch(u64 *ctx)
{
	hand_over_counters_at_switch((void *)ctx[1], (void *)ctx[2], !ctx[0] && ctx[3] & TASK_DEAD,
				     bpf_get_smp_processor_id());
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_time_wakeup(u64 *ctx)
{
	u64 now = bpf_ktime_get_ns();

	if (is_time_recorded(now))
		time_account_begin_runnable((void *)ctx[0], now);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int on_time_new(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	u64 now = bpf_ktime_get_ns();

	if (is_time_recorded(now) && task_passes_filters(task))
		time_account_open(task, now, TIME_RUNNABLE,
				  STACK_FIELD_WORD(REASON_NO_FRAMES, STATE_NONE));
	return 0;
}

/* TP_PROTO(task, old_pid, bprm) */
SEC("tp_btf/sched_process_exec")
int on_time_exec(u64 *ctx)
{
	u64 now = bpf_ktime_get_ns();

	if (is_time_recorded(now))
		time_account_note_exec((void *)ctx[0], now);
	return 0;
}

SEC("iter/task")
int on_time_start(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		time_account_open_at_recording_begin(task, true);
	return 0;
}

/*
 * The variant of on_time_start for instances whose iterator asks for no callback: the kernel has no
 * task work, or the recording defers no user stacks.
 */
SEC("iter/task")
int on_time_start_plain(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		time_account_open_at_recording_begin(task, false);
	return 0;
}

SEC("iter/task")
int on_time_stop(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		record_unfinished_wait_of_account(task);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_wake(u64 *ctx)
{
	return tail_call_callback_scheduler(ctx, &callbacks_wake,
					    off_cpu_record_waker(ctx, (void *)ctx[0]));
}

/* TP_PROTO(int req_cpu, struct pool_workqueue *pwq, struct work_struct *work) */
SEC("stackmap.raw_tp")
int on_queue_work(struct bpf_raw_tracepoint_args *ctx)
{
	u64 running = address_of_soft_work_word((void *)ctx->args[1]);

	return tail_call_callback_scheduler(ctx, &callbacks_raw_tp,
					    origin_object_queued(ctx, ctx->args[2], running));
}

/* This program is attached to the tracepoints timer_start and hrtimer_start. */
SEC("stackmap.raw_tp")
int on_queue_timer(struct bpf_raw_tracepoint_args *ctx)
{
	return tail_call_callback_scheduler(ctx, &callbacks_raw_tp,
					    origin_object_queued(ctx, ctx->args[0], 0));
}

/* TP_PROTO(struct io_kiocb *req, int rw) */
SEC("stackmap.raw_tp")
int on_queue_request(struct bpf_raw_tracepoint_args *ctx)
{
	const struct io_kiocb *request = (void *)ctx->args[0];
	u64 work = 0;

	if (bpf_core_field_exists(request->work))
		work = ctx->args[0] + bpf_core_field_offset(struct io_kiocb, work);
	return tail_call_callback_scheduler(ctx, &callbacks_raw_tp,
					    work && origin_object_queued(ctx, work, 0));
}

SEC("raw_tp/workqueue_execute_start")
int on_work_begin(struct bpf_raw_tracepoint_args *ctx)
{
	origin_work_begin(ctx->args[0]);
	return 0;
}

SEC("raw_tp/workqueue_execute_end")
int on_work_end(struct bpf_raw_tracepoint_args *ctx)
{
	origin_work_end(ctx->args[0]);
	return 0;
}

/*
 * The kernel skips a program that runs on the CPU already, so timers that interrupt each other have
 * programs of their own.
 */
#define TIMER_PROGRAMS(name, tracepoint, is_hrtimer)                                               \
	SEC("raw_tp/" tracepoint "_expire_entry")                                                  \
	int on_##name##_begin(struct bpf_raw_tracepoint_args *ctx)                                 \
	{                                                                                          \
		origin_call_begin(ctx->args[0], is_hrtimer);                                       \
		return 0;                                                                          \
	}                                                                                          \
	SEC("raw_tp/" tracepoint "_expire_exit")                                                   \
	int on_##name##_end(struct bpf_raw_tracepoint_args *ctx)                                   \
	{                                                                                          \
		origin_call_end(ctx->args[0]);                                                     \
		return 0;                                                                          \
	}

TIMER_PROGRAMS(timer, "timer", false)
TIMER_PROGRAMS(hrtimer, "hrtimer", true)

/*
 * This program is attached to sched_process_exit and to sched_prepare_exec. One program serves both
 * tracepoints, because verification is half of the cost of a recording's start.
 */
SEC("stackmap.raw_tp")
int task_leave(void *ctx)
{
	bool is_exit = is_exiting();

	if (is_exit || current_thread_passes_filters(bpf_get_smp_processor_id()))
		deliver_stack_at_exit_or_exec(is_exit);
	return 0;
}

SEC("stackmap.kprobe")
int on_kernel_probe(struct pt_regs *ctx)
{
	struct hit hit = {.kind = event_cookie(ctx), .is_function = true};

	return tail_call_callback_scheduler(ctx, &callbacks_kprobe,
					    event_emit_even_in_interrupt(ctx, &hit, ctx));
}

SEC("stackmap.kprobe.multi")
int on_kernel_functions(struct pt_regs *ctx)
{
	struct hit hit = {.kind = event_cookie(ctx), .is_function = true};

	return tail_call_callback_scheduler(ctx, &callbacks_kprobe_multi,
					    event_emit_even_in_interrupt(ctx, &hit, ctx));
}

SEC("fentry")
int on_kernel_entry(void *ctx)
{
	struct hit hit = {.kind = event_cookie(ctx), .skip = SKIP_TRAMPOLINE};

	return event_emit_even_in_interrupt(ctx, &hit, ctx)
		       ? serve_without_callback(current_tid(), false)
		       : 0;
}

SEC("fexit")
int on_kernel_return(void *ctx)
{
	struct hit hit = {.kind = event_cookie(ctx), .skip = SKIP_TRAMPOLINE};

	return event_emit_even_in_interrupt(ctx, &hit, ctx)
		       ? serve_without_callback(current_tid(), false)
		       : 0;
}
