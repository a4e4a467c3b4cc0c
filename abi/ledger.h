/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ledger: every event that a source produced was recorded, counted only (abi/counted.h), or
 * lost for one of these causes.
 *
 *   produced = recorded + counted only + sum of lost
 *
 * Each stack that a recorded event lacks has one of the stack reasons. X(ID, name, meaning).
 */
#ifndef STACKMAP_ABI_LEDGER_H
#define STACKMAP_ABI_LEDGER_H

#include "scalar.h"

#define LEDGER_LOST(X)                                                                             \
	X(RING_FULL, "ring_full", "the reader was too slow: no free slot in the ring")             \
	X(RING_BUSY, "ring_busy", "slots were still being written by interrupted programs")        \
	X(OVERWRITTEN, "overwritten", "the flight recorder replaced it by a newer event")          \
	X(NESTED, "nested",                                                                        \
	  "more programs interrupted each other on one CPU than there is scratch for")             \
	X(RECURSION, "recursion", "the kernel skipped the program: one was running on that CPU")   \
	X(PAUSED, "paused", "recording was paused, or the flight buffer was being written out")    \
	X(WRITE_ERROR, "write_error", "the output could not be written")                           \
	X(RESET, "reset", "a reset emptied the rings or the table for --aggregate")                \
	X(NO_MEMORY, "no_memory", "the kernel had no memory to remember a blocked task")           \
	X(SPOOL_FULL, "spool_full", "the store was away for longer than the spool has room")       \
	X(CLOCK, "clock", "the clock of its host was off by more than the store takes")            \
	X(NOT_STORED, "not_stored", "its host recorded it, but the store does not have it")        \
	X(TABLE_FULL, "table_full", "the kernel's table for --aggregate had no row for it")

#define X(id, name, meaning) ABI_ENUM_ENTRY(LOST, id)
enum ledger_lost { LEDGER_LOST(X) LOST_COUNT };
#undef X

#define STACK_REASONS(X)                                                                           \
	X(NOT_ASKED, "not_asked", "this recording does not take it")                               \
	X(NO_FRAMES, "no_frames", "the task has none here: user mode, or a kernel thread")         \
	X(UNREADABLE, "unreadable", "the kernel could not read it from this context")              \
	X(NO_ROOM, "no_room", "the stack map refused it and the ring had no room for its frames")  \
	X(GONE, "gone", "it was overwritten before it was read")                                   \
	X(REFUSED, "refused", "the task has no user memory: a kernel thread, or past its exit")    \
	X(CHANGED, "changed",                                                                      \
	  "the task's registers or memory were replaced before it could be unwound")               \
	X(NO_STATE, "no_state", "the kernel had no memory for the task's request")                 \
	X(ANSWER_LOST, "answer_lost",                                                              \
	  "its deferred stack came when the ring had no room, or while the kernel aggregates")     \
	X(ANSWER_OVERWRITTEN, "answer_overwritten",                                                \
	  "the flight recorder replaced its deferred stack")                                       \
	X(UNANSWERED, "unanswered", "the recording ended before its deferred stack came")          \
	X(INTERRUPT, "interrupt", "an interrupt has none: the task is just the one that it met")   \
	X(BEFORE, "before", "the task waits since before the recording, and could not be asked")

#define X(id, name, meaning) ABI_ENUM_ENTRY(REASON, id)
enum stack_reason { STACK_REASONS(X) REASON_COUNT };
#undef X

/*
 * Notes: further gaps of a recording, each with a count. The counts are not events of the ledger.
 */
#define LEDGER_NOTES(X)                                                                            \
	X(UNKNOWN_FRAMES, "unknown_frames", "user frames whose file could not be identified")      \
	X(UNNAMED_TASKS, "unnamed_tasks", "names of tasks that found the task ring full")          \
	X(UNFOLLOWED_TASKS, "unfollowed_tasks", "children that could not be followed")             \
	X(UNREAD_FILES, "unread_files",                                                            \
	  "files without names: reading them failed or took too long")                             \
	X(LATE_CPUS, "late_cpus", "times that a CPU came online, not sampled for up to 0.1 s")     \
	X(UNSAMPLED_CPUS, "unsampled_cpus",                                                        \
	  "times that a CPU came online and could not be sampled")                                 \
	X(UNFINISHED_WAITS, "unfinished_waits",                                                    \
	  "waits that went on when recording ended: their time so far")                            \
	X(MISSED_WAITS, "missed_waits",                                                            \
	  "waits that went on when recording ended have no event: the kernel refuses task "        \
	  "iterators")                                                                             \
	X(WAITS_BEFORE, "waits_before",                                                            \
	  "waits that began before the recording: their time since its start")                     \
	X(UNSEEN_SWITCHES, "unseen_switches",                                                      \
	  "switches that the kernel kept from programs: times by its own count")                   \
	X(UNTIMED_THREADS, "untimed_threads",                                                      \
	  "threads without an account of their time: the kernel had no memory")                    \
	X(UNFINISHED_SPANS, "unfinished_spans", "spans that went on when recording ended")         \
	X(UNBEGUN_SPANS, "unbegun_spans", "ends of spans that had not begun in the recording")     \
	X(UNKEPT_SPANS, "unkept_spans",                                                            \
	  "spans that were not timed: too many went on at once, or in each other")                 \
	X(UNREAD_NUMBERS, "unread_numbers",                                                        \
	  "numbers of events in memory that could not be read: they count as 0")                   \
	X(UNJOINED_SCRIPTS, "unjoined_scripts",                                                    \
	  "loops of interpreters or functions of Java or JavaScript without a script's frames: "   \
	  "these could not be read, or the stack is too deep")                                     \
	X(UNNAMED_SCRIPTS, "unnamed_scripts",                                                      \
	  "loops of interpreters or functions of Java or JavaScript without a script's frames: a " \
	  "name was unreadable or had no room")                                                    \
	X(DEEP_SCRIPTS, "deep_scripts",                                                            \
	  "loops of interpreters without the script's frames: too many in one stack")              \
	X(UNSEEN_ALIVE, "unseen_alive",                                                            \
	  "things that were alive when recording ended, and are not in it: their event was lost")  \
	X(UNREAD_CONTEXTS, "unread_contexts",                                                      \
	  "events without trace ids: the memory of their thread could not be read")                \
	X(UNPLACED_CONTEXTS, "unplaced_contexts",                                                  \
	  "events from before their process was looked at for trace ids")                          \
	X(UNKEPT_CONTEXTS, "unkept_contexts",                                                      \
	  "events without trace ids: the file has 4,194,304 spans, which is the most")             \
	X(FIRST_COUNTS, "first_counts",                                                            \
	  "events with the value 0: the first of their thread to read the counter")                \
	X(UNREAD_COUNTS, "unread_counts",                                                          \
	  "events with the value 0: the counter could not be read, or a switch was unseen")        \
	X(UNKEPT_COUNTS, "unkept_counts",                                                          \
	  "events with the value 0: too many threads read the counter at once")                    \
	X(COMPAT_CALLS, "compat_calls",                                                            \
	  "system calls of 32-bit tasks have no event: their numbers mean other calls")            \
	X(UNMET_CONDITIONS, "unmet_conditions",                                                    \
	  "events did not meet the conditions of their source, and are not produced")              \
	X(UNKEPT_PROCESSES, "unkept_processes",                                                    \
	  "processes without the attributes that they publish: there was no room for more")        \
	X(UNREAD_ATTRIBUTES, "unread_attributes",                                                  \
	  "events without their thread's attributes: these could not be read, or not in time")     \
	X(LONG_ATTRIBUTES, "long_attributes",                                                      \
	  "events without their thread's attributes: more than 612 bytes")                         \
	X(UNKEPT_ATTRIBUTES, "unkept_attributes",                                                  \
	  "events without their thread's attributes: the file has 32 MiB of them, which is the "   \
	  "most")

#define X(id, name, meaning) ABI_ENUM_ENTRY(NOTE, id)
enum ledger_note { LEDGER_NOTES(X) NOTE_COUNT };
#undef X

#endif
