/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples a running program: each tick of its CPU clock requests a callback before the thread
 * returns to user mode. The callback takes the registers, a copy of the stack and the frames of the
 * product's unwinder at one moment, and stops the process, so that the mappings are unchanged when
 * the reader looks at them.
 */
#include <linux/bpf.h>
#include <linux/errno.h>

#include <asm/ptrace.h>

#include "deferral.h"
#include "kernel/kernel_types.h"
#include "kernel/task_work.h"
#include "samples.h"
#include "stack/unwinder.h"

#include "arch/code_rule.c"
#include "arch/return_search.c"
#include "deep_stack.c"
#include "elf_build_id.c"
#include "stack_switch.c"
#include "unwind/cached_rule.c"
#include "unwind/cfi.c"
#include "unwind/cfi_rule.c"
#include "unwind/dwarf_expr.c"
#include "unwind/eh_frame.c"
#include "unwind/rule_search.c"
#include "unwind/sframe.c"
#include "unwind/table_search.c"
#include "unwind/unwind.c"
#include "unwind/unwind_bytes.c"
#include "unwind/unwind_step.c"

#define SIGNAL_STOP 19

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SAMPLE_TASKS_MAX);
	__type(key, u32);
	__type(value, struct deferral_work);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SAMPLES_MAX);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct sample);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} filled SEC(".maps");

struct sample_counters counters;

/* Copies up to the end of a page, as the next page may not be in memory. */
static long stack_page(u32 i, void *arg)
{
	struct sample *sample = *(struct sample **)arg;
	u32 at = sample->stack_bytes;
	u64 address = sample->value[REGISTER_RSP] + at;
	u32 bytes = SAMPLE_PAGE_BYTES - (address & (SAMPLE_PAGE_BYTES - 1));

	core_one_register(at);
	if (at >= SAMPLE_STACK_BYTES ||
	    bpf_copy_from_user(sample->stack + at, bytes & (2 * SAMPLE_PAGE_BYTES - 1),
			       (const void *)address))
		return 1;
	sample->stack_bytes = at + bytes;
	return 0;
}

static __always_inline void sample_stack(struct sample *sample)
{
	sample->stack_bytes = 0;
	bpf_loop(SAMPLE_STACK_BYTES / SAMPLE_PAGE_BYTES + 1, stack_page, &sample, 0);
}

static __always_inline void sample_walk(struct sample *sample, const struct unwind *walk)
{
	sample->depth = walk->depth;
	sample->stop = walk->stop;
	sample->budget_left = walk->budget;
	sample->is_compat = walk->is_compat;
	bpf_probe_read_kernel(sample->frame, sizeof(sample->frame), walk->frame);
}

static long sample_claim(u32 i, u32 *index)
{
	struct sample *sample = bpf_map_lookup_elem(&samples, &i);

	if (!sample || atomic_exchange_acq_rel(&sample->busy, 1))
		return 0;
	*index = i;
	return 1;
}

static __always_inline void sample_fill(struct sample *sample, struct unwinder *unwinder)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();

	sample->tgid = pid_tgid >> 32;
	sample->tid = pid_tgid;
	registers_of_current(&unwinder->walk.registers);
	bpf_probe_read_kernel(sample->value, sizeof(sample->value), unwinder->walk.registers.value);
	sample_stack(sample);
	unwind_current_user_stack(unwinder);
	sample_walk(sample, &unwinder->walk);
}

static int before_user_mode(struct bpf_map *map, void *key, void *value)
{
	u32 index = SAMPLES_MAX;
	struct unwinder *unwinder;
	struct sample *sample;

	if (!bpf_get_current_task_btf()->mm) {
		atomic_add_relaxed(&counters.exiting, 1);
		return 0;
	}
	bpf_loop(SAMPLES_MAX, sample_claim, &index, 0);
	sample = bpf_map_lookup_elem(&samples, &index);
	unwinder = bpf_map_lookup_elem(&unwinders, &index);
	if (!sample || !unwinder) {
		atomic_add_relaxed(&counters.no_room, 1);
		return 0;
	}
	sample_fill(sample, unwinder);
	bpf_send_signal(SIGNAL_STOP);
	bpf_ringbuf_output(&filled, &index, sizeof(index), 0);
	return 0;
}

SEC("perf_event")
int tick(void *ctx)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct deferral_work *task = bpf_map_lookup_elem(&tasks, &tid);
	u64 nothing = 0;
	long error;

	atomic_add_relaxed(&counters.requested, 1);
	if (!task) {
		bpf_map_update_elem(&tasks, &tid, &nothing, BPF_NOEXIST);
		task = bpf_map_lookup_elem(&tasks, &tid);
	}
	if (!task)
		return 0;
	error = task_work_schedule(&task->work, &tasks, before_user_mode);
	if (error) {
		atomic_add_relaxed(&counters.refused, 1);
		counters.refused_error = error;
	}
	return 0;
}
