/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of perf as values of events: what a counter has counted in a thread since the thread's
 * last event that read the counter.
 *
 * Each CPU has its own counter, which goes on through all threads. A program at each switch divides
 * the count between the threads:
 *
 *   begin   of a CPU: the count when the thread that runs there got the CPU
 *   sum     of a thread: the counts of all its times on a CPU that are over
 *
 *   count of a thread that runs = sum + count of the CPU - begin
 *
 * A thread has a sum since its first event. Sums have the address of the task_struct as their key,
 * as accounts of time have (thread_time.h), and end when the thread does.
 *
 * A switch may be unseen (thread_time.h), and a counter may be unreadable: its CPU has come online
 * and has no counter yet. A CPU knows which thread begin belongs to, and how often that thread had
 * switched. If these do not fit, or the counter goes backwards, the count is not known. The next
 * event of the thread has no value then, and the thread is counted from that event on (base) until
 * it switches. An event in an NMI may come when the kernel has counted a switch that no program has
 * seen yet, so a base is also tied to the CPU's number of changes.
 *
 * A program of a user function may lose its CPU to other threads and get it back. The number of
 * changes says that it did, and the program reads again. The number is odd during a change: an
 * event in an NMI does not read then.
 */
#ifndef BPF_THREAD_COUNT_H
#define BPF_THREAD_COUNT_H

#include "deferral.h"
#include "kernel/kernel_types.h"
#include "question.h"
#include "state/instance.h"
#include "state/map.h"

#define COUNT_UNKNOWN (~0ULL)
#define COUNT_NONE (~0ULL - 1) /* the thread has had no event that read the counter */
#define IS_COUNT(count) ((count) < COUNT_NONE)
#define COUNT_TRIES 3

struct thread_count {
	u64 sum[COUNTERS_MAX];
	/* thread's count at the last event that read the counter; COUNT_UNKNOWN; or COUNT_NONE */
	u64 last[COUNTERS_MAX];
	/* count of the CPU at the first event after a switch that no program saw */
	u64 base[COUNTERS_MAX];
	/* number of switches of the thread at the event from which it is counted; ~0: no such event
	 */
	u64 base_switches[COUNTERS_MAX];
	/* COUNT_PLACE() at the event from which the thread is counted */
	u64 base_place[COUNTERS_MAX];
};

/* A CPU and the CPU's number of changes (struct cpu_count), in one word. */
#define COUNT_PLACE(cpu, changes) ((u64)(cpu) << 48 | (changes))

struct cpu_count {
	u64 task;     /* thread that has the CPU; 0: no switch was seen yet */
	u64 switches; /* number of switches of the thread of `begin` when it got the CPU */
	u64 changes;
	/* count of the CPU when the thread got the CPU; or COUNT_UNKNOWN */
	u64 begin[COUNTERS_MAX];
};

HASH_MAP(thread_counts, 1, u64, struct thread_count); /* key: address of the task_struct */
MAP_OF(cpu_counts, BPF_MAP_TYPE_PERCPU_ARRAY, 0, 1, u32, struct cpu_count);

/* The counters of all CPUs; the index is COUNTER_INDEX(). User space sets the size. */
MAP_OF(counters, BPF_MAP_TYPE_PERF_EVENT_ARRAY, 0, 1, u32, u32);

/* 1: the program at sched_switch is attached. */
u64 counts_open;

u64 counts_first;  /* number of events before which their thread was not counted */
u64 counts_unread; /* number of events whose count is not known */
u64 counts_unkept; /* number of events of threads for which thread_counts had no room */

/*
 * The number of times that a task has left a CPU. While this number does not change, the task has
 * not begun to run.
 */
static __always_inline u64 count_switches_of_task(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

static __always_inline u64 read_perf_counter_of_cpu(u32 counter, u32 cpu)
{
	struct bpf_perf_event_value value = {};
	u64 index = COUNTER_INDEX(counter, cpu, config.cpus);

	if (bpf_perf_event_read_value(&counters, index, &value, sizeof(value)))
		return COUNT_UNKNOWN;
	return value.counter;
}

static __always_inline void set_count_unknown(u64 *last)
{
	if (atomic_load_relaxed(last) != COUNT_NONE)
		atomic_store_relaxed(last, COUNT_UNKNOWN);
}

static __always_inline void set_thread_counts_unknown(u64 task)
{
	struct thread_count *count = bpf_map_lookup_elem(&thread_counts, &task);
	u32 i;

#pragma clang loop unroll(full)
	for (i = 0; count && i < COUNTERS_MAX; i++)
		set_count_unknown(&count->last[i]);
}

/*
 * Returns the count of the CPU from which the thread's count starts; or COUNT_UNKNOWN. `place`: the
 * CPU and its number of changes now. `switches`: how often the thread had switched when it got the
 * CPU. The thread's base is used before the CPU's begin. A base with one switch more belongs to an
 * event in the current switch, which the kernel has counted already.
 */
static __always_inline u64 cpu_count_at_thread_begin(const struct cpu_count *own,
						     const struct thread_count *count, u64 task,
						     u64 switches, u64 place, u32 counter)
{
	if (atomic_load_relaxed(&count->base_switches[counter]) - switches <= 1 &&
	    atomic_load_relaxed(&count->base_place[counter]) == place)
		return atomic_load_relaxed(&count->base[counter]);
	if (!own->task || (own->task == task && own->switches == switches))
		return atomic_load_relaxed(&own->begin[counter]);
	return COUNT_UNKNOWN;
}

/*
 * Adds what a counter has counted on this CPU to the thread that leaves the CPU, and begins the
 * count of the next thread.
 */
static __always_inline void hand_over_counter_to_next_thread(struct cpu_count *own,
							     struct thread_count *count, u64 task,
							     u64 switches, u32 counter, u32 cpu)
{
	u64 now = read_perf_counter_of_cpu(counter, cpu),
	    place = COUNT_PLACE(cpu, own->changes - 1);
	u64 begin =
		count ? cpu_count_at_thread_begin(own, count, task, switches, place, counter) : 0;

	own->begin[counter] = now;
	if (!count)
		return;
	if (now == COUNT_UNKNOWN || begin == COUNT_UNKNOWN || now < begin)
		set_count_unknown(&count->last[counter]);
	else
		count->sum[counter] += now - begin;
}

/*
 * Divides the counts of the CPU at a switch: the task `before` leaves the CPU to the task `after`.
 */
static __always_inline void hand_over_counters_at_switch(const struct task_struct *before,
							 const struct task_struct *after,
							 bool is_dead, u32 cpu)
{
	u64 key = (u64)before;
	u32 zero = 0, i;
	struct cpu_count *own = bpf_map_lookup_elem(&cpu_counts, &zero);
	struct thread_count *count;

	if (!own)
		return;
	if (own->task && own->task != key)
		set_thread_counts_unknown(own->task);
	atomic_add_relaxed(&own->changes, 1);
	count = bpf_map_lookup_elem(&thread_counts, &key);
#pragma clang loop unroll(full)
	for (i = 0; i < COUNTERS_MAX; i++)
		if (i < config.counters)
			hand_over_counter_to_next_thread(
				own, count, key, count_switches_of_task(before) - 1, i, cpu);
	own->task = (u64)after;
	own->switches = count_switches_of_task(after);
	atomic_add_relaxed(&own->changes, 1);
	if (count && is_dead)
		bpf_map_delete_elem(&thread_counts, &key);
}

/*
 * The initial struct thread_count, with an element for each of the COUNTERS_MAX counters. It is a
 * constant, because a thread_count is too large for the BPF stack.
 */
_Static_assert(COUNTERS_MAX == 4, "no_event_yet has four");

static const struct thread_count no_event_yet = {
	.last = {COUNT_NONE, COUNT_NONE, COUNT_NONE, COUNT_NONE},
	.base_switches = {~0ULL, ~0ULL, ~0ULL, ~0ULL},
};

static __always_inline struct thread_count *thread_count_find_or_add(u64 task)
{
	struct thread_count *count = bpf_map_lookup_elem(&thread_counts, &task);

	if (count)
		return count;
	bpf_map_update_elem(&thread_counts, &task, &no_event_yet, BPF_NOEXIST);
	return bpf_map_lookup_elem(&thread_counts, &task);
}

/*
 * The count of a counter in the current task since the task's first event; or COUNT_UNKNOWN.
 * `switches` is how often the task had switched when it got the CPU.
 */
static __always_inline u64 count_of_current_task_so_far(const struct thread_count *count,
							const struct task_struct *task, u32 counter,
							u64 switches)
{
	u32 cpu = bpf_get_smp_processor_id(), zero = 0, i;
	struct cpu_count *own = bpf_map_lookup_elem(&cpu_counts, &zero);
	u64 changes, begin, now, sum;

	if (!own)
		return COUNT_UNKNOWN;
#pragma clang loop unroll(full)
	for (i = 0; i < COUNT_TRIES; i++) {
		changes = atomic_load_relaxed(&own->changes);
		if (changes & 1)
			return COUNT_UNKNOWN;
		begin = cpu_count_at_thread_begin(own, count, (u64)task, switches,
						  COUNT_PLACE(cpu, changes), counter);
		sum = atomic_load_relaxed(&count->sum[counter]);
		now = read_perf_counter_of_cpu(counter, cpu);
		if (atomic_load_relaxed(&own->changes) != changes)
			continue;
		if (begin == COUNT_UNKNOWN || now == COUNT_UNKNOWN || now < begin)
			return COUNT_UNKNOWN;
		return sum + now - begin;
	}
	return COUNT_UNKNOWN;
}

/*
 * Begins the current task's count anew, at the present count of the CPU. A task that loses its CPU
 * meanwhile has no base, and neither has an event in an NMI during a change, which may still add
 * counts from before the event.
 */
static __always_inline void count_thread_from_now(struct thread_count *count,
						  const struct task_struct *task, u32 counter,
						  u64 in_switch)
{
	u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct cpu_count *own = bpf_map_lookup_elem(&cpu_counts, &zero);
	u64 switches = count_switches_of_task(task) - in_switch, changes, now;

	atomic_store_relaxed(&count->base_switches[counter], ~0ULL);
	atomic_store_relaxed(&count->last[counter], COUNT_UNKNOWN);
	if (!own)
		return;
	changes = atomic_load_relaxed(&own->changes);
	now = read_perf_counter_of_cpu(counter, cpu);
	if (changes & 1 || now == COUNT_UNKNOWN)
		return;
	atomic_store_relaxed(&count->base[counter], now);
	atomic_store_relaxed(&count->base_place[counter], COUNT_PLACE(cpu, changes));
	atomic_store_relaxed(&count->base_switches[counter], switches);
	atomic_store_relaxed(&count->last[counter], atomic_load_relaxed(&count->sum[counter]));
	if (count_switches_of_task(task) - in_switch != switches)
		atomic_store_relaxed(&count->last[counter], COUNT_UNKNOWN);
}

/*
 * The value of an event: the count since the thread's last event that read the counter. An event
 * of an interrupt may come between reading and storing; this event then gets the rest of the
 * count.
 */
__noinline u64 count_since_last_event_of_thread(u32 counter, u32 in_switch)
{
	const struct task_struct *task;
	struct thread_count *count;
	u64 total, last;

	if (!config.counters || counter >= COUNTERS_MAX)
		return 0;
	core_one_register(counter);
	counter &= COUNTERS_MAX - 1;
	if (!atomic_load_relaxed(&counts_open)) {
		atomic_add_relaxed(&counts_first, 1);
		return 0;
	}
	task = (void *)bpf_get_current_task_btf();
	count = thread_count_find_or_add((u64)task);
	if (!count) {
		atomic_add_relaxed(&counts_unkept, 1);
		return 0;
	}
	last = atomic_load_relaxed(&count->last[counter]);
	total = count_of_current_task_so_far(count, task, counter,
					     count_switches_of_task(task) - in_switch);
	if (total == COUNT_UNKNOWN) {
		count_thread_from_now(count, task, counter, in_switch);
		atomic_add_relaxed(&counts_unread, 1);
		return 0;
	}
	if (last == COUNT_NONE)
		atomic_add_relaxed(&counts_first, 1);
	else if (last == COUNT_UNKNOWN)
		atomic_add_relaxed(&counts_unread, 1);
	else if (total <= last)
		return 0;
	if (atomic_cas_acq_rel(&count->last[counter], last, total) != last || !IS_COUNT(last))
		return 0;
	return total - last;
}

#endif
