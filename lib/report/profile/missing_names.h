/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code without names in a profile, file by file: the number of events with such code as innermost
 * frame or as any frame, the reason for the missing names, and the remedy.
 */
#ifndef LIB_REPORT_MISSING_NAMES_H
#define LIB_REPORT_MISSING_NAMES_H

#include "profile.h"

struct debug_lookup;

#define MISSING_REASONS(X)                                                                         \
	X(HIDDEN, "hidden", "kernel addresses were hidden from the recorder (kptr_restrict)",      \
	  "--kallsyms with a copy made in the same boot")                                          \
	X(KERNEL, "kernel", "no symbol of the kernel covers these addresses", "")                  \
	X(UNKNOWN, "unknown", "what is mapped there could not be found out", "")                   \
	X(GENERATED, "generated", "the process generated this code, and told no names of it",      \
	  "a perf map or a jitdump, which many runtimes write if told to")                         \
	X(NO_ID, "no_id", "the file has no build id, or was gone before that could be read",       \
	  "link it with --build-id: debug files are found by that alone")                          \
	X(NOT_LOOKED, "not_looked", "no debug files were looked for", "leave out --no-inline")     \
	X(GONE, "gone", "the file is gone, and no debug file with its build id is here", "")       \
	X(REPLACED, "replaced",                                                                    \
	  "the file has another build id now, and no debug file with the recorded one is here",    \
	  "")                                                                                      \
	X(STRIPPED, "stripped",                                                                    \
	  "the file is stripped, and no debug file with its build id is here", "")                 \
	X(GRAALVM, "graalvm",                                                                      \
	  "the file is a native image of GraalVM without names of functions, and unwind tables "   \
	  "cover little of its code",                                                              \
	  "")                                                                                      \
	X(UNPLACED, "unplaced",                                                                    \
	  "a debug file is here, but nothing tells where the code lies in the file, which is not", \
	  "the file itself, below --sysroot")                                                      \
	X(UNCOVERED, "uncovered", "symbols and debug information name other code of the file", "")

#define X(id, name, why, fix) MISSING_##id,
enum missing_reason { MISSING_REASONS(X) MISSING_REASON_COUNT };
#undef X

const char *missing_reason_name(enum missing_reason reason);
const char *missing_reason_why(enum missing_reason reason);
/* The remedy for a reason. "": a debug file is the remedy (missing_wants_debug_file()), or no
 * remedy is known. */
const char *missing_reason_fix(enum missing_reason reason);
bool missing_wants_debug_file(enum missing_reason reason);

struct missing_file {
	const char *object; /* path of the file, or another object as in struct frame_name */
	/* mapping of the file; NULL: kernel code, or unknown */
	const struct trace_mapping *mapping;
	u64 self; /* number of events whose innermost frame is code without a name in the file */
	u64 children; /* number of events with any frame in code without a name in the file */
	u32 places; /* number of distinct functions without a name, or of addresses where functions
		       are unknown */
	enum missing_reason reason;
};

struct missing_names {
	struct missing_file *files; /* files sorted by `self`, then by `children` */
	u32 count, room;
	u64 events; /* number of all events of the profile */
	u64 self;   /* number of events whose innermost frame is code without a name */
};

/* `debug` NULL: debug files are not looked up. -ENOMEM. */
int missing_names_find(const struct trace_reader *reader, const struct profile *profile,
		       struct debug_lookup *debug, struct missing_names *missing);
void missing_names_free(struct missing_names *missing);

/*
 * Calls `each` for the interpreters of a recording whose functions could not be read, with a text
 * such as "CPython 3.15.0: offsets unknown (PATH)". Stops at a non-zero result, which is returned.
 */
int missing_each_unread_interpreter(const struct trace_reader *reader,
				    int (*each)(void *arg, const char *text), void *arg);

/* The share, from 0 to 1, of the events whose innermost frame is user code without a name. Fast,
 * since the reasons are not determined. */
double missing_names_share(const struct profile *profile);

#endif
