/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel code that comes and goes while somebody records: BPF programs, their trampolines, code out
 * of line of ftrace and kprobes, and modules. /proc/kallsyms lists what there is when it is read,
 * without sizes. The kernel reports each range with its size and its name when the range appears,
 * and again before its memory is given to others (PERF_RECORD_KSYMBOL); modules are not reported.
 */
#ifndef LIB_SYMBOL_PASSING_CODE_H
#define LIB_SYMBOL_PASSING_CODE_H

#include <stdbool.h>

#include "scalar.h"

struct passing_code;

struct code_span {
	u64 start;
	u64 end;
	const char *name; /* "": it was there before the recording; lives until the next change */
};

enum code_match {
	CODE_UNKNOWN,
	CODE_KNOWN,
	CODE_AMBIGUOUS, /* no name is right for all events: one code after another, a module that is
			   gone */
};

/* -ENOMEM. What may not be asked is left out: without privileges nothing is known. `modules`: an
 * open /proc/modules, or -1. */
int passing_code_create(int modules, struct passing_code **out);
void passing_code_free(struct passing_code **code);

/* Takes what the kernel has reported since; never waits. */
void passing_code_read(struct passing_code *code);

/* Code that was there, or is gone from now on. `name` "": not known. What does not fit into memory
 * is left out. */
void passing_code_add(struct passing_code *code, const struct code_span *span);
void passing_code_remove(struct passing_code *code, const struct code_span *span);

/* Compares the loaded modules with those of the last call. 0, or -errno. */
int passing_code_read_modules(struct passing_code *code, int modules);

enum code_match passing_code_find(struct passing_code *code, u64 address, struct code_span *found);

/* Forgets what was gone already at the last call: events of later files are newer. */
void passing_code_forget(struct passing_code *code);

#endif
