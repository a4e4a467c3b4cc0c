/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/event/wait_ends.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "ring.h"

struct end {
	struct intern_key key; /* addresses of both paths; name, and whether it holds a lock */
	struct wait_end is;
};

struct wait_ends {
	struct trace_reader *reader;
	struct frame_names *names;
	struct event_paths *paths;
	const struct wakeups *wakeups;
	const char *const *idle; /* globs */
	size_t idle_count;
	struct intern ends;
	struct wait_end unknown;
};

/* Kernel functions that call what an interrupt has to do, and the kind of interrupt. */
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

/* Sets what an interrupt has called: the frame below the innermost dispatcher, or else the entry of
 * the interrupt. */
static void set_interrupt(const struct frame_names *names, struct wait_end *end)
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

static bool is_function_of(const char *const *globs, size_t count, const char *label)
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

bool wait_is_idle_function(const struct string_list *idle, const char *label)
{
	if (idle->count)
		return is_function_of((const char *const *)idle->items, idle->count, label);
	return is_function_of(idle_functions, sizeof(idle_functions) / sizeof(*idle_functions),
			      label);
}

static bool is_idle_in(const struct wait_ends *ends, const struct profile_path *path)
{
	for (u32 i = 0; i < path->depth; i++)
		if (is_function_of(ends->idle, ends->idle_count,
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
	key.word[0] = intern_address(is.kernel);
	key.word[1] = intern_address(is.user);
	key.word[2] = (u64)frame_names_intern(ends->names, is.comm) << 1 | is.holds_lock;
	end = is.kernel && is.user ? intern_entry(&ends->ends, &key) : NULL;
	if (!end)
		return NULL;
	if (end->is.kernel)
		return &end->is;
	if (event->tid == TID_INTERRUPT)
		set_interrupt(ends->names, &is);
	is.is_idle = is_idle_in(ends, is.kernel) || is_idle_in(ends, is.user);
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
