/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that running processes have mapped as code, before an event has met them. Each file
 * gets its number, and the program prints the number, four bytes, for each mapping. User space
 * makes the unwind tables of these files before it records.
 *
 * The program is run for each task and walks the mappings without a lock, as the programs do at an
 * event (kernel/vma.h). The kernel's own iterator over mappings would wait for the lock of each
 * process, and any user can keep that lock for ever: with a page fault in a file system that does
 * not answer, and a thread that waits to write.
 *
 * Half of all numbers are left for the files that events meet.
 */
#ifndef BPF_RUNNING_CODE_H
#define BPF_RUNNING_CODE_H

#include "kernel/iterator.h"
#include "kernel/vma.h"
#include "user_frame.h"

#define RUNNING_NUMBERS_MAX (MAPPINGS_MAX / 2)
/* mappings per call: their numbers fit into the kernel's buffer of a read */
#define RUNNING_STEPS_MAX 4096
#define RUNNING_PAGE 4096

/* Working memory of the walk over a task's mappings. One process reads at a time. */
struct running_walk {
	struct vma_search search;
	u64 from; /* address from which the next mapping is searched; 0: the walk is over */
};

ARRAY_MAP(running_code, 1, struct running_walk);

struct running_visit {
	struct running_walk *walk;
	struct seq_file *seq;
};

/*
 * Returns the mapping number of the file that the search has found, and assigns one if the file has
 * none; 0: no number is left for running processes.
 */
static __always_inline u32 assign_mapping_number_to_file(struct vma_search *search)
{
	const struct engine_state *engine = current_engine_state();
	u32 number = mapping_number(search);

	if (number || !engine || atomic_load_relaxed(&engine->mapping_last) >= RUNNING_NUMBERS_MAX)
		return number;
	return mapping_add(search, false);
}

/*
 * Returns the begin of the next executable mapping, or 0 if the maple leaf of walk->from has no
 * more. Moves walk->from to the second page of that mapping, or past the leaf.
 */
static __always_inline u64 walk_to_next_executable_mapping_in_leaf(struct running_walk *walk)
{
	u64 last = vma_copy_maple_leaf(&walk->search, walk->from), start;
	u32 i;

	for (i = 0; last && i < MAPLE_SLOTS_MAX; i++) {
		start = vma_code_start_in_leaf_slot(&walk->search, i, walk->from, last);
		if (start) {
			walk->from = start + RUNNING_PAGE;
			return start;
		}
	}
	walk->from = last ? last + 1 : 0;
	return 0;
}

static long visit_running_mapping(u32 index, struct running_visit *visit)
{
	struct running_walk *walk = visit->walk;
	u64 start = walk_to_next_executable_mapping_in_leaf(walk);
	u32 number;

	(void)index;
	if (start && !mapping_lookup(&walk->search, start) &&
	    walk->search.record.key.kind == MAPPING_FILE) {
		number = assign_mapping_number_to_file(&walk->search);
		if (number)
			bpf_seq_write(visit->seq, &number, sizeof(number));
	}
	return !walk->from;
}

/* All threads of a process share its mappings: only the first thread is used. */
SEC("iter/task")
int number_running_code(struct bpf_iter__task *ctx)
{
	struct running_visit visit = {.seq = ctx->meta->seq};
	struct task_struct *task = ctx->task;
	u32 zero = 0;

	visit.walk = bpf_map_lookup_elem(&running_code, &zero);
	if (!visit.walk || !task || task->pid != task->tgid ||
	    !set_search_to_address_space_of_task(&visit.walk->search, task))
		return 0;
	visit.walk->from = 0;
	core_rare_loop(RUNNING_STEPS_MAX, visit_running_mapping, &visit);
	return 0;
}

#endif
