/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that running processes have mapped as code, before an event has met them: each gets its
 * number, and the number is printed, four bytes, for each mapping of it. User space makes the
 * unwind tables of these files before it records.
 *
 * Half of all numbers are left to what events meet.
 */
#ifndef BPF_RUNNING_CODE_H
#define BPF_RUNNING_CODE_H

#include "kernel/iterator.h"
#include "state/task_ids.h"
#include "user_mapping.h"

#define RUNNING_NUMBERS_MAX (MAPPINGS_MAX / 2)

/* Working memory of the one process that reads. */
ARRAY_MAP(running_code, 1, struct vma_search);

static __always_inline void entry_read(struct vma_entry *entry, struct vm_area_struct *vma)
{
	entry->start = BPF_CORE_READ(vma, vm_start);
	entry->end = BPF_CORE_READ(vma, vm_end);
	entry->flags = BPF_CORE_READ(vma, vm_flags);
	entry->page_offset = BPF_CORE_READ(vma, vm_pgoff) << 12;
	entry->file = (u64)BPF_CORE_READ(vma, vm_file);
}

/* 0: none is left for what runs. */
static __always_inline u32 running_number(struct vma_search *search)
{
	const struct engine_state *engine = engine_current();
	u32 number = mapping_number(search);

	if (number || !engine || atomic_load_relaxed(&engine->mapping_last) >= RUNNING_NUMBERS_MAX)
		return number;
	return mapping_add(search, false);
}

/* The kernel holds the mapping meanwhile, and so its file. */
SEC("iter/task_vma")
int number_running_code(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct vma_search *search;
	u32 zero = 0, number;

	search = bpf_map_lookup_elem(&running_code, &zero);
	if (!search || !task || !vma)
		return 0;
	entry_read(&search->entry, vma);
	if (!search->entry.file)
		return 0;
	search->tgid = tgid_of(task);
	if (!mapping_identify(search, search->entry.start) ||
	    search->record.key.kind != MAPPING_FILE)
		return 0;
	number = running_number(search);
	if (number)
		bpf_seq_write(ctx->meta->seq, &number, sizeof(number));
	return 0;
}

#endif
