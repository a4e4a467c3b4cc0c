/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table is made in one pass over all events in the order of time. The pass keeps for each
 * thread the last futex, the last sleep, and the locks of the kernel that the thread waits for: a
 * few at once, since a thread that waits for a mutex may wait for the mutex's spinlock as well.
 */
#include "report/event/lock_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "order.h"

#define OPEN_MAX 4U /* most locks that one thread waits for at once */
/* The upper bits of a kernel address, which the value of a lock event lacks. */
#define KERNEL_ADDRESS 0xff00000000000000ULL

/* A copy of an event, which wait_pair.longest points to. */
struct kept_event {
	struct intern_key key; /* number of the copy, from 1 */
	struct trace_event event;
};

struct thread {
	struct intern_key key; /* thread id */
	const struct trace_event *open[OPEN_MAX];
	u32 open_count;
	u64 futex; /* address in the thread's last call of futex(2); 0: no call yet */
	const struct trace_event *sleep; /* event of the thread's last sleep */
};

struct lock {
	struct intern_key key; /* the key of a lock: address, process, type */
	struct lock_row row;
};

struct pair {
	struct intern_key key; /* the key of a pair: addresses of the lock and of both ends */
	struct wait_pair is;
};

struct table {
	struct lock_table shown; /* first member: lock_table_create() returns its address */
	struct trace_reader *reader;
	const struct event_filter *filter;
	struct frame_names *names;
	struct wakeups *wakeups;
	struct wait_ends *ends;
	u32 begin, end, futex; /* kinds of lock:contention_begin, lock:contention_end and
				  sys_enter_futex; TRACE_NO_SOURCE: not in the recording */
	struct intern events, threads, locks, pairs;
	const struct wait_pair **sorted;
};

/* A part of the name of a function that waits for a lock, and the type of the lock. The innermost
 * frame with such a name gives the type. */
static const struct {
	const char *part, *type;
} types[] = {
	{"queued_read_lock", "rwlock (read)"},
	{"queued_write_lock", "rwlock (write)"},
	{"spin_lock_slowpath", "spinlock"},
	{"rwsem_down_read", "rwsem (read)"},
	{"rwsem_down_write", "rwsem (write)"},
	{"percpu_rwsem", "percpu-rwsem"},
	{"percpu_down", "percpu-rwsem"},
	{"rt_mutex", "rtmutex"},
	{"rtlock", "rtmutex"},
	{"pthread_rwlock", "rwlock"},
	{"pthread_cond", "condition"},
	{"sem_wait", "semaphore"},
	{"sem_clockwait", "semaphore"},
	{"new_sem_", "semaphore"},
	{"pthread_barrier", "barrier"},
	{"pthread_clockjoin", "end of a thread"},
	{"pthread_timedjoin", "end of a thread"},
	{"mutex", "mutex"},
	{"lll_lock", "mutex"},
};

static const char *find_lock_type_by_functions(const struct frame_names *names,
					       const struct profile_path *path)
{
	for (u32 i = 0; i < path->depth; i++) {
		const char *name = frame_names_label(names, path->labels[i]);

		for (size_t j = 0; j < sizeof(types) / sizeof(*types); j++)
			if (strstr(name, types[j].part))
				return types[j].type;
	}
	return NULL;
}

static bool has_path_futex_function(const struct frame_names *names,
				    const struct profile_path *path)
{
	for (u32 i = 0; i < path->depth; i++)
		if (strstr(frame_names_label(names, path->labels[i]), "futex"))
			return true;
	return false;
}

static const struct trace_event *copy_event(struct table *table, const struct trace_event *event)
{
	const struct intern_key key = {{table->events.count + 1}};
	struct kept_event *kept = intern_find_or_add_entry(&table->events, &key);

	if (!kept)
		return NULL;
	kept->event = *event;
	return &kept->event;
}

static struct lock *find_or_add_lock(struct table *table, u64 address,
				     const struct trace_task *task, const char *type)
{
	const struct intern_key key = {
		{address, task ? task->tgid : 0, intern_word_of_address(type)}};
	struct lock *lock = intern_find_or_add_entry(&table->locks, &key);
	const struct trace_task *first;

	if (!lock || lock->row.count)
		return lock;
	lock->row = (struct lock_row){.address = address, .comm = "", .type = type};
	if (task) {
		first = trace_reader_task(table->reader, task->tgid, task->time) ?: task;
		lock->row.tgid = task->tgid;
		lock->row.comm = first->comm;
	}
	return lock;
}

/* Adds a wait for the lock. `wait` is the event with the waiter's stacks, `other` the event of the
 * waker or NULL. */
static int add_lock_wait(struct table *table, struct lock *lock, const struct trace_event *wait,
			 const struct trace_event *other, u64 ns)
{
	const struct wait_end *sleeper = wait_ends_find(table->ends, wait);
	const struct wait_end *waker = wait_ends_find(table->ends, other);
	const struct intern_key key = {{intern_word_of_address(lock),
					intern_word_of_address(sleeper),
					intern_word_of_address(waker)}};
	struct pair *pair =
		lock && sleeper && waker ? intern_find_or_add_entry(&table->pairs, &key) : NULL;

	if (!pair)
		return -ENOMEM;
	if (!pair->is.count)
		pair->is = (struct wait_pair){.sleeper = *sleeper, .waker = *waker};
	lock->row.pair_count += !pair->is.count;
	wait_pair_add(&pair->is, wait, wait->kind == table->begin ? NULL : other, ns);
	lock->row.count++;
	lock->row.total += ns;
	lock->row.most = ns > lock->row.most ? ns : lock->row.most;
	table->shown.waits++;
	table->shown.total += ns;
	return 0;
}

static int add_kernel_lock_wait_of_contention(struct table *table, struct thread *thread,
					      const struct trace_event *event)
{
	const struct trace_event *begin = NULL, *other = NULL;
	const struct wait_end *sleeper;
	const char *type;
	u32 i;

	for (i = 0; i < thread->open_count && !begin; i++)
		if (thread->open[i]->value == event->value)
			begin = thread->open[i];
	if (!begin)
		return 0;
	thread->open_count = i - 1; /* the end events of waits that began later were lost */
	if (thread->sleep && wait_begin_time(thread->sleep) >= begin->time)
		other = wakeups_other_event_of_wait(table->wakeups, thread->sleep);
	sleeper = wait_ends_find(table->ends, begin);
	if (!sleeper)
		return -ENOMEM;
	type = find_lock_type_by_functions(table->names, sleeper->kernel) ?: "lock";
	return add_lock_wait(table,
			     find_or_add_lock(table, begin->value | KERNEL_ADDRESS, NULL, type),
			     begin, other, event->time - begin->time);
}

static int add_futex_wait_of_sleep(struct table *table, struct thread *thread,
				   const struct trace_event *event)
{
	const struct trace_task *task = trace_reader_task(table->reader, event->tid, event->time);
	const struct wait_end *sleeper;

	thread->sleep = copy_event(table, event);
	sleeper = thread->sleep ? wait_ends_find(table->ends, event) : NULL;
	if (!sleeper)
		return -ENOMEM;
	if (!task || !has_path_futex_function(table->names, sleeper->kernel))
		return 0;
	return add_lock_wait(
		table,
		find_or_add_lock(table, thread->futex, task,
				 find_lock_type_by_functions(table->names, sleeper->user)
					 ?: "futex"),
		thread->sleep, wakeups_other_event_of_wait(table->wakeups, event), event->value);
}

static int handle_lock_event(void *arg, const struct trace_event *event)
{
	struct table *table = arg;
	bool is_sleep = wakeups_is_wait(table->wakeups, event);
	struct thread *thread;

	if (event->is_counted)
		return 0;
	if ((event->kind != table->begin && event->kind != table->end &&
	     event->kind != table->futex && !is_sleep) ||
	    !event_filter_passes(table->filter, table->reader, event))
		return 0;
	thread = intern_find_or_add_entry(&table->threads, &(struct intern_key){{event->tid}});
	if (!thread)
		return -ENOMEM;
	if (is_sleep)
		return add_futex_wait_of_sleep(table, thread, event);
	if (event->kind == table->begin) {
		for (u32 i = 0; i < thread->open_count; i++)
			if (thread->open[i]->value == event->value)
				return 0; /* second begin event of one wait: the thread sleeps after
					     spinning */
		if (thread->open_count == OPEN_MAX) /* the end event of the oldest wait was lost */
			memmove(thread->open, thread->open + 1,
				--thread->open_count * sizeof(*thread->open));
		thread->open[thread->open_count] = copy_event(table, event);
		return thread->open[thread->open_count++] ? 0 : -ENOMEM;
	}
	if (event->kind == table->end)
		return add_kernel_lock_wait_of_contention(table, thread, event);
	thread->futex = event->value;
	return 0;
}

/* --- rows of the table --- */

static int compare_total_waits(u64 left, u64 right, u64 left_count, u64 right_count)
{
	return order(right, left) ?: order(right_count, left_count);
}

static int compare_waits_by_lock_and_total(const void *left, const void *right)
{
	const struct pair *a = *(const struct pair *const *)left;
	const struct pair *b = *(const struct pair *const *)right;
	const struct lock *first = (const struct lock *)(uintptr_t)a->key.word[0];
	const struct lock *second = (const struct lock *)(uintptr_t)b->key.word[0];

	return compare_total_waits(first->row.total, second->row.total, first->row.count, second->row.count)
		       ?: order(first->row.address, second->row.address)
		       ?: order(a->key.word[0], b->key.word[0])
		       ?: compare_total_waits(a->is.total, b->is.total, a->is.count, b->is.count);
}

/* Sorts the pairs by lock. The pairs of each lock then follow each other, in the order of the
 * rows. */
static int make_lock_rows(struct table *table)
{
	u32 count = table->pairs.count;

	table->sorted = calloc(count + 1UL, sizeof(*table->sorted));
	table->shown.rows = calloc(table->locks.count + 1UL, sizeof(*table->shown.rows));
	if (!table->sorted || !table->shown.rows)
		return -ENOMEM;
	if (count)
		qsort(table->pairs.entries, count, sizeof(*table->pairs.entries),
		      compare_waits_by_lock_and_total);
	for (u32 i = 0; i < count; i++) {
		struct pair *pair = table->pairs.entries[i];
		struct lock *lock = (struct lock *)(uintptr_t)pair->key.word[0];

		table->sorted[i] = &pair->is;
		if (lock->row.pairs)
			continue;
		lock->row.pairs = &table->sorted[i];
		table->shown.rows[table->shown.count++] = &lock->row;
	}
	return 0;
}

int lock_table_create(struct trace_reader *reader, const struct event_filter *filter,
		      struct frame_names *names, struct event_paths *paths, struct lock_table **out)
{
	struct table *table = calloc(1, sizeof(*table));
	struct lock_table *shown = (struct lock_table *)table;
	static const struct string_list none;
	int err;

	if (!table)
		return -ENOMEM;
	*table = (struct table){.reader = reader,
				.filter = filter,
				.names = names,
				.events = INTERN(struct kept_event),
				.threads = INTERN(struct thread),
				.locks = INTERN(struct lock),
				.pairs = INTERN(struct pair)};
	table->begin = trace_reader_source_named(reader, "lock:contention_begin");
	table->end = trace_reader_source_named(reader, "lock:contention_end");
	table->futex = trace_reader_source_named(reader, "syscalls:sys_enter_futex");
	err = wakeups_create(reader, &table->wakeups)
		      ?: wait_ends_create(reader, names, paths, table->wakeups, &none,
					  &table->ends);
	if (!err && table->begin == TRACE_NO_SOURCE && table->futex == TRACE_NO_SOURCE)
		err = -ENODATA;
	if (!err && trace_reader_events(reader, handle_lock_event, table, NULL) == -ENOMEM)
		err = -ENOMEM;
	err = err ?: make_lock_rows(table);
	if (err)
		lock_table_free(&shown);
	else
		*out = shown;
	return err;
}

void lock_table_free(struct lock_table **shown)
{
	struct table *table = (struct table *)*shown;

	if (!table)
		return;
	intern_clear(&table->events);
	intern_clear(&table->threads);
	intern_clear(&table->locks);
	intern_clear(&table->pairs);
	wait_ends_free(&table->ends);
	wakeups_free(&table->wakeups);
	free(table->sorted);
	free(table->shown.rows);
	free(table);
	*shown = NULL;
}
