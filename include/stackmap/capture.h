/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recording from one's own program, as `stackmap record` does: to a file, or followed live.
 *
 *   to a file:  open -> start -> poll, again and again -> stop -> ledger -> close
 *   live:       open -> start -> next, again and again -> stop -> next, until -ENODATA -> close
 *
 * Events wait in one ring for each CPU until poll or next takes them out; nothing wakes the
 * program. What finds its ring full is lost, and is in the ledger. Both also follow CPUs that come
 * online, so they are to be called ten times a second, or with a longer `timeout_ms`.
 *
 * The program needs root, or CAP_BPF with CAP_PERFMON, and two descriptors for each source, on each
 * CPU if it is a perf event, and one for each file of code that is met: RLIMIT_NOFILE. Its own
 * threads are not recorded. No signal is caught or blocked.
 *
 * Files of others are opened and parsed by child processes, the latter without privileges. They are
 * made by fork(), at open and later, and end at close, or with the thread that made them: threads
 * that call these functions must last until then. While it has a capture, a program must not wait
 * for any child, as wait() does. The children hold what the program had in memory when they were
 * made: captures are best opened early.
 *
 * One thread at a time uses a capture. `error` may be NULL. Without a capture (NULL), or a place
 * for the result, close does nothing, ledger returns NULL, and the others return -EINVAL.
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
 * What to record. A member that is 0 or NULL stands for what is said behind it. Later versions add
 * members at the end; `size` tells them which ones the program knows:
 *
 *   struct stackmap_capture_opts opts = {.size = sizeof(opts), .path = "stackmap.data"};
 */
struct stackmap_capture_opts {
	size_t size;
	const char *path; /* the file; NULL: none, stackmap_capture_next() gives the events */
	const char *const *events; /* as of `stackmap record -e`; NULL ends them. CPU samples */
	uint64_t frequency;	   /* Hz of samples. 999 */
	const int32_t *pids;	   /* processes, with threads and children; 0 ends them. All */
	const char *comm;	   /* only tasks of this name, which may be a glob. Any */
	const char *cgroup;	   /* only tasks in or below this cgroup2 directory. Any */
	const char *cpus;	   /* only these, like "0-3,8". All */
	uint64_t ring_bytes;	   /* of each CPU. 4 MiB, less above 64 CPUs */
	uint32_t bits;		   /* the stack map holds 2^bits stacks (stack_map.h). 14 */
	uint32_t max_depth; /* frames of a user stack that are followed, at most 16384. 16384 */
	int no_kernel_stacks;
	int no_user_stacks;
};

/*
 * Loads everything, so that what can be refused is refused now. 0 and *out, which the caller gives
 * to stackmap_capture_close(); on failure *out is untouched. -EPERM, -ENOSYS, -EOPNOTSUPP: `error`
 * says what is missing. -ENOENT, -EINVAL, -ERANGE: an event, a list of CPUs, a number; -ESRCH: no
 * such process; `opts` NULL: -EINVAL. -E2BIG: `size` is that of a later version, and a member that
 * this one does not know is not 0. `opts`, and what it points to, is not needed any more.
 */
int stackmap_capture_open(const struct stackmap_capture_opts *opts, struct stackmap_capture **out,
			  struct stackmap_error *error);

/* Events are recorded from now on. The file gets its name; one that has it becomes FILE.old. */
int stackmap_capture_start(struct stackmap_capture *capture, struct stackmap_error *error);

/*
 * To a file: takes events out of the rings, for about `timeout_ms`, or until a signal was caught.
 * On failure the file cannot be written any more, and is whole up to there: what is left is stop.
 * -EINVAL: not started, stopped, or live.
 */
int stackmap_capture_poll(struct stackmap_capture *capture, unsigned int timeout_ms,
			  struct stackmap_error *error);

/*
 * Live: the events of about `timeout_ms`, or until a signal was caught, or until there are some
 * hundred thousand; perhaps none. *out is the caller's, who closes it at any time, even after the
 * capture. Each window has its own numbers of stacks, sources and frames. -ENODATA: it was stopped,
 * and this was all. -EINVAL: not started, or to a file.
 */
int stackmap_capture_next(struct stackmap_capture *capture, unsigned int timeout_ms,
			  struct stackmap_recording **out, struct stackmap_error *error);

/*
 * No event comes any more. To a file: takes the rest, names all code and finishes the file, which
 * may take seconds. Live: next gives the rest. -EINVAL: not started, or stopped before.
 */
int stackmap_capture_stop(struct stackmap_capture *capture, struct stackmap_error *error);

/* The account. To a file: of all of it, after stop; NULL before. Live: of all windows by now. It
 * belongs to the capture, and is good until its next call. */
const struct stackmap_ledger *stackmap_capture_ledger(struct stackmap_capture *capture);

/* Sets *capture to NULL. A file that was not stopped has its events, but neither names nor a
 * ledger. */
void stackmap_capture_close(struct stackmap_capture **capture);

#ifdef __cplusplus
}
#endif
#endif
