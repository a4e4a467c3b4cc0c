/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The life of a capture: its loaded programs and maps (capture/load/loaded.h), and the reading of
 * their rings into files (capture/drain/recording.h). One thread uses it.
 *
 *   create -> follow the command or tasks -> attach -> begin a file -> drain, again and again ->
 *   detach -> drain -> unwind blocked tasks -> drain -> finish the file -> free
 */
#ifndef LIB_CAPTURE_CAPTURE_H
#define LIB_CAPTURE_CAPTURE_H

#include "capture/load/plan.h"
#include "stackmap/error.h"
#include "symbol/symbolizer/symbolizers.h"
#include "trace/write/writer.h"

struct capture;

/*
 * Loads everything, and attaches only the hooks that follow tasks. For -EPERM, -ENOSYS and
 * -EOPNOTSUPP the error says what is missing and how to get it; -ERANGE names the range; -EINTR
 * (lib/interrupt.h). *out is untouched on failure.
 *
 * If the kernel refuses the programs, they are loaded again for the next simpler way to user
 * stacks: deferred, assisted, frame pointers.
 */
int capture_create(const struct capture_options *options, struct capture **out,
		   struct stackmap_error *error);
void capture_free(struct capture **capture);

/* Opens the instance of a folder. The folder must stay open as long as the capture; the instance
 * goes on when the capture is freed. The instance cannot be attached or detached; all other calls
 * work as for own programs. -EPROTO: another version started it. */
struct folder;
int capture_open(struct folder *folder, struct capture **out, struct stackmap_error *error);

/* The same for the one reader that empties the rings of a drain instance: takes the reader's lock,
 * and makes the second table of the stack map. -EBUSY: another process has the lock. */
int capture_open_reader(struct folder *folder, struct capture **out, struct stackmap_error *error);

/* The same for repeated snapshots, between which other processes may reset the instance. */
int capture_open_viewer(struct folder *folder, struct capture **out, struct stackmap_error *error);

/* The metadata of an opened instance (capture/instance/metadata.h). */
struct metadata;
const struct metadata *capture_metadata(const struct capture *capture);

/* For callers that write no file: status, pause, reset, follow. */
struct loaded;
struct loaded *capture_loaded(struct capture *capture);

/* The open files of the kernel's symbols. */
struct kernel_files;
const struct kernel_files *capture_kernel_files(const struct capture *capture);

/* The processes that read files of code. They belong to the capture. */
struct symbolizers;
struct symbolizers *capture_symbolizers(struct capture *capture);

const struct capture_refusals *capture_refusals(const struct capture *capture);

/* Starts the events. */
int capture_attach(struct capture *capture, struct stackmap_error *error);

/* Ends the events; when it returns no program of this instance runs any more. */
void capture_detach(struct capture *capture);

/* After the detach: tasks that are still in the kernel are made to deliver their pending user
 * stacks. May wait for a second. An error concerns no single event: each event without a stack has
 * a reason. */
int capture_unwind_blocked(struct capture *capture);

/* Unwinds the stack snapshots that the programs have left to user space. A flight recorder calls
 * this now and then; capture_drain() includes it. */
int capture_unwind_raw_stacks(struct capture *capture);

/* From freeze to thaw the rings and counters are a private copy of one moment, and a file that
 * begins in between has the events of this copy; recording goes on. Events during the copy itself
 * are lost as "paused", even if this process is killed in it. -ENOMEM. */
int capture_freeze(struct capture *capture);
void capture_thaw(struct capture *capture);

/* A file begins. The writer must last until capture_finish(). */
int capture_begin(struct capture *capture, struct trace_writer *writer,
		  struct stackmap_error *error);

/* Drain: moves all events of the rings to the writer. *next_ms, if not NULL: the time until the
 * next visit is due, in ms (capture/drain/pace.h). Errors are the writer's. */
int capture_drain(struct capture *capture, int *next_ms);

/* A descriptor that is readable while new code makes a drain due at once; -1: drains depend on the
 * time only. */
int capture_wake_fd(const struct capture *capture);

/* Drain, before a window ends, while events still come: requests the names of all addresses that
 * went to the writer. Returns 1 while names of the files that `which` selects are missing: the
 * caller drains and calls again; 0 if capture_finish(), which does not drain, will wait for few
 * names; -errno. Names that come too late for this window are used in the next. */
int capture_request_symbols_ahead(struct capture *capture, enum symbolizers_which which);

/* The same, repeated until the names are known: at most `others_ms` for files of other users, at
 * most `own_ms` for files of root and of this user. `longest_ms` limits the wait for all names, in
 * this call and the next capture_finish() together; 0: no limit. */
int capture_await_symbols_ahead(struct capture *capture, u32 others_ms, u32 own_ms, u32 longest_ms);

/* Drain, after each visit: requests names now and then, so that few are missing at the end of a
 * long file. -errno. */
int capture_request_symbols_now_and_then(struct capture *capture);

/* Drain, while events still come: all events up to now go to the writer, and user stacks that are
 * not known yet get their reasons. Later events belong to the next file. */
int capture_end_window(struct capture *capture);

/* Frozen, or a detached flight recorder: writes the events of the rings, and leaves them there. */
int capture_snapshot(struct capture *capture);

/* Writes the names and build ids of everything in the file, and the ledger: the last call before
 * the writer is closed. The capture is detached or frozen, or the window has ended. Returns 0 also
 * if the writer failed: the ledger then counts what the file holds. */
int capture_finish(struct capture *capture, struct trace_ledger *ledger,
		   struct stackmap_error *error);

/* Events written to the current file so far. */
u64 capture_events(const struct capture *capture);

/* True if a task so far had one of the names in the option `comms`. */
bool capture_has_seen_comm(const struct capture *capture);

/* The next owner of files that was too slow and is not reported yet; false if there is no further
 * one. */
struct symbolizers_trouble;
bool capture_next_slow_owner(struct capture *capture, struct symbolizers_trouble *trouble);

#endif
