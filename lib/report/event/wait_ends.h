/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both ends of a wait, with their stacks: the thread that slept, and the thread or interrupt that
 * woke the thread. Equal ends are one object. An interrupt is named after its kind and the kernel
 * function that it had to call, which its stack tells.
 *
 * A sleeper is idle, not blocked, if one of a list of functions is on its stack.
 */
#ifndef LIB_REPORT_WAIT_ENDS_H
#define LIB_REPORT_WAIT_ENDS_H

#include "array.h"
#include "report/event/event_paths.h"
#include "trace/read/reader.h"

/*
 * Joins the two events of a wait: the event of the thread that waited, and that of the other end.
 * The other end is the thread or interrupt that woke the thread (offcpu-waker), or the thread that
 * holds the lock for which the thread still waits when the recording ends (offcpu-holder). The two
 * events share no number but the begin of the wait: each event has its time, and as its value the
 * duration of the wait until then. If more than two events have the same begin, by chance, none of
 * them is joined.
 */

struct wakeups;

/* Reads all events if the recording has wakers. -ENOMEM. */
int wakeups_create(struct trace_reader *reader, struct wakeups **out);
void wakeups_free(struct wakeups **wakeups);

/* Whether the recording has wakers: it was made with --wakers. */
bool wakeups_has_wakers(const struct wakeups *wakeups);

bool wakeups_is_wait(const struct wakeups *wakeups, const struct trace_event *event);
bool wakeups_is_waker(const struct wakeups *wakeups, const struct trace_event *event);
bool wakeups_is_holder(const struct wakeups *wakeups, const struct trace_event *event);

/* The event at the other end of the wait. NULL: not known. */
const struct trace_event *wakeups_other(const struct wakeups *wakeups,
					const struct trace_event *event);

/* The events of both ends by the begin of the wait; a recording without wakers has none. */
u32 wakeups_events(const struct wakeups *wakeups, const struct trace_event **events);

/* Whether a wait began before the recording: its value is the time since then. */
bool wakeups_is_since_before(const struct wakeups *wakeups, const struct trace_event *event);

static inline u64 wait_begin(const struct trace_event *event)
{
	return event->time - event->value;
}

/* One end of a wait. */
struct wait_end {
	char comm[16];
	const char *interrupt;		   /* "timer", "softirq"...; NULL: a thread */
	const char *function;		   /* the kernel function that the interrupt called */
	const struct profile_path *kernel; /* NULL: the end is not known */
	const struct profile_path *user;
	bool is_idle;	 /* the sleeper waits for work */
	bool holds_lock; /* the thread has not woken the sleeper, and holds its lock */
};

/* A pair, or a step of a chain. */
struct wait_pair {
	struct wait_end sleeper, waker;
	u64 count;
	u64 total;			   /* ns, of which */
	u64 until_run;			   /* the sleeper was woken already, but had no CPU */
	u64 most;			   /* ns; the longest wait, */
	const struct trace_event *longest; /* and its event */
	u32 depth;	 /* 0: a pair; else a step of the chain of the pair above */
	bool is_partial; /* the chain below has more waits than are followed */
	bool is_cycle;	 /* the lock's holder waits for the thread of a pair above: a deadlock */
};

struct wait_ends;

/* The functions of idle sleepers unless others are chosen: a thread there waits for whatever comes
 * next, from clients, users, timers or other threads that have work. */
#define WAIT_IDLE_FUNCTIONS                                                                        \
	"ep_poll", "do_epoll_wait*", "do_poll*", "do_sys_poll", "do_select", "inet_csk_accept",    \
		"unix_accept", "n_tty_read", "do_sigtimedwait*", "*sys_pause", "*sys_*sigsuspend", \
		"io_cqring_wait", "worker_thread", "kthread_worker_fn", "smpboot_thread_fn",       \
		"rescuer_thread", "kthreadd", "rcu_gp_kthread", "rcu_tasks_kthread", "kswapd",     \
		"kcompactd", "kauditd_thread", "khugepaged", "ksmd", "oom_reaper", "kjournald2",   \
		"kdevtmpfs", "watchdog"

/* Whether a function, as a frame's label names it, is one of these globs; none:
 * WAIT_IDLE_FUNCTIONS. */
bool wait_is_idle_function(const struct string_list *idle, const char *label);

/* `wakeups` NULL: no event is of a holder; `idle`: globs, none: WAIT_IDLE_FUNCTIONS. All arguments
 * must outlive the ends. -ENOMEM. */
int wait_ends_create(struct trace_reader *reader, struct frame_names *names,
		     struct event_paths *paths, const struct wakeups *wakeups,
		     const struct string_list *idle, struct wait_ends **out);
void wait_ends_free(struct wait_ends **ends);

/* The end that an event tells of; NULL: the end that is not known. NULL without memory. */
const struct wait_end *wait_ends_find(struct wait_ends *ends, const struct trace_event *event);

/* Adds `ns` of a wait, of which `other` is the event of the other end or NULL. */
void wait_pair_add(struct wait_pair *pair, const struct trace_event *wait,
		   const struct trace_event *other, u64 ns);

#endif
