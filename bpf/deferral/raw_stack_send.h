/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Saves a user stack for user space to finish (abi/raw_stack.h).
 *
 * The stack is copied page by page up to the end of its mapping or to the limit. Pages that are not
 * in memory are noted; a walk that reads them ends there. Large arrays on the stack have such
 * pages, which no walk reads. The copy begins with the red zone below the stack pointer, which
 * functions that make no calls may use (AMD64 supplement, section 3.2.2).
 */
#ifndef BPF_RAW_STACK_SEND_H
#define BPF_RAW_STACK_SEND_H

#include "cookie.h"
#include "kernel/vma.h"
#include "mapping/user_frame.h"
#include "raw_stack.h"
#include "stack/stack_field.h"
#include "state/counted_events.h"
#include "state/map.h"
#include "state/task_ids.h"

#define RAW_PAGE (1U << RAW_PAGE_BITS)
#define RED_ZONE 128

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} raw_stacks SEC(".maps");

/*
 * The memory in which a record is built: its size is known only at the end, and most stacks are
 * small. The copy may meet missing pages, which are events too, and an interrupt may bring one
 * more: each CPU has two buffers.
 */
#define RAW_BUFFERS_PER_CPU 2

struct raw_buffer {
	u32 busy;
	u32 reserved;
	u64 from; /* address from which the next page, or the next mapping, is taken */
	u64 end;  /* end of the stack's mapping */
	u64 last; /* last address that the current leaf of the maple tree covers */
	/*
	 * address of the next return_instance whose return address is put back; or the address that
	 * probes have put in place of return addresses
	 */
	u64 taken;
	struct place place;
	struct raw_stack raw;
};

/* RAW_BUFFERS_PER_CPU elements for each CPU */
ARRAY_MAP(raw_buffers, RAW_BUFFERS_PER_CPU, struct raw_buffer);

/* The task whose stack is saved, and the way it is saved. */
struct raw_request {
	u32 tid;
	u32 tgid;
	u32 cookie;
	u32 flags; /* enum raw_flag; RAW_ALIVE: the stack is not copied */
};

struct raw_walk {
	struct scratch *scratch;
	struct raw_buffer *buffer;
};

static __always_inline void raw_copy_registers(struct raw_stack *raw,
					       const struct pt_regs___kernel *regs)
{
	regs_copy(regs, raw->value);
	if (regs_are_compat(regs))
		raw->flags |= RAW_COMPAT;
}

static long raw_copy_page(u32 i, struct raw_walk *walk)
{
	struct raw_stack *raw = &walk->buffer->raw;
	u64 from = walk->buffer->from, used = from - raw->stack_start;
	u32 bytes = RAW_PAGE - (from & (RAW_PAGE - 1));

	core_one_register(used);
	if (from >= walk->buffer->end || used > RAW_STACK_BYTES_MAX - RAW_PAGE)
		return 1;
	if (bpf_probe_read_user(raw->stack + used, bytes, (void *)from))
		raw->missing |= 1ULL << (RAW_STACK_PAGE(raw, from) & 63);
	else
		raw->stack_bytes = used + bytes;
	walk->buffer->from = from + bytes;
	return 0;
}

/* Restores a return address that a return probe has replaced. The kernel's list of return probes
 * has the address of the stack word that held it. */
static long raw_restore_return_address_of_probe(u32 i, struct raw_walk *walk)
{
	const struct return_instance *taken = (void *)walk->buffer->taken;
	struct raw_stack *raw = &walk->buffer->raw;
	u64 offset;

	(void)i;
	if (!taken)
		return 1;
	walk->buffer->taken = (u64)BPF_CORE_READ(taken, next);
	offset = BPF_CORE_READ(taken, stack) - raw->stack_start;
	core_one_register(offset);
	if (offset <= RAW_STACK_BYTES_MAX - 8)
		*(u64 *)(raw->stack + (offset & -8)) = BPF_CORE_READ(taken, orig_ret_vaddr);
	return 0;
}

/*
 * Puts a return address back where the kernel's list tells only the stack pointer at the function's
 * entry: a word with the address of the probes' memory, walk->buffer->taken, is the return address
 * of the innermost function whose entry lies above the word.
 */
static long raw_restore_return_address_in_word(u32 i, struct raw_walk *walk)
{
	struct raw_stack *raw = &walk->buffer->raw;
	u64 offset = 8 * i, *word, pc;

	core_one_register(offset);
	if (offset > RAW_STACK_BYTES_MAX - 8 || offset >= raw->stack_bytes)
		return 1;
	word = (u64 *)(raw->stack + offset);
	if (code_address(*word) != walk->buffer->taken)
		return 0;
	pc = original_return_address_of_word(raw->stack_start + offset);
	if (pc)
		*word = pc;
	return 0;
}

static __always_inline void raw_restore_return_addresses_in_words(struct raw_walk *walk)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const struct xol_area *area = probe_area(BPF_CORE_READ(task, mm));
	struct raw_stack *raw = &walk->buffer->raw;
	u64 *link = link_register_slot(raw->value), pc;

	if (!area)
		return;
	walk->buffer->taken = BPF_CORE_READ(area, vaddr);
	if (link && code_address(*link) == walk->buffer->taken) {
		pc = original_return_address_of_word(raw->value[REGISTER_SP] - 8);
		*link = pc ?: *link;
	}
	core_rare_loop(RAW_STACK_BYTES_MAX / 8, raw_restore_return_address_in_word, walk);
}

/*
 * Sets pc and sp to the place in the program's own code, not in a probe's copy of an instruction.
 * Only for the current task: another task is asleep in a system call and has the right registers.
 */
static __always_inline void raw_set_pc_and_sp(struct raw_buffer *buffer)
{
	find_user_pc_without_probe_code(&buffer->place);
	buffer->raw.value[REGISTER_PC] = buffer->place.pc;
	buffer->raw.value[REGISTER_SP] = buffer->place.sp;
}

/* Puts back the return addresses that probes have replaced on the stack. */
static __always_inline void raw_restore_return_addresses(struct raw_walk *walk)
{
	const struct uprobe_task *probes = uprobe_task_of_current();

	if (!probes || walk->buffer->raw.flags & RAW_COMPAT)
		return;
	if (!RETURNS_ARE_ON_STACK) {
		raw_restore_return_addresses_in_words(walk);
		return;
	}
	walk->buffer->taken = (u64)BPF_CORE_READ(probes, return_instances);
	core_rare_loop(PROBED_RETURNS_MAX, raw_restore_return_address_of_probe, walk);
}

/*
 * Copies the stack. The red zone may lie in a page that is not in memory: then the copy begins at
 * the stack pointer.
 */
static __always_inline void raw_copy_stack(struct raw_walk *walk)
{
	struct vma_search *search = &walk->scratch->search;
	struct raw_stack *raw = &walk->buffer->raw;
	u64 sp = raw->value[REGISTER_SP];

	walk->buffer->end = vma_find(search, sp) ? search->entry.end : ~0ULL;
	walk->buffer->from = sp - RED_ZONE;
	if (bpf_probe_read_user(raw->stack, RED_ZONE, (void *)walk->buffer->from))
		walk->buffer->from = sp;
	raw->stack_start = walk->buffer->from;
	core_rare_loop(RAW_STACK_BYTES_MAX / RAW_PAGE + 1, raw_copy_page, walk);
	raw_restore_return_addresses(walk);
}

/*
 * Adds the executable mapping in slot i of the maple leaf to raw->mapping, if the slot has one. 1:
 * the list is full.
 */
static long raw_list_slot_mapping(u32 i, struct raw_walk *walk)
{
	struct vma_search *search = &walk->scratch->search;
	struct raw_stack *raw = &walk->buffer->raw;
	u32 count = raw->mapping_count;
	u64 start = vma_code_start_in_leaf_slot(search, i, walk->buffer->from, walk->buffer->last);

	if (!start)
		return 0;
	core_one_register(count);
	if (count >= RAW_MAPPINGS_MAX) {
		raw->flags |= RAW_SOME_MAPPINGS;
		return 1;
	}
	raw->mapping[count].start = start;
	raw->mapping_count = count + 1;
	walk->buffer->from = start + RAW_PAGE;
	return 0;
}

static long raw_list_leaf_mappings(u32 i, struct raw_walk *walk)
{
	struct vma_search *search = &walk->scratch->search;

	walk->buffer->last = vma_copy_maple_leaf(search, walk->buffer->from);
	if (!walk->buffer->last)
		return 1;
	core_rare_loop(MAPLE_SLOTS_MAX, raw_list_slot_mapping, walk);
	walk->buffer->from = walk->buffer->last + 1;
	return walk->buffer->from == 0 || walk->buffer->raw.flags & RAW_SOME_MAPPINGS;
}

/*
 * Fills in the mapping number of element i of raw->mapping. The numbers are looked up after all
 * mappings were listed, because the search for a number overwrites search->node.
 */
static long raw_number_mapping(u32 i, struct raw_walk *walk)
{
	struct known_vma *vma = &walk->scratch->search.vma;
	struct raw_mapping *mapping;

	core_one_register(i);
	if (i >= RAW_MAPPINGS_MAX || i >= walk->buffer->raw.mapping_count)
		return 1;
	mapping = &walk->buffer->raw.mapping[i];
	mapping->end = 0;
	if (mapping_find_by_cache(walk->scratch, mapping->start))
		return 0;
	mapping->start = vma->start;
	mapping->end = vma->end;
	mapping->offset = vma->file_offset;
	mapping->number = vma->number;
	return 0;
}

static __always_inline void raw_list_mappings(struct raw_walk *walk)
{
	walk->buffer->from = 0;
	core_rare_loop(MAPLE_LEAVES_MAX, raw_list_leaf_mappings, walk);
	core_rare_loop(RAW_MAPPINGS_MAX, raw_number_mapping, walk);
}

static __always_inline void raw_fill_record(struct scratch *scratch, struct raw_buffer *buffer,
					    const struct raw_request *request,
					    const struct pt_regs___kernel *regs)
{
	struct raw_walk walk = {.scratch = scratch, .buffer = buffer};
	struct raw_stack *raw = &buffer->raw;

	raw->tid = request->tid;
	raw->tgid = request->tgid;
	raw->cookie = request->cookie;
	raw->flags = request->flags;
	raw->time = bpf_ktime_get_ns();
	raw->stack_start = 0;
	raw->missing = 0;
	raw->stack_bytes = 0;
	raw->mapping_count = 0;
	raw_copy_registers(raw, regs);
	if (!(request->flags & RAW_ALIVE)) {
		raw_set_pc_and_sp(buffer);
		raw_copy_stack(&walk);
	}
	raw_list_mappings(&walk);
}

static __always_inline bool raw_submit(struct raw_stack *raw)
{
	u32 bytes = RAW_STACK_SIZE(raw->stack_bytes);

	if (raw->flags & RAW_BETTER && raw->flags & RAW_SOME_MAPPINGS)
		return false;
	core_one_register(bytes);
	return bytes <= sizeof(*raw) &&
	       !bpf_ringbuf_output(&raw_stacks, raw, bytes, BPF_RB_NO_WAKEUP);
}

static __always_inline struct raw_buffer *raw_buffer_claim(u32 i)
{
	u32 index = bpf_get_smp_processor_id() * RAW_BUFFERS_PER_CPU + i;
	struct raw_buffer *buffer = bpf_map_lookup_elem(&raw_buffers, &index);

	return buffer && !atomic_exchange_acq_rel(&buffer->busy, 1) ? buffer : NULL;
}

/*
 * Sends the stack of a task whose address space scratch->search has entered, with the user
 * registers `regs`. False: the ring buffer has no room, or the program interrupted two others that
 * send. scratch->search.vma is undefined afterwards.
 */
static __always_inline bool raw_stack_send(struct scratch *scratch,
					   const struct raw_request *request,
					   const struct pt_regs___kernel *regs)
{
	struct raw_buffer *buffer = raw_buffer_claim(0) ?: raw_buffer_claim(1);
	bool sent;

	if (!buffer)
		return false;
	raw_fill_record(scratch, buffer, request, regs);
	sent = raw_submit(&buffer->raw);
	atomic_store_release(&buffer->busy, 0);
	return sent;
}

/*
 * raw_save_...(): save user stacks that user space finishes, on kernels without task work, and for
 * tasks that do not return to user mode first.
 */

/*
 * Saves the current task's stack under a cookie of the thread id `tid`. `flags`: enum raw_flag.
 * scratch->search is in the task's address space. 0, or -ENOSPC: the ring buffer is full, or not
 * all mappings fit (RAW_BETTER).
 */
__noinline int raw_save_current_stack(struct scratch *scratch, u32 tid, u32 cookie, u32 flags)
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

static __always_inline struct stack_field raw_save_with_new_cookie(struct scratch *scratch,
								   u32 flags)
{
	u32 cookie = cookie_new();

	if (!cookie)
		return stack_field_of_reason(REASON_NO_STATE);
	if (is_event_kept_for_origin(scratch))
		cookie |= COOKIE_LASTING;
	return raw_save_current_stack(scratch, current_tid(), cookie, flags)
		       ? stack_field_of_reason(REASON_NO_ROOM)
		       : stack_field_of_cookie(cookie);
}

#endif
