/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What ftrace has recorded, as a recording: its events with the stacks that their ids stand for,
 * names of tasks, the files that frames lie in, functions, and an account of what is missing.
 *
 *   sources      an event of ftrace each, without values
 *   times        of the ring's clock
 *   lost         counted in entries of the ring: an event, or a stack of one
 *   missing stacks
 *                gone: its id is none of stack_map_bin, since the map was reset
 */
#ifndef LIB_FTRACE_IMPORT_H
#define LIB_FTRACE_IMPORT_H

#include <stdbool.h>

#include "scalar.h"
#include "stackmap/error.h"

struct ftrace_import {
	const char
		*from; /* an instance in tracefs; a folder that holds trace.dat; or a trace.dat */
	const char *stacks; /* the folder of stack_map_bin and mappings; NULL: that of the ring */
	const char *buffer; /* of a trace.dat: the instance; NULL: ring_file_open() says which */
	const char *command;
	const char *version;
};

/* What the ledger cannot say. */
struct ftrace_import_notes {
	u64 unresolved;	  /* stacks whose id is not known */
	u64 unknown_gaps; /* places where the ring has lost nobody knows how much */
	bool hides_kernel;
};

/* Writes `path` as trace_writer_create() does; there is none on failure. */
int ftrace_import(const struct ftrace_import *import, const char *path,
		  struct ftrace_import_notes *notes, struct stackmap_error *error);

#endif
