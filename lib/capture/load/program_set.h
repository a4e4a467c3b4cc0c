/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF object of an instance, loaded once, and again for every source whose program cannot be
 * told its event kind by a cookie: such a copy has the kind as a constant and shares all maps with
 * the first.
 */
#ifndef LIB_CAPTURE_PROGRAM_SET_H
#define LIB_CAPTURE_PROGRAM_SET_H

#include "capture/load/plan.h"
#include "stackmap/error.h"

enum program {
	PROGRAM_TASKS = 1 << 0, /* the hooks that follow tasks and names: first set only */
	PROGRAM_SAMPLE = 1 << 1,
	PROGRAM_TRACEPOINT = 1 << 2,
	PROGRAM_SYSCALL_ENTER = 1 << 3,
	PROGRAM_SYSCALL_EXIT = 1 << 4,
	PROGRAM_USER = 1 << 5,
	PROGRAM_USER_MULTI = 1 << 6,
	PROGRAM_KERNEL_PROBE = 1 << 7,
	PROGRAM_KERNEL_MULTI = 1 << 8,
	PROGRAM_KERNEL_ENTRY = 1 << 9,
	PROGRAM_KERNEL_RETURN = 1 << 10,
	PROGRAM_OFF_CPU = 1 << 11,
	PROGRAM_WAKER = 1 << 12,
	PROGRAM_VALUED = 1 << 13,      /* a tracepoint's record */
	PROGRAM_VALUED_CALL = 1 << 14, /* and what counts when it was skipped */
	PROGRAM_LAST = PROGRAM_VALUED_CALL,
};

struct capture_bpf;
struct engine;

struct program_set {
	u32 programs;	      /* enum program, as bits */
	bool cookie;	      /* the kind comes with each link */
	bool sample;	      /* its perf event is a CPU sample */
	u32 kind;	      /* otherwise */
	const char *function; /* target of PROGRAM_KERNEL_ENTRY and _RETURN */
	struct capture_bpf *object;
};

/* What libbpf warns of next is kept for programs_refused(), which says why programs could not be
 * loaded. */
void programs_listen(void);
int programs_refused(int code, struct stackmap_error *error);

/* Loads what *set says: the first of an instance, with table_fd as the stack map's generation, and
 * the maps of the engine. */
int program_set_load_first(struct program_set *set, const struct plan *plan, int table_fd,
			   struct engine *engine, struct stackmap_error *error);

/* One more: `first` lends its maps. */
int program_set_load(struct program_set *set, const struct plan *plan,
		     const struct program_set *first, struct stackmap_error *error);
void program_set_unload(struct program_set *set);

/* Loads an object that is ready for it. 0: its variables are there. */
int program_set_load_object(struct program_set *set);

/* One bit of enum program -> its loaded program. */
struct bpf_program *program_set_program(const struct program_set *set, enum program program);

/* A hook of the kernel that is there whatever is recorded. */
struct task_hook {
	const char *tracepoint;
	int program;	  /* descriptor; -1: not loaded */
	bool is_optional; /* kernels may lack it */
};

#define TASK_HOOKS 11

void program_set_hooks(const struct program_set *set, struct task_hook hooks[TASK_HOOKS]);

/* Runs the kernel refused because the same program was running on that CPU already; not of
 * PROGRAM_VALUED, whose skips are counted otherwise on any kernel. */
u64 program_set_recursion_misses(const struct program_set *set);
u64 program_recursion_misses(int fd);

#endif
