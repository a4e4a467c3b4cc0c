/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recording from within a program, as `stackmap record` does: to a file, or followed live.
 *
 *   to a file:  open -> start -> poll, again and again -> stop -> ledger -> close
 *   live:       open -> start -> next, again and again -> stop -> next, until -ENODATA -> close
 *
 * To a file, a capture can be a flight recorder, which keeps the last events and writes them on
 * request, or write one file after another. Either way, the events can be those of an instance that
 * `stackmap start` has started.
 *
 * Events wait in one ring for each CPU until poll or next takes them out; the program is not woken.
 * An event that finds its ring full is lost and counted in the ledger. Both calls also attach to
 * CPUs that come online, so the program should call one of them ten times a second, or with a
 * longer `timeout_ms`.
 *
 * The program needs root, or CAP_BPF with CAP_PERFMON. It needs two descriptors for each source
 * (for a perf event, on each CPU), and one for each file of code that is met: see RLIMIT_NOFILE.
 * The program's own threads are not recorded. No signal is caught or blocked.
 *
 * Child processes open other users' files and parse them; the parsers have no privileges. The
 * library makes the children by fork(), at open and later. They end at close, or with the thread
 * that made them: threads that call these functions must live until close. While a program has a
 * capture, it must not wait for any child, as wait() does. Children hold the memory that the
 * program had when they were made: open captures early.
 *
 * One thread at a time uses a capture. `error` may be NULL. If the capture, or a place for the
 * result, is NULL: close does nothing, ledger returns NULL, and the others return -EINVAL.
 */
#ifndef STACKMAP_CAPTURE_H
#define STACKMAP_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "stackmap/error.h"
#include "stackmap/recording.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stackmap_capture;

/*
 * Options of a recording. Later versions add members at the end; `size` tells the library which
 * members the program knows:
 *
 *   struct stackmap_capture_opts opts = {.size = sizeof(opts), .path = "stackmap.data"};
 */
struct stackmap_capture_opts {
	size_t size;
	const char *path; /* path of the recording file; NULL: events are followed live with
			     stackmap_capture_next() */
	/* Words as for `record -e`; the array ends with NULL; NULL: CPU samples. */
	const char *const *events;
	uint64_t frequency;  /* CPU samples per second; 0: 999 */
	const int32_t *pids; /* ids of the only processes that are recorded, with their threads and
				children; the list ends with 0; NULL: all processes */
	const char *comm; /* only tasks with this name, which may be a glob, are recorded; NULL: all
			     tasks */
	const char *cgroup; /* only tasks in this cgroup2 directory or below it are recorded; NULL:
			       all tasks */
	/* Only events on these CPUs, like "0-3,8", are recorded; NULL: all CPUs. */
	const char *cpus;
	uint64_t ring_bytes; /* size of each CPU's ring in bytes; 0: 4 MiB, less above 64 CPUs */
	uint32_t bits;	     /* the stack map holds 2^bits stacks (stack_map.h); 0: 14 */
	uint32_t max_depth;  /* the most frames of a user stack, up to 16384; 0: 16384 */
	int no_kernel_stacks;
	int no_user_stacks;
	uint64_t flight_bytes; /* flight recorder: the rings of all CPUs together have this size in
				  bytes and keep the last events, which snapshot and stop write;
				  needs `path`; 0: no flight recorder, all events are written */
	const char *rotate; /* rotation: files PATH.0001, PATH.0002... are written, each for a time
			       ("60s", "10min", "2h") or up to a size ("100M"); needs `path`; NULL:
			       one file is written */
	uint64_t keep; /* number of files of a rotation that are kept; older files are removed; 0:
			  all are kept */
	/* Name of the instance whose events are read; members that choose what is recorded must not
	 * be set; NULL: the capture records by itself. */
	const char *instance;
};

/*
 * Loads the BPF programs: a missing permission or kernel feature makes this call fail, not a later
 * one. 0 and *out, which the caller passes to stackmap_capture_close(); on failure *out is
 * untouched.
 *
 * -EPERM, -ENOSYS, -EOPNOTSUPP: `error` says what is missing. -ENOENT, -EINVAL, -ERANGE: an event,
 * a list of CPUs or a number is wrong. -ESRCH: a process does not exist. -EINVAL: `opts` is NULL.
 * -ENOENT: the instance does not exist; -EBUSY: another process takes its events.
 * -E2BIG: `size` is that of a later version, and a member that this version does not know is not 0.
 * After the call `opts`, and the memory it points to, may be freed.
 */
int stackmap_capture_open(const struct stackmap_capture_opts *opts, struct stackmap_capture **out,
			  struct stackmap_error *error);

/* Begins to record events. The recording file gets its name; an existing file becomes FILE.old. */
int stackmap_capture_start(struct stackmap_capture *capture, struct stackmap_error *error);

/*
 * To a file: takes events out of the rings, for about `timeout_ms`, or until a signal was caught.
 * On failure the file holds everything written before and takes no more: only stop and close
 * remain. -EINVAL: the capture is not started, is stopped, or is live.
 */
int stackmap_capture_poll(struct stackmap_capture *capture, unsigned int timeout_ms,
			  struct stackmap_error *error);

/* Flight recorder: writes the events that the rings have now to the file `path`; recording goes on.
 * -EINVAL: no flight recorder is running. */
int stackmap_capture_snapshot(struct stackmap_capture *capture, const char *path,
			      struct stackmap_error *error);

/* Returns a number other than 0 if no more events will come, because the instance, or all processes
 * of `pids`, have ended. stackmap_capture_stop() is still to be called. */
int stackmap_capture_is_over(const struct stackmap_capture *capture);

/*
 * Live: gives the events of about `timeout_ms`; a caught signal, or some hundred thousand events,
 * end the window earlier. A window may have no events. *out belongs to the caller, and may be
 * closed at any time, even after the capture. Each window has its own numbers of stacks, sources
 * and frames. If the instance is a flight recorder, each window has all events that the instance
 * holds then. -ENODATA: the capture was stopped, and all events were given. -EINVAL: the capture is
 * not started, or writes to a file.
 */
int stackmap_capture_next(struct stackmap_capture *capture, unsigned int timeout_ms,
			  struct stackmap_recording **out, struct stackmap_error *error);

/*
 * Stops recording. To a file: takes the remaining events, symbolizes all code and finishes the
 * file, which may take seconds. Live: next gives the remaining events. An instance continues; of an
 * instance that is a flight recorder, the file is written by this call. -EIO: a file of a rotation
 * could not be written. -EINVAL: not started, or already stopped.
 */
int stackmap_capture_stop(struct stackmap_capture *capture, struct stackmap_error *error);

/*
 * Returns the ledger, the account of all events. To a file: for the whole recording, after stop;
 * NULL before. Live: for all windows so far. The ledger belongs to the capture and is valid until
 * the next call on the capture.
 */
const struct stackmap_ledger *stackmap_capture_ledger(struct stackmap_capture *capture);

/*
 * Frees the capture and sets *capture to NULL. The file of a capture that was not stopped has its
 * events, but no symbols and no ledger.
 */
void stackmap_capture_close(struct stackmap_capture **capture);

#ifdef __cplusplus
}
#endif
#endif
