/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How large everything of an instance is: from the options to the constants of its programs. */
#ifndef LIB_CAPTURE_PLAN_H
#define LIB_CAPTURE_PLAN_H

#include "capture/load/options.h"
#include "config.h"
#include "stack_table.h"
#include "stackmap/error.h"

struct plan {
	struct capture_config config;
	struct table_geometry geometry;
	struct syscall_kinds syscalls;
	bool frame_pointers_only; /* nobody is there to finish what cannot be walked */
	bool off_cpu;		  /* tasks that are blocked are remembered */
	bool times;		  /* each thread has an account of its time */
	bool task_iterators;	  /* tasks that are blocked at the end have events */
	bool visits_at_start;	  /* and those that wait at the start: a command has none */
	bool holders;		  /* locks that are waited for at the end have an event, */
	u32 holder_kind;	  /* of this kind */
	u32 questions;		  /* kinds up to the last one that has a question */
	bool spans;
	u32 comm_patterns;   /* conditions on the name of the task, of all sources */
	bool user_functions; /* whose stacks user space finishes where they cannot be walked */
};

/* -ERANGE with the range that is allowed. */
int plan_make(const struct capture_options *options, struct plan *plan,
	      struct stackmap_error *error);

/* Whether user stacks are unwound by tables, and some later. */
bool plan_defers(const struct plan *plan);

#endif
