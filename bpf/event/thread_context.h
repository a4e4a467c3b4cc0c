/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trace and span of the current thread (--trace-ids, abi/thread_context.h). The thread is
 * interrupted or in the kernel while its record is read: a thread marks its record as invalid
 * before it changes the record, so the read sees no half-written ids.
 *
 * The programs add an entry for a process that is new or has called execve. The events of a process
 * have no ids until user space has completed the entry.
 */
#ifndef BPF_THREAD_CONTEXT_H
#define BPF_THREAD_CONTEXT_H

#include "arch/arch.h"
#include "kernel/kernel_types.h"
#include "state/map.h"
#include "state/scratch_slots.h"
#include "state/task_ids.h"
#include "thread_context.h"

HASH_MAP(context_places, 1, u32, struct context_place);	    /* key: the kernel's process id */
HASH_MAP(waiting_contexts, 1, u32, struct waiting_context); /* key: tid, as in the map `blocked` */

u64 contexts_unplaced; /* number of failed attempts to add a process to context_places */

/* Adds the process of the current task, for user space to complete. */
static __always_inline void context_request_place(struct task_struct *task, u32 key)
{
	struct context_place asked = {
		.process = task->group_leader->start_time,
		.execs = task->self_exec_id,
		.tgid = typed_tgid_of(task),
	};

	if (bpf_map_update_elem(&context_places, &key, &asked, BPF_ANY))
		atomic_add_relaxed(&contexts_unplaced, 1);
}

/*
 * Returns the place where the process keeps its context, as user space has found it; NULL: not
 * known yet, or the process has none.
 */
static __always_inline const struct context_place *context_place_of(struct task_struct *task,
								    struct scratch *scratch)
{
	u32 key = bpf_get_current_pid_tgid() >> 32;
	const struct context_place *place = bpf_map_lookup_elem(&context_places, &key);

	if (!place || place->process != task->group_leader->start_time ||
	    place->execs != task->self_exec_id) {
		context_request_place(task, key);
		place = NULL;
	}
	if (!place || place->way == CONTEXT_UNKNOWN) {
		scratch->counters.context_unknown++;
		return NULL;
	}
	return place->way == CONTEXT_NONE ? NULL : place;
}

/*
 * Returns the address of a thread's block of thread-local storage for a module. glibc's vector has
 * an element of two words for each module, and the first word of an element is the address of the
 * block; the number of elements is stored 16 bytes in front of the vector. 0: the thread has no
 * block of the module. < 0: unreadable.
 */
static __always_inline s64 tls_block_of_module(u64 pointer, u32 module)
{
	u64 vector, count, block;

	if (bpf_probe_read_user(&vector, 8, (void *)(pointer + THREAD_VECTOR_AT)) ||
	    bpf_probe_read_user(&count, 8, (void *)(vector - 16)))
		return -EFAULT;
	if (module > count)
		return 0;
	if (bpf_probe_read_user(&block, 8, (void *)(vector + 16 * (u64)module)))
		return -EFAULT;
	return block == ~0ULL ? 0 : (s64)block;
}

/* Returns the address of the thread's record; 0: no record. < 0: unreadable. */
static __always_inline s64 context_record_address(u64 pointer, const struct context_place *place)
{
	s64 from = pointer;
	u64 record;

	if (place->way == CONTEXT_DYNAMIC)
		from = tls_block_of_module(pointer, place->module);
	if (from <= 0)
		return from;
	if (bpf_probe_read_user(&record, 8, (void *)(from + place->offset)))
		return -EFAULT;
	return record >> 63 ? -EFAULT : (s64)record;
}

/*
 * Sets scratch->context to the context of the current thread; all 0: the thread has no context, or
 * the record could not be read. As a global function this is verified once for all programs.
 * Without
 * --trace-ids the function is empty.
 */
__noinline int context_read(struct scratch *scratch)
{
	struct thread_context_record record = {};
	const struct context_place *place;
	struct task_struct *task;
	u64 pointer;
	s64 at;

	if (!config.trace_ids || !scratch)
		return 0;
	scratch->context[0] = scratch->context[1] = scratch->context[2] = 0;
	task = (void *)bpf_get_current_task_btf();
	if (!task->mm || task->flags & PF_IO_WORKER)
		return 0;
	place = context_place_of(task, scratch);
	pointer = place ? thread_pointer_of(&task->thread) : 0;
	if (!pointer)
		return 0;
	at = context_record_address(pointer, place);
	if (at > 0 && bpf_probe_read_user(&record, THREAD_CONTEXT_BYTES, (void *)at))
		at = -EFAULT;
	if (at < 0)
		scratch->counters.context_unread++;
	if (at <= 0 || record.is_valid != 1 || !(record.trace[0] | record.trace[1]) || !record.span)
		return 0;
	scratch->context[0] = record.trace[0];
	scratch->context[1] = record.trace[1];
	scratch->context[2] = record.span;
	return 0;
}

/*
 * Stores the trace context of the current thread, which begins to wait, for the event that ends the
 * wait.
 */
__noinline int context_keep(struct scratch *scratch, u32 tid, u64 since)
{
	struct waiting_context kept = {.since = since};

	if (!config.trace_ids || !scratch)
		return 0;
	context_read(scratch);
	kept.word[0] = scratch->context[0];
	kept.word[1] = scratch->context[1];
	kept.word[2] = scratch->context[2];
	if (!kept.word[2])
		return bpf_map_delete_elem(&waiting_contexts, &tid);
	if (bpf_map_update_elem(&waiting_contexts, &tid, &kept, BPF_ANY))
		scratch->counters.context_unread++;
	return 0;
}

/* Sets scratch->context to the trace context that context_keep() stored when the wait began. */
__noinline int context_take(struct scratch *scratch, u32 tid, u64 since)
{
	const struct waiting_context *kept;

	if (!config.trace_ids || !scratch)
		return 0;
	kept = bpf_map_lookup_elem(&waiting_contexts, &tid);
	if (!kept)
		return 0;
	if (kept->since == since) {
		scratch->context[0] = kept->word[0];
		scratch->context[1] = kept->word[1];
		scratch->context[2] = kept->word[2];
	}
	return 0;
}

#endif
