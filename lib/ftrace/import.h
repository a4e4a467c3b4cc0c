/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Imports a trace of ftrace as a recording: events with the stacks of their ids, names of tasks,
 * mappings, functions, and an account of the losses.
 *
 *   sources      one for each ftrace event, without values
 *   times        by the ring's clock
 *   lost         number of lost entries of the ring: events, and stacks of events
 *   missing stacks
 *                gone: the id is not in stack_map_bin, because the map was reset
 */
#ifndef LIB_FTRACE_IMPORT_H
#define LIB_FTRACE_IMPORT_H

#include <stdbool.h>

#include "scalar.h"
#include "stackmap/error.h"

struct ftrace_import {
	const char *from; /* path that is imported: an instance in tracefs, a trace.dat, or a folder
			     with a trace.dat */
	/* path of the folder of stack_map_bin and stack_map_mappings; NULL: the folder of the
	 * ring */
	const char *stacks;
	/* name of the instance in a trace.dat to import; NULL: the default of ring_file_open() */
	const char *buffer;
	const char *command;
	const char *version;
};

/* Numbers of losses and limits of the import that are not in the ledger. */
struct ftrace_import_notes {
	u64 unresolved;	  /* number of stacks whose id is unknown */
	u64 unknown_gaps; /* number of losses for which the ring does not tell how many entries were
			     lost */
	bool hides_kernel;
};

/* Imports the trace as a recording at `path`, which is written like that of trace_writer_create();
 * a failure leaves no file. */
int ftrace_import(const struct ftrace_import *import, const char *path,
		  struct ftrace_import_notes *notes, struct stackmap_error *error);

#endif
