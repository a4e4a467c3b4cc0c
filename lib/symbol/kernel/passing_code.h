/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel code that comes and goes during a recording: BPF programs, their trampolines, out-of-line
 * code of ftrace and kprobes, and modules. /proc/kallsyms lists only the code that exists when it
 * is read, without sizes. The kernel reports each range with its size and name when the range
 * appears, and again before its memory is reused (PERF_RECORD_KSYMBOL); modules are not reported.
 */
#ifndef LIB_SYMBOL_PASSING_CODE_H
#define LIB_SYMBOL_PASSING_CODE_H

#include <stdbool.h>

#include "scalar.h"

struct passing_code;

struct code_span {
	u64 start;
	u64 end;
	const char *name; /* name of the code; "" = the code is older than the recording. The text
			     is valid until the next change */
};

enum code_match {
	CODE_UNKNOWN,
	CODE_KNOWN,
	CODE_AMBIGUOUS, /* no name is right for all events: the code replaced other code, or was a
			   module that is gone */
};

/* Starts the reports and lists the loaded programs, as far as privileges allow; without privileges
 * all code stays unknown. `modules`: an open /proc/modules, or -1. 0 or -ENOMEM. */
int passing_code_create(int modules, struct passing_code **out);
void passing_code_free(struct passing_code **code);

/* Reads the kernel's new reports; never waits. */
void passing_code_read_reports(struct passing_code *code);

/* Record that code exists, or that it is gone from now on. `name` "": the name is not known.
 * Without memory the code is left out. */
void passing_code_add(struct passing_code *code, const struct code_span *span);
void passing_code_remove(struct passing_code *code, const struct code_span *span);

/* Compares the loaded modules with those of the last call, to find modules that are gone. 0 or
 * -errno. */
int passing_code_compare_modules(struct passing_code *code, int modules);

enum code_match passing_code_find(struct passing_code *code, u64 address, struct code_span *found);

/* Forgets code that was already gone at the last call of passing_code_forget(): events of later
 * files are newer than the end of this code. */
void passing_code_forget(struct passing_code *code);

#endif
