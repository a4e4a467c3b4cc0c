/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trace, span and attributes of the current thread (--trace-ids, abi/thread_context.h). The thread
 * is interrupted or in the kernel while its record is read: a thread marks its record as invalid
 * before it changes the record, so the read sees no half-written ids, and the attributes are those
 * of the ids. A page that is missing at the event is read in the callback of the event's cookie.
 *
 * The programs add an entry for a process that is new or has called execve. The events of a process
 * have no ids until user space has completed the entry.
 */
#ifndef BPF_THREAD_CONTEXT_H
#define BPF_THREAD_CONTEXT_H

#include "arch/arch.h"
#include "deferral/deferred_stack.h"
#include "deferral/deliver.h"
#include "deferral/execve.h"
#include "kernel/kernel_types.h"
#include "keyed_hash.h"
#include "mapping/file_memory.h"
#include "stack/unwinder.h"
#include "state/map.h"
#include "state/scratch_slots.h"
#include "state/task_ids.h"
#include "thread_context.h"

HASH_MAP(context_places, 1, u32, struct context_place);	    /* key: the kernel's process id */
HASH_MAP(waiting_contexts, 1, u32, struct waiting_context); /* key: tid, as in the map `blocked` */
SHARED_ARRAY_MAP(attribute_slots, 1, struct attribute_slot);

/* number of failed attempts to add the entry of a process to context_places */
u64 contexts_unplaced;

/*
 * Adds an entry for the process of the current task to context_places, which user space is to
 * complete.
 */
static __always_inline void context_request_place(struct task_struct *task, u32 key)
{
	struct context_place asked = {
		.process = task->group_leader->start_time,
		.execs = task->self_exec_id,
		.tgid = tgid_of_typed_task(task),
	};

	if (bpf_map_update_elem(&context_places, &key, &asked, BPF_ANY))
		atomic_add_relaxed(&contexts_unplaced, 1);
}

/*
 * Returns the entry of the current task's process if the entry is of the program that the process
 * runs now; else NULL.
 */
static __always_inline const struct context_place *
context_place_of_current_process(struct task_struct *task, u32 key)
{
	const struct context_place *place = bpf_map_lookup_elem(&context_places, &key);

	return place && place->process == task->group_leader->start_time &&
			       place->execs == task->self_exec_id
		       ? place
		       : NULL;
}

/*
 * Returns the place where the process keeps its context, as user space has found it; NULL: not
 * known yet, or the process has none.
 */
static __always_inline const struct context_place *context_place_of(struct task_struct *task,
								    struct scratch *scratch)
{
	u32 key = bpf_get_current_pid_tgid() >> 32;
	const struct context_place *place = context_place_of_current_process(task, key);

	if (!place)
		context_request_place(task, key);
	if (!place || place->way == CONTEXT_UNKNOWN) {
		scratch->counters.context_unknown++;
		return NULL;
	}
	return place->way == CONTEXT_NONE ? NULL : place;
}

/*
 * Reads memory of the current task. `search` is NULL in programs that may not sleep; in the
 * callback it is in the task's address space, and the read waits for missing pages. 0 or -EFAULT.
 */
static __always_inline int context_memory_read(void *to, u32 bytes, u64 from,
					       struct vma_search *search)
{
	if (!bpf_probe_read_user(to, bytes, (const void *)from))
		return 0;
	if (!search || !may_wait_for_pages_of_read(search, from, from + bytes - 1) ||
	    bpf_copy_from_user(to, bytes, (const void *)from))
		return -EFAULT;
	return 0;
}

/*
 * Returns the address of a thread's block of thread-local storage for a module. glibc's vector has
 * an element of two words for each module, and the first word of an element is the address of the
 * block; the number of elements is stored 16 bytes in front of the vector. 0: the thread has no
 * block of the module. < 0: unreadable.
 */
static __always_inline s64 tls_block_of_module(u64 pointer, u32 module, struct vma_search *search)
{
	u64 vector, count, block;

	if (context_memory_read(&vector, 8, pointer + THREAD_VECTOR_AT, search) ||
	    context_memory_read(&count, 8, vector - 16, search))
		return -EFAULT;
	if (module > count)
		return 0;
	if (context_memory_read(&block, 8, vector + 16 * (u64)module, search))
		return -EFAULT;
	return block == ~0ULL ? 0 : (s64)block;
}

/* Returns the address of the thread's record; 0: no record. < 0: unreadable. */
static __always_inline s64 context_record_address(u64 pointer, const struct context_place *place,
						  struct vma_search *search)
{
	s64 from = pointer;
	u64 record;

	if (place->way == CONTEXT_DYNAMIC)
		from = tls_block_of_module(pointer, place->module, search);
	if (from <= 0)
		return from;
	if (context_memory_read(&record, 8, from + place->offset, search))
		return -EFAULT;
	return record >> 63 ? -EFAULT : (s64)record;
}

/* Reads `bytes` bytes of attributes, at most ATTRIBUTE_BYTES_MAX. 0 or -EFAULT. */
static __always_inline int attributes_read(struct context_attributes *attributes, u32 bytes,
					   u32 program, u64 from, struct vma_search *search)
{
	core_one_register(bytes);
	if (bytes > ATTRIBUTE_BYTES_MAX)
		return -EFAULT;
	attributes->word[ATTRIBUTE_WORDS(bytes) - 1] = 0;
	attributes->bytes = bytes;
	attributes->program = program;
	return context_memory_read(attributes->data, bytes, from, search);
}

struct attribute_hashing {
	struct keyed_hash hash;
	const struct context_attributes *attributes;
};

static long attribute_word_hash(u32 i, struct attribute_hashing *hashing)
{
	core_one_register(i);
	if (i < ATTRIBUTE_WORDS(ATTRIBUTE_BYTES_MAX))
		keyed_hash_add(&hashing->hash, hashing->attributes->word[i]);
	return 0;
}

/* Writes the attributes to the slot of their set that was written first, unless another program
 * writes there: the reader counts events whose attributes it does not find. */
static __always_inline void attributes_write(const struct context_attributes *attributes, u64 hash,
					     u32 first)
{
	struct attribute_slot *slot = bpf_map_lookup_elem(&attribute_slots, &first);
	u32 index;

	if (!slot)
		return;
	index = first + atomic_fetch_add_acq_rel(&slot->turn, 1) % ATTRIBUTE_WAYS;
	slot = bpf_map_lookup_elem(&attribute_slots, &index);
	if (!slot || atomic_exchange_acq_rel(&slot->busy, 1))
		return;
	atomic_store_release(&slot->hash, 0);
	bpf_probe_read_kernel(&slot->attributes, sizeof(slot->attributes), attributes);
	atomic_store_release(&slot->hash, hash);
	atomic_store_release(&slot->busy, 0);
}

/* Returns the hash of the attributes, under which the table then has them. A global function:
 * verified once. */
__noinline u64 attributes_keep(struct context_attributes *attributes)
{
	struct attribute_hashing hashing = {.attributes = attributes};
	u32 words, first, index;
	u64 hash;

	if (!config.trace_ids || !attributes)
		return 0;
	words = ATTRIBUTE_WORDS(attributes->bytes);
	keyed_hash_begin(&hashing.hash, config.attribute_key[0], config.attribute_key[1]);
	bpf_loop(words, attribute_word_hash, &hashing, 0);
	hash = keyed_hash_end(&hashing.hash, words);
	if (hash < ATTRIBUTES_LEAST_HASH)
		hash += ATTRIBUTES_LEAST_HASH;
	first = hash % ATTRIBUTE_SETS * ATTRIBUTE_WAYS;
	for (u32 way = 0; way < ATTRIBUTE_WAYS; way++) {
		const struct attribute_slot *slot;

		index = first + way;
		slot = bpf_map_lookup_elem(&attribute_slots, &index);
		if (slot && atomic_load_relaxed(&slot->hash) == hash)
			return hash;
	}
	attributes_write(attributes, hash, first);
	return hash;
}

/*
 * Sets `words`, which are 0, to the context of the thread with this thread pointer, if it has one.
 * `attributes` is memory for the attributes. 0; -EFAULT: the words lack what could not be read.
 */
static __always_inline int context_find(u64 pointer, const struct context_place *place,
					struct vma_search *search,
					struct context_attributes *attributes, u64 *words)
{
	struct thread_context_record record = {};
	s64 at = context_record_address(pointer, place, search);

	if (at < 0 || (at > 0 && context_memory_read(&record, THREAD_CONTEXT_BYTES, at, search)))
		return -EFAULT;
	if (record.is_valid != 1 || !(record.trace[0] | record.trace[1]) != !record.span)
		return 0;
	words[0] = record.trace[0];
	words[1] = record.trace[1];
	words[CONTEXT_SPAN] = record.span;
	if (!record.attribute_bytes)
		return 0;
	if (record.attribute_bytes > ATTRIBUTE_BYTES_MAX) {
		words[CONTEXT_ATTRIBUTES] = ATTRIBUTES_TOO_LONG;
		return 0;
	}
	if (attributes_read(attributes, record.attribute_bytes, place->execs,
			    at + THREAD_CONTEXT_BYTES, search)) {
		words[CONTEXT_ATTRIBUTES] = ATTRIBUTES_UNREADABLE;
		return -EFAULT;
	}
	words[CONTEXT_ATTRIBUTES] = attributes_keep(attributes);
	return 0;
}

/*
 * Sets scratch->context to the context of the current thread; all 0: the thread has no context, or
 * the record could not be read. -EFAULT: the memory was not there; call
 * context_request_from_callback() then. As a global function this is verified once for all
 * programs. Without --trace-ids the function is empty.
 */
__noinline int context_read(struct scratch *scratch)
{
	const struct context_place *place;
	struct task_struct *task;
	u64 pointer;

	if (!config.trace_ids || !scratch)
		return 0;
	context_words_clear(scratch->context);
	task = (void *)bpf_get_current_task_btf();
	if (!task->mm || task->flags & PF_IO_WORKER)
		return 0;
	place = context_place_of(task, scratch);
	pointer = place ? thread_pointer_of(&task->thread) : 0;
	return pointer ? context_find(pointer, place, NULL, &scratch->attributes, scratch->context)
		       : 0;
}

/*
 * The callback reads a context that an event could not read. The callback's entry into the kernel
 * must be that of the event, so that the thread has run no instruction in between; only then are
 * the ids those of the event. (Another thread may have written to the record; the specification
 * forbids it.) So an event at a user probe, or in the trap of its breakpoint, makes no request: the
 * instruction under the probe may run before the callback.
 */

/*
 * True if a context that could not be read can be left to the callback. A task without an id in
 * this PID namespace has no callback.
 */
static __always_inline bool context_may_be_deferred(const struct scratch *scratch, u32 tid,
						    u32 is_probe)
{
	return config.deferral == DEFERRAL_TASK_WORK && config.user_stacks &&
	       config.user_unwind == USER_UNWIND_AUTO && tid && !is_probe &&
	       !(config.count && is_event_counted_only(scratch)) && !is_exiting() &&
	       !execve_user_stack_field() && !is_at_breakpoint_trap(0);
}

__noinline u64 thread_pointer_of_current(void)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	return thread_pointer_of(&task->thread);
}

/*
 * Leaves the context of the current thread, which could not be read, to the callback: the words in
 * scratch->context have the cookie. If that cannot be, the event keeps what could be read, or is
 * counted. Ids that were read are kept, since the callback may come too late or never.
 */
__noinline int context_request_from_callback(struct scratch *scratch, u32 is_probe)
{
	struct deferral *deferral;
	u32 tid = current_tid();
	s64 cookie = 0;

	if (!config.trace_ids || !scratch || scratch->context[CONTEXT_SPAN])
		return 0;
	if (context_may_be_deferred(scratch, tid, is_probe))
		cookie = deferral_request(scratch, bpf_get_smp_processor_id());
	deferral = cookie > 0 ? bpf_map_lookup_elem(&deferrals, &tid) : NULL;
	if (!deferral) {
		if (!scratch->context[CONTEXT_ATTRIBUTES])
			scratch->counters.context_unread++;
		return 0;
	}
	deferral->thread_pointer = thread_pointer_of_current();
	deferral->context = cookie;
	context_words_clear(scratch->context);
	scratch->context[0] = CONTEXT_AWAITED((u32)cookie);
	return 0;
}

/*
 * Sets *out to the place of the thread-local variable in which the threads of the current process
 * publish trace and span. 1: *out has the place; 0: user space has not found the place yet, or the
 * process has no such variable.
 */
__noinline int context_place_copy(struct context_place *out)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct context_place *place;

	if (!config.trace_ids || !out || !task->mm)
		return 0;
	place = context_place_of_current_process(task, bpf_get_current_pid_tgid() >> 32);
	if (!place)
		return 0;
	out->execs = place->execs;
	out->offset = place->offset;
	out->module = place->module;
	out->way = place->way;
	return place->way == CONTEXT_STATIC || place->way == CONTEXT_DYNAMIC;
}

/* Writes the words in scratch->context as the context of a cookie to a slot of the ring. */
__noinline int context_commit(struct scratch *scratch, u32 cpu, u64 wait)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct event_slot *slot;
	u64 position;

	if (!config.trace_ids || !scratch || !ring)
		return 0;
	position = deferred_stack_reserve_slot(scratch, cpu);
	slot = position ? (void *)ring_slot(ring, position) : NULL;
	if (!slot)
		return 0;
	slot->tid = wait >> 32;
	slot->stamp = STAMP_OF(bpf_ktime_get_ns(), KIND_DEFERRED_STACK,
			       EVENT_FLAGS(STATE_NONE, STATE_COOKIE));
	slot->kernel = (u32)wait;
	slot->user = 0;
	context_words_copy(&slot->extra[EVENT_NUMBERS(config)], scratch->context);
	atomic_store_release(&slot->commit, COMMIT_OF(position));
	return 0;
}

/*
 * Reads the context in the callback. 0, or -EFAULT: not readable, or the callback is too late. The
 * unwinder is claimed for its search and walks no stack, so the attributes have room in its frames.
 */
static __always_inline int context_read_in_callback(const struct deferral *deferral, u64 *words)
{
	struct context_place place = {};
	u64 pointer = thread_pointer_of_current();
	struct unwinder *unwinder;
	int error = -EFAULT;
	u32 index;

	if (is_entry_changed(&deferral->entry) || pointer != deferral->thread_pointer ||
	    !context_place_copy(&place))
		return -EFAULT;
	index = unwinder_claim();
	unwinder = bpf_map_lookup_elem(&unwinders, &index);
	if (!unwinder)
		return -EFAULT;
	unwinder->cookie = 0;
	unwinder->search.wants_entry = 1;
	if (set_search_to_current_address_space(&unwinder->search))
		error = context_find(pointer, &place, &unwinder->search,
				     (void *)unwinder->walk.frame, words);
	unwinder_release(unwinder);
	return error;
}

static __noinline int context_deliver(const struct deferral *deferral, u64 wait)
{
	u64 words[CONTEXT_WORDS] = {};
	struct scratch *scratch;
	u32 cpu;

	if (context_read_in_callback(deferral, words) && !words[CONTEXT_ATTRIBUTES])
		words[0] = CONTEXT_UNREADABLE;
	cpu = bpf_get_smp_processor_id();
	scratch = scratch_claim(cpu);
	if (!scratch)
		return 0;
	context_words_copy(scratch->context, words);
	context_commit(scratch, cpu, wait);
	scratch_release(scratch);
	return 0;
}

static __always_inline void deferred_context_deliver(struct deferral *deferral, u32 tid, u32 cookie)
{
	if (!config.trace_ids || deferral->context != cookie)
		return;
	deferral->context = 0;
	context_deliver(deferral, STACK_WAIT(tid, cookie));
}

/*
 * Stores scratch->context, the context of the current thread, which begins to wait, until the event
 * of the wait is written.
 */
__noinline int context_keep_until_wait_ends(struct scratch *scratch, u32 tid, u64 since)
{
	struct waiting_context kept = {.since = since};

	if (!config.trace_ids || !scratch)
		return 0;
	context_words_copy(kept.word, scratch->context);
	if (!(kept.word[0] | kept.word[CONTEXT_SPAN] | kept.word[CONTEXT_ATTRIBUTES]))
		return bpf_map_delete_elem(&waiting_contexts, &tid);
	if (bpf_map_update_elem(&waiting_contexts, &tid, &kept, BPF_ANY))
		scratch->counters.context_unread++;
	return 0;
}

/* Sets scratch->context to the trace context that context_keep_until_wait_ends() stored when the
 * wait began. */
__noinline int context_take_kept_at_wait_begin(struct scratch *scratch, u32 tid, u64 since)
{
	const struct waiting_context *kept;

	if (!config.trace_ids || !scratch)
		return 0;
	kept = bpf_map_lookup_elem(&waiting_contexts, &tid);
	if (!kept)
		return 0;
	if (kept->since == since)
		context_words_copy(scratch->context, kept->word);
	return 0;
}

#endif
