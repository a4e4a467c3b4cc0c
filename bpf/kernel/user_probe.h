/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Undoes the changes that user probes make in a task, ours and those of other tools: a walk sees
 * the program as it was built.
 *
 * An instruction under a probe runs as a copy, in memory of the kernel ([uprobes]). A function with
 * a probe at its return returns into that memory; the kernel keeps the true return addresses in a
 * list, each with the address of the stack word that held it.
 */
#ifndef BPF_USER_PROBE_H
#define BPF_USER_PROBE_H

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"

#define PROBE_AREA_BYTES 4096
#define RETURN_SAVES_BYTES 24
/* bytes of stack that a return instruction removes */
#define RETURN_ADDRESS_BYTES (8 * RETURNS_ARE_ON_STACK)
/* most return addresses that probes take per task: the kernel's MAX_URETPROBE_DEPTH */
#define PROBED_RETURNS_MAX 64

static __always_inline struct xol_area *probe_area(struct mm_struct *mm)
{
	if (!bpf_core_field_exists(mm->uprobes_state.xol_area))
		return NULL;
	return BPF_CORE_READ(mm, uprobes_state.xol_area);
}

/* True if `start` is the address of the probe area of an address space. */
static __always_inline bool is_probe_area(struct mm_struct *mm, u64 start)
{
	struct xol_area *area = probe_area(mm);

	return area && BPF_CORE_READ(area, vaddr) == start;
}

/* The probes of the current task, or NULL: no probe has hit the task. */
static __always_inline const struct uprobe_task *uprobe_task_of_current(void)
{
	const struct task_struct *task = (void *)bpf_get_current_task();

	return bpf_core_field_exists(task->utask) ? BPF_CORE_READ(task, utask) : NULL;
}

struct place {
	u64 pc;
	u64 sp;
};

/* True if an address is in the probe area of the current task, which has been hit by a probe. */
static __always_inline bool is_in_probe_area(u64 address)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const struct xol_area *area = probe_area(BPF_CORE_READ(task, mm));
	u64 start = area ? BPF_CORE_READ(area, vaddr) : 0;

	return start && address - start < PROBE_AREA_BYTES;
}

/* The registers with which the current task entered the kernel. */
static __always_inline const struct pt_regs___kernel *current_pt_regs(void)
{
	return (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

/*
 * Finds the place of the current task in its program, by the registers with which it entered the
 * kernel. In a copied instruction, the place is the original instruction. In the trampoline of a
 * probed return, which saves registers before it calls the kernel, the place is the caller: the
 * function has returned. (After that call the kernel's list has no entry for it.)
 *
 * A global function: verified by itself. The field of a typed task is the fastest to read. For each
 * pointer that is loaded in this way the verifier looks through all names of the kernel's types,
 * which takes half a millisecond, so rarely needed fields are read by address. Returns 0.
 */
__noinline int find_user_pc_without_probe_code(struct place *place)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct uprobe_task *probes = bpf_core_field_exists(task->utask) ? task->utask : NULL;
	const struct pt_regs___kernel *regs = current_pt_regs();
	const struct return_instance *taken;
	u64 copy;

	if (!place)
		return 0;
	place->pc = regs_pc(regs);
	place->sp = regs_sp(regs);
	if (!probes)
		return 0;
	copy = BPF_CORE_READ(probes, xol_vaddr);
	/* Until the kernel has moved the pc back, it may lie behind the copy. */
	if (copy && place->pc - copy <= INSTRUCTION_BYTES_MAX) {
		place->pc += BPF_CORE_READ(probes, vaddr) - copy;
		return 0;
	}
	taken = BPF_CORE_READ(probes, return_instances);
	if (taken &&
	    BPF_CORE_READ(taken, stack) + RETURN_ADDRESS_BYTES - place->sp <= RETURN_SAVES_BYTES &&
	    is_in_probe_area(place->pc)) {
		place->pc = BPF_CORE_READ(taken, orig_ret_vaddr);
		place->sp = BPF_CORE_READ(taken, stack) + RETURN_ADDRESS_BYTES;
	}
	return 0;
}

static __always_inline struct place current_user_pc_without_probe_code(void)
{
	struct place place = {};

	find_user_pc_without_probe_code(&place);
	return place;
}

__noinline u64 user_pc_without_probe_code(void)
{
	return current_user_pc_without_probe_code().pc;
}

/*
 * True if the registers with which the current task entered the kernel may be those of a
 * breakpoint's trap, and their pc is not yet the right one. False if `place_known` is not 0: the
 * event itself knows the pc.
 */
__noinline int is_at_breakpoint_trap(u64 place_known)
{
	const struct pt_regs___kernel *regs = current_pt_regs();

	return !place_known && regs_syscall(regs) == NO_SYSCALL &&
	       is_after_breakpoint(regs_pc(regs));
}

struct probed_return {
	struct return_instance *next;
	u64 word;
	u64 pc; /* original return address of the word; 0: not found */
};

static long compare_probed_return_with_word(u32 i, struct probed_return *search)
{
	struct return_instance *taken = search->next;

	(void)i;
	if (!taken)
		return 1;
	search->next = BPF_CORE_READ(taken, next);
	if (is_probed_return_word(BPF_CORE_READ(taken, stack), search->word))
		search->pc = BPF_CORE_READ(taken, orig_ret_vaddr);
	return search->pc != 0;
}

/* The return address that the kernel has replaced in a stack word of the current task; 0: none. */
__noinline u64 original_return_address_of_word(u64 word)
{
	const struct uprobe_task *probes = uprobe_task_of_current();
	struct probed_return search = {.word = word};

	if (!probes)
		return 0;
	search.next = BPF_CORE_READ(probes, return_instances);
	core_rare_loop(PROBED_RETURNS_MAX, compare_probed_return_with_word, &search);
	return search.pc;
}

#endif
