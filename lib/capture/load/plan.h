/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes the sizes of all parts of an instance, and the constants of its BPF programs, from the
 * options. */
#ifndef LIB_CAPTURE_PLAN_H
#define LIB_CAPTURE_PLAN_H

#include <sys/types.h>

#include "array.h"
#include "capture/source/source.h"
#include "config.h"
#include "stack_table.h"
#include "stackmap/error.h"

struct capture_options {
	const struct source_list *sources; /* sources to record; they must outlive the capture */
	u32 bits;			   /* log2 of the size of the stack map; 0 = the default */
	u64 pool_bytes;	  /* memory for stacks in the stack map; 0 = the default for `bits` */
	u64 ring_bytes;	  /* drain: size of each CPU's ring; 0 = the default */
	u64 flight_bytes; /* flight recorder: size of all CPUs' rings together; 0 = no flight
			     recorder */
	bool no_dedup;
	bool trace_ids;	  /* events get the trace id and the span id that their thread works on */
	bool count_unmet; /* the events that do not meet their conditions are counted */
	bool aggregate;	  /* events are counted at their stacks by their values, none is recorded */
	bool no_kernel_stacks;
	bool no_user_stacks;
	enum user_unwind user_unwind;
	bool no_task_work;	  /* user stacks are not deferred by task work */
	bool no_task_iterators;	  /* this kernel refuses task iterators */
	bool no_symbol_iterators; /* this kernel refuses symbol iterators */
	u32 max_user_depth;	  /* the most frames of a user stack; 0 = STACK_WALK_DEPTH_MAX */
	bool user_at_syscall;	  /* the user stack is taken at the entry of each system call */
	bool by_task; /* only tasks of loaded_follow_process() and their descendants are recorded */
	struct string_list comms; /* only tasks with these names, which may be globs
				     (lib/comm_glob.h), are recorded; empty = all tasks */
	/* Cgroup2 directory of the only cgroup that is recorded; NULL = all cgroups. */
	const char *cgroup;
	const u64 *cpu_mask; /* the only CPUs that are recorded, as CONFIG_CPUS_MAX bits; NULL = all
				CPUs */
	bool has_files;	     /* the instance will have readable files: files_create()
				(capture/instance/files.h) */
	/* Process id of a child that will call execve, to which perf events are bound; 0 = no
	 * command. */
	pid_t command;
	const char *command_path; /* the file that `command` will execute; NULL = not known */
};

struct plan {
	struct capture_config config;
	struct table_geometry geometry;
	struct syscall_kinds syscalls;
	bool frame_pointers_only; /* user stacks are taken by frame pointers only: an instance
				     without task work has no reader that could unwind them */
	bool off_cpu;		  /* programs store the begin of each task's wait */
	bool times;		  /* each thread has an account of its time (abi/thread_time.h) */
	bool kernel_text;	  /* kernel functions of abi/config.h are recognised in stacks */
	bool symbol_iterators;	  /* a program lists the kernel's symbols */
	bool task_iterators;	  /* tasks that are blocked at the end get events */
	bool visits_at_start; /* tasks that are blocked at the start get events; not if a command is
				 recorded */
	bool holders;	 /* at the end, threads that hold locks for which others wait get events */
	u32 holder_kind; /* event kind of the events of lock holders */
	u32 questions; /* number of event kinds up to the last that has a question (abi/question.h)
			*/
	bool spans;
	u32 comm_patterns;   /* number of conditions on task names, of all sources together */
	bool user_functions; /* functions of user programs are recorded */
};

/* Computes the plan. 0; -ERANGE: `error` has the allowed range; or -errno. */
int plan_make(const struct capture_options *options, struct plan *plan,
	      struct stackmap_error *error);

/* True if user stacks are unwound by tables; some of these stacks are deferred, that is, unwound
 * after the event. */
bool plan_defers_user_stacks(const struct plan *plan);

/* The kernel's reasons for refusing features that a capture does without. An empty message: the
 * capture has the feature. */
struct capture_refusals {
	struct stackmap_error user_stacks; /* why user stacks are not unwound by a better method */
	struct stackmap_error task_iterators;
};

#endif
