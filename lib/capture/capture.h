/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One instance: programs loaded, maps made, sources attached, rings drained. One thread uses it.
 *
 *   create -> follow the command or tasks -> attach -> drain, again and again -> detach -> drain ->
 *   settle -> drain -> free
 */
#ifndef LIB_CAPTURE_CAPTURE_H
#define LIB_CAPTURE_CAPTURE_H

#include <sys/types.h>

#include "capture/load/options.h"
#include "stackmap/error.h"
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

/* What such an instance tells of itself (capture/about.h). */
struct about;
const struct about *capture_about(const struct capture *capture);

/* A process, its threads, its descendants, and what all these fork from now on. -ESRCH: no such
 * process. */
int capture_follow(struct capture *capture, pid_t pid, struct stackmap_error *error);

/* A child of ours that has yet to execve: itself and what it forks, from then on. */
int capture_follow_command(struct capture *capture, pid_t pid, struct stackmap_error *error);

/* Starts the events. */
int capture_attach(struct capture *capture, struct stackmap_error *error);

/* Ends the events; when it returns no program of this instance runs any more. */
void capture_detach(struct capture *capture);

/* Detached: tasks that are still in the kernel are asked for the user stacks that they owe. May
 * wait for a second. What it returns tells of no event: those that are left have a reason. */
int capture_settle(struct capture *capture);

/* Finishes the user stacks that were left to us. Flight: to be called now and then; a drain does it
 * by itself. */
int capture_assist(struct capture *capture);

/* Until resume, events count as lost ("paused"); all else goes on. Neither changes anything if that
 * is so already. When pause returns no event is recorded any more. */
void capture_pause(struct capture *capture);
void capture_resume(struct capture *capture);
bool capture_is_paused(const struct capture *capture);

/* Samples CPUs that came online since. Of one that this process attached: to be called all the time
 * while events are recorded, as CPUs are looked for ten times a second at most. */
void capture_follow_cpus(struct capture *capture);

/* Whether it can be: events are opened for each CPU. */
bool capture_is_by_cpu(const struct capture *capture);

/* This process is the one whose events are left out, until it exits. */
void capture_leave_out_self(struct capture *capture);

/* From freeze to thaw the rings and counters are a private copy of one moment, for
 * capture_snapshot() and capture_finish(); recording goes on. Events during the copy itself are
 * lost as "paused", even if this process is killed in it. -ENOMEM. */
int capture_freeze(struct capture *capture);
void capture_thaw(struct capture *capture);

/* Drain: moves all that is in the rings to the writer. *fill, if not NULL: the fullest ring before,
 * in percent. Errors are the writer's. */
int capture_drain(struct capture *capture, struct trace_writer *writer, u32 *fill);

/* Drain, events going on, best before the window ends: asks for the names of what went to the
 * writer, and drains until they are known; those of files of others no longer than `patience_ms`.
 * So capture_finish(), which drains nothing, has to wait for few. */
#define CAPTURE_PATIENCE_MS 10000
int capture_name_ahead(struct capture *capture, struct trace_writer *writer, u32 patience_ms);

/* Drain, events going on: all that was recorded until now goes to the writer, and the user stacks
 * that are not known yet get their reasons. What follows is for another file: capture_finish(),
 * capture_next_file(), capture_begin(). */
int capture_end_window(struct capture *capture, struct trace_writer *writer);
void capture_next_file(struct capture *capture);

/* Frozen, or flight and detached: writes what the rings hold; they keep it. */
int capture_snapshot(struct capture *capture, struct trace_writer *writer);

/* Names and build ids of everything that went into the file, and the ledger. The last thing before
 * closing the writer. Detached or frozen. Returns 0 also if the writer failed: the ledger is then
 * of what the file holds. */
int capture_finish(struct capture *capture, struct trace_writer *writer,
		   struct trace_ledger *ledger, struct stackmap_error *error);

/* Owners of files that did not answer, or not in time: the next that was not told yet, or false. */
struct symbolizers_trouble;
bool capture_tell_trouble(struct capture *capture, struct symbolizers_trouble *trouble);

/* Sources, kernel modules: what the file needs before its first event. */
int capture_begin(struct capture *capture, struct trace_writer *writer,
		  struct stackmap_error *error);

/* The account of the instance since it began. `recorded` is what readers took and what the rings
 * hold. */
void capture_totals(const struct capture *capture, struct trace_ledger *totals);

/* Whether user stacks were asked for that this kernel cannot defer, so that an instance without a
 * process has them by frame pointers only. */
bool capture_lacks_deferral(const struct capture *capture);

/* Of one that we created: whether its user stacks are unwound for it alone, since it could not
 * share the engine. */
bool capture_lacks_engine(const struct capture *capture);

u32 capture_bits(const struct capture *capture);
bool capture_is_flight(const struct capture *capture);

/* Grows when code is met that the file had not seen: its file is open from then on. */
u64 capture_code_met(const struct capture *capture);

#endif
