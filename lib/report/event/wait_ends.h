/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both ends of a wait, with their stacks: the thread that slept, and the thread or interrupt that
 * woke the thread. Equal ends are one object. An interrupt is named after its kind and the kernel
 * function that it called, both found on its stack.
 *
 * A sleeping thread is idle, not blocked, if its stack has one of a list of functions.
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

/* True if the recording was made with --wakers. */
bool wakeups_has_wakers(const struct wakeups *wakeups);

bool wakeups_is_wait(const struct wakeups *wakeups, const struct trace_event *event);
bool wakeups_is_waker(const struct wakeups *wakeups, const struct trace_event *event);
bool wakeups_is_holder(const struct wakeups *wakeups, const struct trace_event *event);

/* For the event of one end of a wait: the event of the other end. NULL: unknown. */
const struct trace_event *wakeups_other_event_of_wait(const struct wakeups *wakeups,
						      const struct trace_event *event);

/* Sets *events to the events of both ends of all waits, sorted by the begin of the wait, and
 * returns their number: 0 for a recording without wakers. */
u32 wakeups_events(const struct wakeups *wakeups, const struct trace_event **events);

/* True if the wait began before the recording. The event's value is then the time since the
 * recording began. */
bool wakeups_wait_began_before_recording(const struct wakeups *wakeups,
					 const struct trace_event *event);

static inline u64 wait_begin_time(const struct trace_event *event)
{
	return event->time - event->value;
}

/* One end of a wait. */
struct wait_end {
	char comm[16];
	const char *interrupt; /* kind of the interrupt: "timer", "softirq"...; NULL: the end is a
				  thread */
	const char *function;  /* the kernel function that the interrupt called */
	const struct profile_path *kernel; /* kernel path of the end; NULL: the end is not known */
	const struct profile_path *user;
	bool is_idle;	 /* true: the sleeper waits for work */
	bool holds_lock; /* the thread has not woken the sleeper, and holds its lock */
};

/* A pair of sleeper and waker, or a step of a chain. */
struct wait_pair {
	struct wait_end sleeper, waker;
	u64 count;
	u64 total;     /* sum of all waits of the pair, ns */
	u64 until_run; /* ns of `total` after the sleeper was woken and before it got a CPU */
	u64 most;      /* ns of the longest wait */
	const struct trace_event *longest; /* the event of the pair's longest wait */
	u32 depth; /* 0: the struct is a pair; else its number as a step in the chain of the last
		      pair before it */
	bool is_partial; /* true: the chain has more waits than were followed */
	bool is_cycle;	 /* the lock's holder waits for the thread of a pair above: a deadlock */
};

struct wait_ends;

/* The functions, as globs, in which a thread is idle unless the user names others: a thread waits
 * there for the next request of a client, a user, a timer or another thread. */
#define WAIT_IDLE_FUNCTIONS                                                                        \
	"ep_poll", "do_epoll_wait*", "do_poll*", "do_sys_poll", "do_select", "inet_csk_accept",    \
		"unix_accept", "n_tty_read", "do_sigtimedwait*", "*sys_pause", "*sys_*sigsuspend", \
		"io_cqring_wait", "worker_thread", "kthread_worker_fn", "smpboot_thread_fn",       \
		"rescuer_thread", "kthreadd", "rcu_gp_kthread", "rcu_tasks_kthread", "kswapd",     \
		"kcompactd", "kauditd_thread", "khugepaged", "ksmd", "oom_reaper", "kjournald2",   \
		"kdevtmpfs", "watchdog"

/* True if the function of the frame label matches a glob of `idle`. An empty list stands for
 * WAIT_IDLE_FUNCTIONS. */
bool wait_function_is_idle(const struct string_list *idle, const char *label);

/* `wakeups` NULL: no event is that of a lock's holder. `idle`: globs; an empty list stands for
 * WAIT_IDLE_FUNCTIONS. All arguments must outlive the ends. -ENOMEM. */
int wait_ends_create(struct trace_reader *reader, struct frame_names *names,
		     struct event_paths *paths, const struct wakeups *wakeups,
		     const struct string_list *idle, struct wait_ends **out);
void wait_ends_free(struct wait_ends **ends);

/* The end that the event describes; an event of NULL stands for the unknown end. Returns NULL
 * without memory. */
const struct wait_end *wait_ends_find(struct wait_ends *ends, const struct trace_event *event);

/* Adds `ns` of a wait to the pair. `other` is the event of the wait's other end, or NULL. */
void wait_pair_add(struct wait_pair *pair, const struct trace_event *wait,
		   const struct trace_event *other, u64 ns);

#endif
