/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A capture: loaded BPF programs and maps (capture/load/loaded.h), and a reader that writes the
 * events in their rings to recording files (capture/drain/recording.h). One thread uses a capture.
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
 * Loads all programs, and attaches only the programs that follow tasks. For -EPERM, -ENOSYS and
 * -EOPNOTSUPP `error` says what is missing and how to get it; for -ERANGE it has the allowed range;
 * -EINTR (lib/interrupt.h). *out is untouched on failure.
 *
 * If the kernel refuses the programs, they are loaded again for the next simpler method of
 * unwinding user stacks: deferred, assisted, frame pointers.
 */
int capture_create(const struct capture_options *options, struct capture **out,
		   struct stackmap_error *error);
void capture_free(struct capture **capture);

/* Opens an instance without a process. The folder must stay open as long as the capture; the
 * instance goes on when the capture is freed. capture_attach() and capture_detach() are not
 * allowed; all other calls work as for programs that this process has loaded. -EPROTO: another
 * version of stackmap started the instance. */
struct folder;
int capture_open(struct folder *folder, struct capture **out, struct stackmap_error *error);

/* Opens an instance as the one reader that empties its rings (no flight recorder): takes the
 * reader's lock, and makes the second table of the stack map. -EBUSY: another process has the lock.
 */
int capture_open_reader(struct folder *folder, struct capture **out, struct stackmap_error *error);

/* Opens an instance for repeated snapshots, between which other processes may reset the instance.
 */
int capture_open_viewer(struct folder *folder, struct capture **out, struct stackmap_error *error);

/* Returns the metadata of an opened instance (capture/instance/metadata.h). */
struct metadata;
const struct metadata *capture_metadata(const struct capture *capture);

/* Returns the part of the capture that is in the kernel: BPF programs, rings and counters
 * (capture/load/loaded.h). */
struct loaded;
struct loaded *capture_loaded(struct capture *capture);

/* Returns the open files with the kernel's symbols. */
struct kernel_files;
const struct kernel_files *capture_kernel_files(const struct capture *capture);

/* Returns the processes that read files of code. They belong to the capture. */
struct symbolizers;
struct symbolizers *capture_symbolizers(struct capture *capture);

const struct capture_refusals *capture_refusals(const struct capture *capture);

/* Attaches the sources, so that events begin. */
int capture_attach(struct capture *capture, struct stackmap_error *error);

/* Detaches the sources. When the call returns, no program of this instance runs any more. */
void capture_detach(struct capture *capture);

/* After the detach: unwinds tasks that are still in the kernel and have not delivered the user
 * stack of an event. May wait for a second. Events whose stack is still missing after an error get
 * a reason in its place. */
int capture_unwind_blocked(struct capture *capture);

/* Unwinds the raw stacks, copies of registers and stack memory, that programs have left to user
 * space. A flight recorder calls this now and then; capture_drain() includes it. */
int capture_unwind_raw_stacks(struct capture *capture);

/* Between freeze and thaw the rings and counters in this process are a private copy of one moment,
 * and a file that begins in between has the events of this copy; the instance goes on. Events
 * during the copying are lost as "paused"; the pause ends even if this process is killed. -ENOMEM.
 */
int capture_freeze(struct capture *capture);
void capture_thaw(struct capture *capture);

/* Begins a file. The writer must exist until capture_finish(). */
int capture_begin(struct capture *capture, struct trace_writer *writer,
		  struct stackmap_error *error);

/* Moves all events of the rings to the writer. *next_ms, if not NULL: the time until the
 * next call is due, in ms (capture/drain/pace.h). Errors are those of the writer. */
int capture_drain(struct capture *capture, int *next_ms);

/* Returns a descriptor that is readable if new code was seen or a symbolizer has answered:
 * capture_drain() should then be called at once. */
int capture_wake_fd(const struct capture *capture);

/* Called while events still come, before the end of a window (one of successive files): requests
 * the symbols of all addresses that were written. Returns 1 while symbols of the files that `which`
 * selects are missing: the caller drains and calls again; 0 if capture_finish(), which does not
 * drain, will wait for few symbols; -errno. Symbols that come too late for this window are used in
 * the next window. */
int capture_request_symbols_ahead(struct capture *capture, enum symbolizers_which which);

/* Drains and calls capture_request_symbols_ahead() until the symbols are known: at most `others_ms`
 * for files of other users, at most `own_ms` for files of root and of this user. `longest_ms`
 * limits the wait for all symbols, in this call and the next capture_finish() together; 0: no
 * limit. */
int capture_await_symbols_ahead(struct capture *capture, u32 others_ms, u32 own_ms, u32 longest_ms);

/* Called after each capture_drain(): requests symbols at growing intervals, so that few are missing
 * at the end of a long file. -errno. */
int capture_request_symbols_now_and_then(struct capture *capture);

/* Ends a window while events still come: all events up to now are written, and events whose user
 * stack is not known yet get a reason in place of the stack. Later events belong to the next
 * file. */
int capture_end_window(struct capture *capture);

/* For frozen rings, or a detached flight recorder: writes the events of the rings, and leaves them
 * in the rings. */
int capture_snapshot(struct capture *capture);

/* Writes the symbols and build ids of all frames of the file, and the ledger: the last call before
 * the writer is closed. The capture is detached or frozen, or the window has ended. Returns 0 also
 * if the writer failed: the ledger then counts what the file has. */
int capture_finish(struct capture *capture, struct trace_ledger *ledger,
		   struct stackmap_error *error);

/* Returns the number of events written to the current file so far. */
u64 capture_events(const struct capture *capture);

/* True if any task so far had one of the names in the option `comms`. */
bool capture_has_seen_comm(const struct capture *capture);

/* Sets *trouble to the next user whose files were too slow to read and who is not reported yet;
 * false: no further user. */
struct symbolizers_trouble;
bool capture_next_slow_owner(struct capture *capture, struct symbolizers_trouble *trouble);

#endif
