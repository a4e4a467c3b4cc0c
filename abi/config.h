/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What one instance is, as constants of its programs: user space writes them before loading, the
 * verifier folds them, so a branch that an instance does not need costs nothing.
 */
#ifndef STACKMAP_ABI_CONFIG_H
#define STACKMAP_ABI_CONFIG_H

#include "scalar.h"

#define CONFIG_SYSCALLS_MAX 512
#define CONFIG_CPUS_MAX 1024

/* How user stacks are taken. */
enum user_unwind { USER_UNWIND_FP = 0, USER_UNWIND_AUTO = 1 };

/* Who finishes what could not be unwound at the event. */
enum deferral_way {
	DEFERRAL_TASK_WORK = 0, /* the kernel, before the task returns to user mode */
	DEFERRAL_ASSISTED = 1,	/* user space, from a copy of registers and stack */
};

/* The PID namespace whose tasks are recorded, by the ids that they have there. */
struct pid_namespace_id {
	u64 address; /* of the kernel's struct; 0: the initial one */
	u32 level;   /* namespaces around it; 0: the initial one */
	u32 inode;   /* of /proc/PID/ns/pid; 0: the initial one */
};

#define COMM_BYTES 16 /* the name of a task, and at least one 0 behind it */

/* The globs of --comm as states of one automaton, a bit each (core/comm_globs.h). */
struct comm_globs {
	u64 first;	 /* before the first byte */
	u64 stays;	 /* that a byte does not end */
	u64 last;	 /* behind the last byte: a glob has matched */
	u64 enters[256]; /* by byte: that it leads to, each from the state below */
};

struct capture_config {
	u32 cpus; /* highest possible CPU number + 1 */
	u32 bits; /* of the stack map */
	u32 pool_words;
	u32 ring_slots; /* per CPU */
	u32 last_slot;	/* bytes before the last slot of a ring */
	u32 slot_size;	/* 24, 32 or 40 bytes */
	u32 task_slots; /* per CPU, of the task ring */
	u32 flight;	/* overwrite the oldest; 0: drain */
	u32 no_dedup;	/* record every stack in full */
	u32 kernel_stacks;
	u32 user_stacks;
	u32 max_depth; /* kernel.perf_event_max_stack: what bpf_get_stack can return */
	u32 kind;      /* of an object whose programs cannot have a cookie */
	u32 cookie;    /* programs of this object ask for their cookie instead */
	u32 leaf;      /* slots have room for the pc of CPU samples */
	u32 sample;    /* the perf event of this object is a CPU sample */
	u32 value;     /* slots have room for a value, behind the leaf */
	u32 off_cpu_kind;
	u32 waker_kind;
	u32 user_unwind;     /* enum user_unwind */
	u32 deferral;	     /* enum deferral_way */
	u32 max_user_depth;  /* frames of a user stack, 1 .. STACK_USER_DEPTH_MAX */
	u32 user_at_syscall; /* take the user stack at the entry of each system call */
	u32 by_task;	     /* only tasks in `followed` */
	u32 by_comm;	     /* only tasks whose name `comms` match */
	u32 by_cpu;	     /* only CPUs in cpu_mask */
	u32 has_files;	     /* lib/capture/instance/files.h: what only they show is kept */
	struct pid_namespace_id pids;
	u64 cgroup; /* only in or below the one with this id; 0: any */
	struct comm_globs comms;
	u64 cpu_mask[CONFIG_CPUS_MAX / 64];
};

/* The cookie of a user function's link: event kind, and whether the probe is at the function's
 * entry. */
#define COOKIE_OF(kind, at_entry) ((u64)(kind) | (u64)(at_entry) << 16)
#define COOKIE_KIND(cookie) ((u32)(cookie)&0xffff)
#define COOKIE_AT_ENTRY(cookie) ((cookie) >> 16 & 1)

/* The cookie of a tracepoint with a value: event kind, and where its record has the value. */
#define FIELD_COOKIE_OF(kind, offset, bytes, is_signed)                                            \
	((u64)(kind) | (u64)(offset) << 16 | (u64)(bytes) << 32 | (u64)(is_signed) << 40)
#define FIELD_COOKIE_OFFSET(cookie) ((cookie) >> 16 & 0xffff)
#define FIELD_COOKIE_BYTES(cookie) ((cookie) >> 32 & 0xff) /* 1, 2, 4 or 8 */
#define FIELD_COOKIE_SIGNED(cookie) ((cookie) >> 40 & 1)

/* Bits of the programs' word `paused`, which user space sets and clears. */
enum pause {
	PAUSE_USER = 1,
	PAUSE_SNAPSHOT = 2, /* rings and counters are being copied: not a word may be written */
};

enum follow { FOLLOW_FROM_EXEC = 0, FOLLOW_NOW = 1 };

/* A value in `followed`, by thread id. An id is given to another task before the kernel frees the
 * one that had it. */
struct followed {
	u64 task; /* the kernel's task_struct; 0: not known */
	u64 from; /* enum follow */
};

/* Of a perf event, by CPU. */
struct perf_runs {
	u64 runs;  /* of its program */
	u64 count; /* of the event on this CPU at the last run; not of an event that is inherited */
};

/* Of a tracepoint with a value, by CPU (bpf/event/field_value.h). */
struct field_runs {
	u64 ahead;	 /* runs of its program that the raw one has yet to follow; signed */
	u64 is_followed; /* the raw one has run here */
	u64 skipped;
	u64 unsure; /* the same, after its last run: skipped, or detached meanwhile */
};

/* By system call number. */
struct syscall_side {
	u16 kind[CONFIG_SYSCALLS_MAX]; /* + 1; 0: not recorded */
	u8 value[CONFIG_SYSCALLS_MAX]; /* a SYSCALL_VALUE_OF(); 0: no value */
};

/* Which word of pt_regs is the value, and how much of it: int and unsigned int have the lower half.
 */
#define SYSCALL_VALUE_OF(word, is_half, is_signed)                                                 \
	(((word) + 1) | (u32)(is_half) << 6 | (u32)(is_signed) << 7)
#define SYSCALL_VALUE_WORD(value) (((value)&0x3f) - 1)
#define SYSCALL_VALUE_HALF(value) ((value) >> 6 & 1)
#define SYSCALL_VALUE_SIGNED(value) ((value) >> 7 & 1)

struct syscall_kinds {
	struct syscall_side enter;
	struct syscall_side exit;
};

#endif
