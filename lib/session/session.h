/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A running recording. `record`, `top`, `script --follow`, `agent`, `start`, `doctor` and the
 * library (stackmap/capture.h) use a session; each of them is a "face" of the session.
 *
 *   create (options are checked) -> open (all is loaded, the output is open) -> start (events come)
 *   -> publish (a file gets its name) -> visit, again and again -> stop -> end -> close
 *
 * Events come from programs that the session loads ("own programs") or from an instance. They go to
 * a file, to the files of a rotation, to windows in memory (session_take_window_or_snapshot()), or
 * nowhere. As a flight recorder, own programs keep the last events, and session_snapshot() and
 * session_end() write these events to a file.
 *
 * A visit handles everything that is due: CPUs that came online, the rings, the time of the next
 * visit, flushing, the end of a rotation's file, symbols. Between visits the face waits, and
 * handles signals, keys and clocks. A session does not print, and does not change signals, limits
 * or privileges. Only one thread may use it.
 */
#ifndef LIB_SESSION_H
#define LIB_SESSION_H

#include "session/session_options.h"
#include "trace/read/reader.h"

/* a window is full with this many events, so that it is processed quickly */
#define SESSION_WINDOW_EVENTS_MAX 100000

enum session_state {
	SESSION_CHOSEN,
	SESSION_OPEN,
	SESSION_RUNNING,
	SESSION_STOPPED, /* no more events are produced; those in the rings are still to be read */
	SESSION_ENDED,
};

enum session_kind {
	SESSION_OWN,	/* the session records by programs that this process loads */
	SESSION_READER, /* the session reads and removes the events of an instance */
	/* the session copies the events of a flight-recorder instance, repeatedly */
	SESSION_VIEWER,
	SESSION_SNAPSHOT, /* copies the events of an instance once, under the instance's lock:
			     immediately, or when a trigger has happened */
};

/* Callbacks for the reports of a running session. Both functions may be NULL. */
struct session_listener {
	void *arg;
	/* Called when a file has ended; `ledger` accounts for its events. */
	void (*file_ended)(void *arg, const char *path, const struct trace_ledger *ledger,
			   u64 bytes);
	/* Called for a failure after which a rotation continues. */
	void (*warned)(void *arg, const struct stackmap_error *error);
};

struct session;

/*
 * Checks the options. Their pointers must stay valid until session_open() has returned. The names
 * of the instance, output, host and windows must stay valid as long as the session. Returns the
 * errors of session_target_choose(). *out is untouched on failure.
 */
int session_create(const struct session_options *options, const struct session_listener *listener,
		   struct session **out, struct stackmap_error *error);

/*
 * Loads the programs, or opens the instance, and opens the output. `command`: a child that will
 * execve `command_path`; 0 and NULL: there is no command. Returns the errors of capture_create()
 * and folder_open().
 */
int session_open(struct session *session, pid_t command, const char *command_path,
		 struct stackmap_error *error);

/* Starts the recording of events. Before this call an instance is not changed. */
int session_start(struct session *session, struct stackmap_error *error);

/* Gives the output file its name. A file that already has the name becomes FILE.old. */
int session_publish(struct session *session, struct stackmap_error *error);

/*
 * Returns the milliseconds until the next visit is due; 0: the window is full, and must be taken;
 * or -errno: the file cannot be written, or no window can be opened.
 */
int session_visit(struct session *session, struct stackmap_error *error);

/*
 * A descriptor that becomes readable when the next visit is due immediately: the programs have met
 * code in a new mapping, whose file may be deleted soon. -1 if the last visit has not drained the
 * rings.
 */
int session_wake_fd(const struct session *session);

/* For a flight recorder or a snapshot of an instance: writes what the rings hold now to a file. */
int session_snapshot(struct session *session, const char *path, struct stackmap_error *error);

/*
 * For windows: returns all events since the last window, or what the viewed instance holds, and
 * begins the next window. After session_stop() it returns the last window. *copy, if not NULL,
 * becomes a descriptor of the recording, which the caller closes, or -1.
 */
int session_take_window_or_snapshot(struct session *session, struct trace_reader **reader,
				    int *copy, struct stackmap_error *error);

/*
 * Stops the events, and drains the rings. An instance continues. A snapshot of an instance is
 * written in this call and shows this moment. May take a second.
 */
int session_stop(struct session *session, struct stackmap_error *error);

/* Finishes the file: writes the remaining events, the symbols and the ledger. May take seconds. */
int session_end(struct session *session, struct stackmap_error *error);

/*
 * Closes a session in any state. An open file keeps its events, but has no symbols and no ledger.
 * Sets *session to NULL.
 */
void session_close(struct session **session);

enum session_state session_state(const struct session *session);
enum session_kind session_kind(const struct session *session);
/* Returns the session's capture; NULL: the session is not open. */
struct capture *session_capture(const struct session *session);
const struct session_target *session_target(const struct session *session);

/*
 * The sum of the ledgers of all ended files or windows; for a viewer, the ledger of the instance.
 */
const struct trace_ledger *session_ledger(const struct session *session);

/* Returns the state of the session's triggers (session/trigger.h). */
struct trigger_watch;
const struct trigger_watch *session_triggers(const struct session *session);

/* True if a file of the rotation could not be written completely. A warning has reported this. */
bool session_has_failed(const struct session *session);

/* True for a snapshot of an instance that does not wait for a trigger. */
bool session_is_snapshot_without_trigger(const struct session *session);

/* True if no more events will come: the instance, or all chosen processes, have ended. */
bool session_is_over(const struct session *session);

/* Number of events and of bytes in the file that is being written; 0: no file is open. */
u64 session_file_events(const struct session *session);
u64 session_file_bytes(const struct session *session);

/* Path of a file that is made after privileges were dropped; NULL: no such file. */
const char *session_path_of_file_opened_later(const struct session *session);

/* Sampling rate in Hz; 0: no event is sampled at a rate. */
u64 session_frequency(const struct session *session);
int session_set_frequency(struct session *session, u64 frequency);

#endif
