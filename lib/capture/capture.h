/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The life of a capture: what is loaded (capture/load/loaded.h), and what is read of it into files
 * (capture/drain/recording.h). One thread uses it.
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
 * Loads everything, attaches nothing but the hooks that follow tasks. -EPERM, -ENOSYS, -EOPNOTSUPP
 * with what is missing and the fix; -ERANGE names the range; -EINTR (lib/interrupt.h). *out is
 * untouched on failure.
 *
 * Programs that the kernel refuses are loaded again for the next lower way to user stacks:
 * deferred, assisted, frame pointers.
 */
int capture_create(const struct capture_options *options, struct capture **out,
		   struct stackmap_error *error);
void capture_free(struct capture **capture);

/* The instance that lives in a folder, which must stay open meanwhile: it goes on when the capture
 * is freed. It cannot be attached or detached; all else works as for one's own. -EPROTO: another
 * version started it. */
struct folder;
int capture_open(struct folder *folder, struct capture **out, struct stackmap_error *error);

/* The same, for who is to empty the rings of a drain instance: locks it for that, and sees to it
 * that there are two tables. -EBUSY: another reads. */
int capture_open_reader(struct folder *folder, struct capture **out, struct stackmap_error *error);

/* The same, for who is to take snapshots again and again, with resets of others in between. */
int capture_open_viewer(struct folder *folder, struct capture **out, struct stackmap_error *error);

/* What such an instance tells of itself (capture/instance/metadata.h). */
struct metadata;
const struct metadata *capture_metadata(const struct capture *capture);

/* For those who need no file: status, pause, reset, follow. */
struct loaded;
struct loaded *capture_loaded(struct capture *capture);

/* What is known of the kernel's symbols. */
struct kernel_files;
const struct kernel_files *capture_kernel_files(const struct capture *capture);

/* Who reads files; the capture's own. */
struct symbolizers;
struct symbolizers *capture_symbolizers(struct capture *capture);

/* What the kernel refused, so that the capture does without it; an empty message: nothing. */
struct capture_refusals {
	struct stackmap_error user_stacks; /* a better way to user stacks */
	struct stackmap_error task_iterators;
};

const struct capture_refusals *capture_refusals(const struct capture *capture);

/* Starts the events. */
int capture_attach(struct capture *capture, struct stackmap_error *error);

/* Ends the events; when it returns no program of this instance runs any more. */
void capture_detach(struct capture *capture);

/* Detached: tasks that are still in the kernel are asked for the user stacks that they owe. May
 * wait for a second. What it returns tells of no event: those that are left have a reason. */
int capture_unwind_blocked(struct capture *capture);

/* Finishes the user stacks that were left to us. Flight: to be called now and then; a drain does it
 * by itself. */
int capture_finish_user_stacks(struct capture *capture);

/* From freeze to thaw the rings and counters are a private copy of one moment, which the file that
 * is begun then is of; recording goes on. Events during the copy itself are lost as "paused", even
 * if this process is killed in it. -ENOMEM. */
int capture_freeze(struct capture *capture);
void capture_thaw(struct capture *capture);

/* A file begins. The writer must last until capture_finish(). */
int capture_begin(struct capture *capture, struct trace_writer *writer,
		  struct stackmap_error *error);

/* Drain: moves all that is in the rings to the writer. *next_ms, if not NULL: in how many ms the
 * next visit is due (capture/drain/pace.h). Errors are the writer's. */
int capture_drain(struct capture *capture, int *next_ms);

/* Is readable while a drain is due at once, for new code; -1: never. */
int capture_wake_fd(const struct capture *capture);

/* Drain, events going on, best before the window ends: asks for the names of what went to the
 * writer. 1: some of those that `which` says are not known yet, so capture_drain() and this call
 * follow again; 0: capture_finish(), which drains nothing, has to wait for few. -errno. Names that
 * come too late for this window are there for the next. */
int capture_ask_ahead(struct capture *capture, enum symbolizers_which which);

/* The same until the names are known; those of files of others no longer than `others_ms`, those of
 * root's and our own no longer than `own_ms`. `longest_ms` limits the wait for all names, in this
 * call and the next capture_finish() together; 0: no limit. */
int capture_name_ahead(struct capture *capture, u32 others_ms, u32 own_ms, u32 longest_ms);

/* Drain, a file of any length: after each visit; asks now and then for the names of files, so that
 * few are to be asked for at the end. -errno. */
int capture_learn_names(struct capture *capture);

/* Drain, events going on: all that was recorded until now goes to the writer, and the user stacks
 * that are not known yet get their reasons. What follows is for another file. */
int capture_end_window(struct capture *capture);

/* Frozen, or flight and detached: writes what the rings hold; they keep it. */
int capture_snapshot(struct capture *capture);

/* Names and build ids of everything that went into the file, and the ledger. The last thing before
 * closing the writer. Detached or frozen, or the window has ended. Returns 0 also if the writer
 * failed: the ledger is then of what the file holds. */
int capture_finish(struct capture *capture, struct trace_ledger *ledger,
		   struct stackmap_error *error);

/* Of the file by now. */
u64 capture_events(const struct capture *capture);

/* Whether any task so far had a name that the options ask for by `comms`. */
bool capture_met_comm(const struct capture *capture);

/* Owners of files that did not answer in time: the next that was not reported yet, or false. */
struct symbolizers_trouble;
bool capture_tell_trouble(struct capture *capture, struct symbolizers_trouble *trouble);

#endif
