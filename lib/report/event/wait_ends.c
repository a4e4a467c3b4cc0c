/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/event/wait_ends.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"
#include "order.h"
#include "ring.h"
#include "trace/block/source_name.h"

/* The events of waiters and wakers are in one array, sorted by the begin of the wait. The event of
 * the waiter comes before that of the waker. */

struct wakeups {
	u32 waiter, waker, holder; /* kinds of the events of waiters, wakers and lock holders;
				      TRACE_NO_SOURCE: not in the recording */
	const struct trace_source *sources;
	/* ns: a wait that began at this time or earlier began before the recording. The first time
	 * is for events of offcpu-time, the second time for events of thread accounts. */
	u64 recording_begin, times_begin;
	struct trace_event *events;
	u32 count, room;
};

bool wakeups_is_wait(const struct wakeups *wakeups, const struct trace_event *event)
{
	return event->kind == wakeups->waiter;
}

bool wakeups_is_waker(const struct wakeups *wakeups, const struct trace_event *event)
{
	return event->kind == wakeups->waker;
}

bool wakeups_is_holder(const struct wakeups *wakeups, const struct trace_event *event)
{
	return event->kind == wakeups->holder;
}

static bool is_wait_waker_or_holder_event(const struct wakeups *wakeups,
					  const struct trace_event *event)
{
	return wakeups_is_wait(wakeups, event) || wakeups_is_waker(wakeups, event) ||
	       wakeups_is_holder(wakeups, event);
}

static int collect_wait_event(void *arg, const struct trace_event *event)
{
	struct wakeups *wakeups = arg;

	if (event->is_counted || !is_wait_waker_or_holder_event(wakeups, event))
		return 0;
	if (array_make_room(wakeups->events, wakeups->count, wakeups->room))
		return -ENOMEM;
	wakeups->events[wakeups->count++] = *event;
	return 0;
}

static int compare_events_by_wait_begin(const void *left, const void *right)
{
	const struct trace_event *a = left, *b = right;

	return order(wait_begin_time(a), wait_begin_time(b)) ?: order(b->time, a->time);
}

/* Joins the readable events of a damaged file. Events of a summary are not joined: an event that
 * stands for many waits has the sum of their times, and no begin. */
int wakeups_create(struct trace_reader *reader, struct wakeups **out)
{
	struct wakeups *wakeups = calloc(1, sizeof(*wakeups));
	int result = 0;
	const struct thread_account *accounts;
	u32 count;
	u64 begin;

	if (!wakeups)
		return -ENOMEM;
	wakeups->waiter = trace_reader_source_named(reader, "offcpu-time");
	wakeups->waker = trace_reader_source_named(reader, "offcpu-waker");
	wakeups->holder = trace_reader_source_named(reader, "offcpu-holder");
	trace_reader_sources(reader, &wakeups->sources);
	wakeups->recording_begin = trace_reader_info(reader)->start_monotonic;
	/* The accounts of all threads that existed at the start begin at the same time, before all
	 * other accounts. */
	count = trace_reader_accounts(reader, &accounts);
	begin = count ? UINT64_MAX : 0;
	for (u32 i = 0; i < count; i++)
		if (accounts[i].begin < begin)
			begin = accounts[i].begin;
	wakeups->times_begin = begin;
	if (wakeups->waker != TRACE_NO_SOURCE && !trace_reader_info(reader)->is_summary)
		result = trace_reader_events(reader, collect_wait_event, wakeups, NULL);
	if (wakeups->count)
		qsort(wakeups->events, wakeups->count, sizeof(*wakeups->events),
		      compare_events_by_wait_begin);
	*out = wakeups;
	if (result == -ENOMEM)
		wakeups_free(out);
	return result == -ENOMEM ? result : 0;
}

void wakeups_free(struct wakeups **wakeups)
{
	if (*wakeups)
		free((*wakeups)->events);
	free(*wakeups);
	*wakeups = NULL;
}

bool wakeups_wait_began_before_recording(const struct wakeups *wakeups,
					 const struct trace_event *event)
{
	u64 begin = wait_begin_time(event);

	if (!event_is_single(event))
		return false;
	if (event->kind == wakeups->waiter)
		return begin <= wakeups->recording_begin;
	return trace_source_state(wakeups->sources[event->kind].name) &&
	       begin <= wakeups->times_begin;
}

bool wakeups_has_wakers(const struct wakeups *wakeups)
{
	return wakeups->waker != TRACE_NO_SOURCE;
}

/* A waiter may be woken while the holder of its lock is searched for. The wait then has both a
 * waker and a holder, and the holder is ignored. */
const struct trace_event *wakeups_other_event_of_wait(const struct wakeups *wakeups,
						      const struct trace_event *event)
{
	u64 begin = wait_begin_time(event);
	const struct trace_event *wait = NULL, *waker = NULL, *holder = NULL, *end;
	u32 waits = 0, wakers = 0, holders = 0;

	if (!is_wait_waker_or_holder_event(wakeups, event))
		return NULL;
	for (size_t i = bisect(wakeups->count, i, wait_begin_time(&wakeups->events[i]) < begin);
	     i < wakeups->count && wait_begin_time(&wakeups->events[i]) == begin; i++) {
		const struct trace_event *each = &wakeups->events[i];

		if (wakeups_is_wait(wakeups, each) && ++waits)
			wait = each;
		else if (wakeups_is_waker(wakeups, each) && ++wakers)
			waker = each;
		else if (++holders)
			holder = each;
	}
	end = wakers ? waker : holder;
	if (waits != 1 || (wakers ?: holders) != 1)
		return NULL;
	if (wakeups_is_wait(wakeups, event))
		return end;
	return event->kind == end->kind ? wait : NULL;
}

u32 wakeups_events(const struct wakeups *wakeups, const struct trace_event **events)
{
	*events = wakeups->events;
	return wakeups->count;
}

struct end {
	/* addresses of the kernel and user path, label id of `comm`, `holds_lock` */
	struct intern_key key;
	struct wait_end is;
};

struct wait_ends {
	struct trace_reader *reader;
	struct frame_names *names;
	struct event_paths *paths;
	const struct wakeups *wakeups;
	const char *const *idle; /* globs of functions in which a thread is idle */
	size_t idle_count;
	struct intern ends;
	struct wait_end unknown;
};

/* Kernel functions that call the handlers of interrupts, and the kind of the interrupt. */
static const struct {
	const char *caller, *kind;
} dispatchers[] = {
	{"__hrtimer_run_queues", "timer"},
	{"call_timer_fn", "timer"},
	{"__run_timers", "timer"},
	{"handle_softirqs", "softirq"},
	{"__do_softirq", "softirq"},
	{"__handle_irq_event_percpu", "interrupt"},
	{"__flush_smp_call_function_queue", "other CPU's call"},
	{"irq_work_single", "irq work"},
};

/* Sets the function that an interrupt has called: the frame that the innermost dispatcher called,
 * or else the entry of the interrupt. */
static void set_interrupt_function(const struct frame_names *names, struct wait_end *end)
{
	const struct profile_path *path = end->kernel;

	end->interrupt = "interrupt";
	if (path->depth)
		end->function = frame_names_label(names, path->labels[path->depth - 1]);
	for (u32 i = 1; i < path->depth; i++) {
		const char *name = frame_names_label(names, path->labels[i]);

		for (size_t j = 0; j < sizeof(dispatchers) / sizeof(*dispatchers); j++) {
			if (strcmp(name, dispatchers[j].caller))
				continue;
			end->interrupt = dispatchers[j].kind;
			end->function = frame_names_label(names, path->labels[i - 1]);
			return;
		}
	}
}

static const char *const idle_functions[] = {WAIT_IDLE_FUNCTIONS};

static bool matches_any_function(const char *const *globs, size_t count, const char *label)
{
	size_t bytes = strlen(label), mark = strlen(FRAME_INLINED_MARK);
	char name[256];

	if (bytes > mark && !strcmp(label + bytes - mark, FRAME_INLINED_MARK))
		bytes -= mark;
	if (bytes >= sizeof(name))
		return false;
	memcpy(name, label, bytes);
	name[bytes] = '\0';
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(globs[i], name, 0))
			return true;
	return false;
}

bool wait_function_is_idle(const struct string_list *idle, const char *label)
{
	if (idle->count)
		return matches_any_function((const char *const *)idle->items, idle->count, label);
	return matches_any_function(idle_functions,
				    sizeof(idle_functions) / sizeof(*idle_functions), label);
}

static bool has_idle_function(const struct wait_ends *ends, const struct profile_path *path)
{
	for (u32 i = 0; i < path->depth; i++)
		if (matches_any_function(ends->idle, ends->idle_count,
					 frame_names_label(ends->names, path->labels[i])))
			return true;
	return false;
}

const struct wait_end *wait_ends_find(struct wait_ends *ends, const struct trace_event *event)
{
	const struct trace_task *task;
	struct wait_end is = {};
	struct intern_key key = {};
	struct end *end;

	if (!event)
		return &ends->unknown;
	task = trace_reader_task(ends->reader, event->tid, event->time);
	memcpy(is.comm, task ? task->comm : "", task ? sizeof(is.comm) : 1);
	is.holds_lock = ends->wakeups && wakeups_is_holder(ends->wakeups, event);
	is.kernel =
		event_paths_find(ends->paths, event->kernel, event->kernel_reason, PATH_NO_LEAF);
	is.user = event_paths_find(ends->paths, event->user, event->user_reason, PATH_NO_LEAF);
	key.word[0] = intern_word_of_address(is.kernel);
	key.word[1] = intern_word_of_address(is.user);
	key.word[2] = (u64)frame_names_intern_text(ends->names, is.comm) << 1 | is.holds_lock;
	end = is.kernel && is.user ? intern_find_or_add_entry(&ends->ends, &key) : NULL;
	if (!end)
		return NULL;
	if (end->is.kernel)
		return &end->is;
	if (event->tid == TID_INTERRUPT)
		set_interrupt_function(ends->names, &is);
	is.is_idle = has_idle_function(ends, is.kernel) || has_idle_function(ends, is.user);
	end->is = is;
	return &end->is;
}

void wait_pair_add(struct wait_pair *pair, const struct trace_event *wait,
		   const struct trace_event *other, u64 ns)
{
	pair->count++;
	pair->total += ns;
	if (other && wait->time > other->time)
		pair->until_run += wait->time - other->time < ns ? wait->time - other->time : ns;
	if (pair->longest && pair->most >= ns)
		return;
	pair->most = ns;
	pair->longest = wait;
}

int wait_ends_create(struct trace_reader *reader, struct frame_names *names,
		     struct event_paths *paths, const struct wakeups *wakeups,
		     const struct string_list *idle, struct wait_ends **out)
{
	struct wait_ends *ends = calloc(1, sizeof(*ends));

	if (!ends)
		return -ENOMEM;
	*ends = (struct wait_ends){
		.reader = reader,
		.names = names,
		.paths = paths,
		.wakeups = wakeups,
		.idle = idle->count ? (const char *const *)idle->items : idle_functions,
		.idle_count = idle->count ?: sizeof(idle_functions) / sizeof(*idle_functions),
		.ends = INTERN(struct end)};
	*out = ends;
	return 0;
}

void wait_ends_free(struct wait_ends **ends)
{
	if (*ends)
		intern_clear(&(*ends)->ends);
	free(*ends);
	*ends = NULL;
}
