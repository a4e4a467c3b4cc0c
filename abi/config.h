/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The properties of one instance, as constants of its programs. User space writes the constants
 * before loading, and the verifier folds them: a branch that an instance does not need costs no
 * time.
 */
#ifndef STACKMAP_ABI_CONFIG_H
#define STACKMAP_ABI_CONFIG_H

#include "scalar.h"
#include "thread_time.h"

#define CONFIG_SYSCALLS_MAX 512
#define CONFIG_CPUS_MAX 1024

/* The method that unwinds user stacks. */
enum user_unwind { USER_UNWIND_FP = 0, USER_UNWIND_AUTO = 1 };

/* The side that finishes a stack which could not be unwound at the event. */
enum deferral_way {
	DEFERRAL_TASK_WORK = 0, /* the kernel, before the task returns to user mode */
	DEFERRAL_ASSISTED = 1,	/* user space, from a copy of registers and stack */
};

/* The PID namespace whose tasks are recorded. Recorded ids are the ids in this namespace. */
struct pid_namespace_id {
	u64 address; /* address of the kernel's struct; 0: the initial namespace */
	u32 level;   /* number of PID namespaces around it; 0: the initial namespace */
	u32 inode;   /* inode of /proc/PID/ns/pid; 0: the initial namespace */
};

#define COMM_BYTES 16 /* the name of a task, with at least one 0 at the end */

/* The globs of --comm as states of one automaton, a bit each (core/condition.h). */
struct comm_globs {
	/* state 0 of each glob: the states that are set before the first byte of a name */
	u64 first;
	u64 stays; /* the states that stay set whatever the next byte is */
	u64 last;  /* the states that say that a glob has matched */
	/* for each byte: the states that the byte sets, each from the state one lower */
	u64 enters[256];
};

enum alive_mode {
	ALIVE_NONE = 0,
	ALIVE_ALL,
	/* some sources record a sample of the things that are alive (abi/question.h) */
	ALIVE_SAMPLED,
};

struct capture_config {
	u32 cpus; /* highest possible CPU number + 1 */
	u32 bits; /* the stack map holds 2^bits stacks */
	u32 pool_words;
	u32 ring_slots; /* slots of the event ring, per CPU */
	u32 last_slot;	/* offset of the last slot from the first slot of a ring, in bytes */
	u32 slot_size;	/* EVENT_SLOT_SIZE() */
	u32 task_slots; /* slots of the task ring, per CPU */
	u32 flight;	/* 1: new events overwrite the oldest; 0: a reader drains the rings */
	/* 1, in drain mode: events that find their ring full are counted in rows (counted.h) */
	u32 count;
	u32 aggregate;	  /* 1: all events are counted, and none is recorded; `count` is set, too */
	u32 counted_rows; /* rows of a CPU's table of counted events; a power of two */
	u32 last_counted; /* offset of the last row from the first row, in bytes */
	u32 counted_ranges; /* COUNTED_RANGES_AT(counted_rows) */
	u32 no_dedup;	    /* 1: every stack is recorded in full */
	u32 kernel_stacks;
	u32 user_stacks;
	u32 max_depth; /* kernel.perf_event_max_stack: the most frames of bpf_get_stack() */
	u32 kind;      /* if `cookie` is 0: what the cookie of the object's only source would be */
	u32 cookie; /* 1: the programs read the cookie of the BPF link: it holds the event kind */
	u32 leaf;   /* 1: slots have room for the pc of CPU samples */
	u32 sample; /* 1: the perf event of this object is a CPU sample */
	u32 value;  /* 1: slots have room for a value, after the leaf */
	u32 questions; /* 1: a source has a question (abi/question.h) */
	/*
	 * 1: a question has question.refuses_early, only chosen threads are recorded, and unmet
	 * events are not counted
	 */
	u32 refuses_early;
	u32 alive; /* enum alive_mode; set if a source has an ALIVE_* role (abi/question.h) */
	u32 off_cpu_kind;
	u32 waker_kind;
	u32 origins; /* 1: an event of queued work has the stacks of the task that queued it */
	u32 origin_kind;
	u32 time_kinds[TIME_STATES]; /* event kinds by enum time_state; or TIME_KIND_NONE */
	u32 user_unwind;	     /* enum user_unwind */
	u32 deferral;		     /* enum deferral_way */
	u32 max_user_depth;	     /* frames of a user stack, 1 .. STACK_USER_DEPTH_MAX */
	u32 user_at_syscall; /* 1: the user stack is taken at the entry of each system call */
	u32 by_task;	     /* 1: only tasks in the map `followed` are recorded */
	u32 by_comm;	     /* 1: only tasks whose name matches a glob of `comms` are recorded */
	u32 by_cpu;	     /* 1: only events on CPUs in cpu_mask are recorded */
	u32 has_files;	     /* 1: the instance has files (lib/capture/instance/files.h) */
	struct pid_namespace_id pids;
	/* bits that make up an address of code; the other bits may hold a signature (arm64) */
	u64 code_mask;
	u32 page_scale;	  /* size of a memory page: 4096 << page_scale bytes (arm64) */
	u32 begin_stacks; /* 1: the begin of a span is an event in the ring (abi/question.h) */
	u32 trace_ids;	  /* 1: slots have room for trace and span, after the leaf and the values */
	u32 counters;	  /* number of perf counters that events read (abi/question.h) */
	u32 triggers;	  /* 1: a source may be a trigger (abi/trigger_state.h) */
	u32 further;	  /* 1: slots have room for a second value, after the value */
	/* number of sources whose lost events are counted apart; 0: the instance has one source */
	u32 losses;
	u32 count_unmet; /* 1: the number of events that do not meet their conditions is counted */
	u32 schedules;	 /* 1: on_sample itself schedules the callback (bpf/deferral/callback.h) */
	u64 cgroup;	 /* id of the cgroup whose tasks are recorded; 0: tasks of all cgroups */
	u64 attribute_key[2]; /* secret key of the hashes of attributes (abi/thread_context.h) */
	struct comm_globs comms;
	u64 cpu_mask[CONFIG_CPUS_MAX / 64];
};

#define TIME_KIND_NONE 0xffffffffU

/*
 * Index, in the map `source_losses`, of the number of events that a source has lost on a CPU. CPU
 * number `cpus` stands for the losses that earlier files have reported.
 */
#define SOURCE_LOSSES_AT(config, cpu, kind) ((cpu) * (config).losses + (kind))

/* Number of extra words of a slot that come before trace and span. */
#define EVENT_NUMBERS(config) ((config).leaf + (config).value + (config).further)

/*
 * The cookie of a user function's link: the event kind, and a bit that is set if the probe is at
 * the function's entry.
 */
#define COOKIE_OF(kind, at_entry) ((u64)(kind) | (u64)(at_entry) << 16)
#define COOKIE_KIND(cookie) ((u32)(cookie)&0xffff)
#define COOKIE_AT_ENTRY(cookie) ((cookie) >> 16 & 1)

/* Bits of the programs' word `paused`, which user space sets and clears. */
enum pause {
	PAUSE_USER = 1,
	PAUSE_SNAPSHOT = 2, /* rings and counters are being copied: no program may write */
};

enum follow { FOLLOW_FROM_EXEC = 0, FOLLOW_NOW = 1 };

/*
 * A value of the map `followed`, by thread id. The kernel may give an id to a new task before it
 * frees the former one.
 */
struct followed {
	u64 task; /* address of the kernel's task_struct; 0: not known */
	u64 from; /* enum follow */
};

/* Counters of one perf event, by CPU. */
struct perf_runs {
	u64 runs;  /* number of runs of the event's program */
	u64 count; /* the perf event's own count at the last run; not set for inherited events */
};

/* Counters of one tracepoint whose record is read, by CPU (core/field_runs.h). */
struct field_runs {
	/* runs of the first program that no run of the second program has matched; signed */
	u64 ahead;
	u64 is_followed; /* 1: the second program has run on this CPU */
	u64 skipped;
	/*
	 * runs of the second program, since the last run of the first one, that no run of the first
	 * one matched, at events that passed the filters: the kernel skipped or had detached the
	 * first one
	 */
	u64 unsure;
};

/*
 * The event kind of each recorded system call, indexed by the number of the system call. One such
 * table is for entries, another one for exits.
 */
struct syscall_side {
	u16 kind[CONFIG_SYSCALLS_MAX]; /* event kind + 1; 0: not recorded */
};

struct syscall_kinds {
	struct syscall_side enter;
	struct syscall_side exit;
};

/* The number of child processes of the recorder whose events can be left out. The recorder itself
 * is not counted. A power of two. */

#define OWN_PROCESSES 64

/*
 * Functions of the kernel that programs recognise on a stack by their addresses. User space takes
 * the addresses from kallsyms.
 *
 * TEXT_TRACER: functions between a tracepoint and its programs: __traceiter_NAME and
 * __bpf_trace_NAME. The number of these frames on a stack depends on the compiler (tail calls) and
 * on other tracers at the same tracepoint. The trampolines of return probes are of this kind, too.
 *
 * TEXT_INTERRUPT: the first C function of the kernel for an interrupt.
 *
 * TEXT_SOFT_INTERRUPT: the function that runs soft interrupts, at the end of an interrupt, in a
 * task that enables them again, or in a task of their own.
 *
 * TEXT_ENTRY: assembler code that the CPU enters for an interrupt or an exception: asm_exc_NAME,
 * asm_sysvec_NAME... The next frame further out is kernel code that was interrupted; on the
 * kernel's stack that frame is the pc itself.
 *
 * TEXT_TASK: functions in which the end of an interrupt does the work of the interrupted task, such
 * as __schedule for a preemption. Code that these functions call belongs to the task and not to the
 * interrupt.
 */

#define KERNEL_TEXT_MAX 8192

enum text_kind {
	TEXT_OTHER = 0,
	TEXT_TRACER = 1,
	TEXT_INTERRUPT = 2,
	TEXT_ENTRY = 3,
	TEXT_SOFT_INTERRUPT = 4,
	TEXT_TASK = 5
};

struct text_range {
	u64 start;
	u32 bytes;
	u32 kind; /* enum text_kind */
};

struct kernel_text {
	u64 count;
	struct text_range range[KERNEL_TEXT_MAX]; /* sorted by address */
};

#endif
