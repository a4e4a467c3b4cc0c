/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of a capture. */
#ifndef LIB_CAPTURE_OPTIONS_H
#define LIB_CAPTURE_OPTIONS_H

#include <sys/types.h>

#include "capture/source/source.h"
#include "config.h"
#include "string_list.h"

struct capture_options {
	const struct source_list *sources; /* must outlive the capture */
	u32 bits;			   /* of the stack map; 0 = the default */
	u64 pool_bytes;			   /* 0 = the default for `bits` */
	u64 ring_bytes;			   /* drain: per CPU; 0 = the default */
	u64 flight_bytes;		   /* flight: the rings of all CPUs together; 0 = drain */
	bool no_dedup;
	bool no_kernel_stacks;
	bool no_user_stacks;
	enum user_unwind user_unwind;
	bool no_task_work;	  /* do not defer user stacks by task work */
	bool no_task_iterators;	  /* this kernel refuses task iterators */
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

#endif
