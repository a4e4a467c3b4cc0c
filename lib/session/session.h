/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording that goes on. `record`, `top`, `script --follow`, `agent`, `start`, `doctor` and the
 * library (stackmap/capture.h) are faces of a session.
 *
 *   create (options are checked) -> open (all is loaded, the output is open) -> start (events come)
 *   -> publish (a file gets its name) -> visit, again and again -> stop -> end -> close
 *
 * Events come from own programs or from an instance. They go to a file, to the files of a rotation,
 * to windows in memory (session_take()), or nowhere. With a flight size, own programs keep the last
 * events, and session_snapshot() and session_end() write them.
 *
 * One visit does all that goes on: CPUs that came online, the rings, the pace, flushing, the end of
 * a rotation's file, names. The face waits between visits, and looks at signals, keys and clocks.
 * A session neither prints nor touches signals, limits and privileges. One thread uses it.
 */
#ifndef LIB_SESSION_H
#define LIB_SESSION_H

#include "session/session_options.h"
#include "trace/read/reader.h"

#define SESSION_WINDOW_EVENTS_MAX                                                                  \
	100000 /* of a window, so that its events are quickly worked off */

enum session_state {
	SESSION_CHOSEN,
	SESSION_OPEN,
	SESSION_RUNNING,
	SESSION_STOPPED, /* no event comes any more; what is in the rings is yet to be taken */
	SESSION_ENDED,
};

enum session_kind {
	SESSION_OWN,	  /* programs that this process loads */
	SESSION_READER,	  /* takes the events of an instance */
	SESSION_VIEWER,	  /* copies what a flight instance holds, again and again */
	SESSION_SNAPSHOT, /* copies the events of an instance once, under the instance's lock:
			     immediately, or when a trigger has happened */
};

/* Callbacks for the reports of a running session. Both functions may be NULL. */
struct session_listener {
	void *arg;
	/* A file has ended, with this ledger. */
	void (*file_ended)(void *arg, const char *path, const struct trace_ledger *ledger,
			   u64 bytes);
	/* A rotation goes on although this failed. */
	void (*warned)(void *arg, const struct stackmap_error *error);
};

struct session;

/* Checks the options. Their pointers must stay valid until session_open() has returned; the names
 * of the instance, the output, the host and windows as long as the session. Errors of
 * session_target_choose(). *out is untouched on failure. */
int session_create(const struct session_options *options, const struct session_listener *listener,
		   struct session **out, struct stackmap_error *error);

/* Loads the programs, or opens the instance, and opens the output. `command`: a child that will
 * execve `command_path`; 0 and NULL: no command. Errors of capture_create(), folder_open(). */
int session_open(struct session *session, pid_t command, const char *command_path,
		 struct stackmap_error *error);

/* Events come from now on: until here an instance is only looked at. */
int session_start(struct session *session, struct stackmap_error *error);

/* The file gets its name; a file that has the name becomes FILE.old. */
int session_publish(struct session *session, struct stackmap_error *error);

/* In how many ms the next visit is due; 0: the window is full, and is to be taken; or -errno: the
 * file cannot be written, or no window can be opened. */
int session_visit(struct session *session, struct stackmap_error *error);

/* A descriptor that is readable when the next visit is due at once: the programs have met new code,
 * whose file may be gone soon. -1: none, if the last visit has not drained. */
int session_wake_fd(const struct session *session);

/* Flight, or a snapshot of an instance: writes what the rings hold now to a file. */
int session_snapshot(struct session *session, const char *path, struct stackmap_error *error);

/* Windows: all events since the last window, or what the instance that is viewed holds. The next
 * window begins. After session_stop(), it is the last one. *copy, if not NULL: a descriptor of the
 * recording, for the caller to close, or -1. */
int session_take(struct session *session, struct trace_reader **reader, int *copy,
		 struct stackmap_error *error);

/* Events end, and what is in the rings is drained. An instance goes on; a snapshot of an instance
 * is of this moment, and is written here. May take a second. */
int session_stop(struct session *session, struct stackmap_error *error);

/* Finishes the file: the rest of the events, names, the ledger. May take seconds. */
int session_end(struct session *session, struct stackmap_error *error);

/* Closes a session in any state; an open file keeps the events that it has, without names and
 * ledger. Sets *session to NULL. */
void session_close(struct session **session);

enum session_state session_state(const struct session *session);
enum session_kind session_kind(const struct session *session);
struct capture *session_capture(const struct session *session); /* NULL: not opened */
const struct session_target *session_target(const struct session *session);

/* Sum of the files or windows that have ended; of a viewer, the ledger of the instance. */
const struct trace_ledger *session_ledger(const struct session *session);

/* The state of triggers (session/trigger.h). */
struct trigger_watch;
const struct trigger_watch *session_triggers(const struct session *session);

/* A file of the rotation was not written as it should be, which was reported as a warning. */
bool session_has_failed(const struct session *session);

/* True for a snapshot of an instance that waits for no trigger. */
bool session_is_copied_at_once(const struct session *session);

/* No more events will come: the instance, or all processes that were chosen, have ended. */
bool session_is_over(const struct session *session);

/* Events and bytes of the file that is written; 0: no file is open. */
u64 session_file_events(const struct session *session);
u64 session_file_bytes(const struct session *session);

/* A file that is made after privileges were dropped; NULL: no file. */
const char *session_later_file(const struct session *session);

/* Hz of the events that are sampled at a rate; 0: no such event. */
u64 session_frequency(const struct session *session);
int session_set_frequency(struct session *session, u64 frequency);

#endif
