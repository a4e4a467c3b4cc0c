/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sizes of all parts of an instance, and the constants of its programs, from the options. */
#ifndef LIB_CAPTURE_PLAN_H
#define LIB_CAPTURE_PLAN_H

#include <sys/types.h>

#include "array.h"
#include "capture/source/source.h"
#include "config.h"
#include "stack_table.h"
#include "stackmap/error.h"

struct capture_options {
	const struct source_list *sources; /* must outlive the capture */
	u32 bits;			   /* of the stack map; 0 = the default */
	u64 pool_bytes;			   /* 0 = the default for `bits` */
	u64 ring_bytes;			   /* drain: per CPU; 0 = the default */
	u64 flight_bytes;		   /* flight: the rings of all CPUs together; 0 = drain */
	bool no_dedup;
	bool trace_ids; /* events have the trace and span of their thread */
	bool no_kernel_stacks;
	bool no_user_stacks;
	enum user_unwind user_unwind;
	bool no_task_work;	  /* do not defer user stacks by task work */
	bool no_task_iterators;	  /* this kernel refuses task iterators */
	bool no_symbol_iterators; /* this kernel refuses symbol iterators */
	u32 max_user_depth;	  /* frames of a user stack; 0 = the most that are supported */
	bool user_at_syscall;	  /* take the user stack at the entry of each system call */
	bool by_task;		  /* only tasks given to loaded_follow() and their descendants */
	struct string_list comms; /* names of tasks, globs (lib/comm_glob.h); empty = any */
	const char *cgroup;	  /* directory of a cgroup2 file system; NULL = any */
	const u64 *cpu_mask;	  /* CONFIG_CPUS_MAX bits; NULL = all */
	bool has_files;		  /* files_create() will be called (capture/instance/files.h) */
	pid_t command; /* a child that will execve: perf events are bound to it; 0 = none */
	const char *command_path; /* the file that `command` will execute; NULL = not known */
};

struct plan {
	struct capture_config config;
	struct table_geometry geometry;
	struct syscall_kinds syscalls;
	bool frame_pointers_only; /* an instance without task work has no reader to finish stacks */
	bool off_cpu;		  /* the times of blocked tasks are kept */
	bool times;		  /* each thread has an account of its time */
	bool kernel_text;	  /* functions of the kernel are recognised (abi/config.h) */
	bool symbol_iterators;	  /* a program lists the kernel's symbols */
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

/* Features that the capture does without, with the kernel's reason; an empty message: the capture
 * has the feature. */
struct capture_refusals {
	struct stackmap_error user_stacks; /* a better way to user stacks */
	struct stackmap_error task_iterators;
};

#endif
