/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sizes of all parts of an instance, and the constants of its programs, from the options. */
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
	bool frame_pointers_only; /* an instance without task work has no reader to finish stacks */
	bool off_cpu;		  /* the times of blocked tasks are kept */
	bool times;		  /* each thread has an account of its time */
	bool task_iterators;	  /* tasks that are blocked at the end get events */
	bool visits_at_start;	  /* so do tasks that are blocked at the start; not for a command */
	bool holders;		  /* locks that are waited for at the end get events */
	u32 holder_kind;	  /* the kind of these events */
	u32 questions;		  /* kinds up to the last one that has a question */
	bool spans;
	u32 comm_patterns;   /* conditions on the name of the task, of all sources */
	bool user_functions; /* user functions are recorded */
};

/* 0; -ERANGE, and `error` gives the allowed range; or -errno. */
int plan_make(const struct capture_options *options, struct plan *plan,
	      struct stackmap_error *error);

/* True if user stacks are unwound by tables, some after the event. */
bool plan_defers(const struct plan *plan);

#endif
