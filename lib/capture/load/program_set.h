/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF object of an instance, loaded once, and again for every source whose program cannot be
 * told its event kind by a cookie: such a copy has the kind as a constant and shares all maps with
 * the first.
 */
#ifndef LIB_CAPTURE_PROGRAM_SET_H
#define LIB_CAPTURE_PROGRAM_SET_H

#include "capture/feature/kernel_types.h"
#include "capture/load/plan.h"
#include "capture/load/program_image.h"
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
	PROGRAM_FIELD_VALUE = 1 << 13, /* a tracepoint's record */
	PROGRAM_FIELD_CALL = 1 << 14,  /* and what counts when it was skipped */
	PROGRAM_TIME = 1 << 15,	       /* and the programs that go with it */
	PROGRAM_LAST = PROGRAM_TIME,
};

struct capture_bpf;
struct engine;

struct set_program {
	const struct bpf_program *program;
	int fd;
	bool is_owned; /* by the set, and not by libbpf */
};

struct program_set {
	u32 programs;	      /* enum program, as bits */
	bool cookie;	      /* the kind comes with each link */
	bool sample;	      /* its perf event is a CPU sample */
	u32 kind;	      /* otherwise */
	const char *function; /* target of PROGRAM_KERNEL_ENTRY and _RETURN */
	struct capture_bpf *object;
	struct kernel_types types; /* what it is loaded with */
	bool is_copy;		   /* the object is the first set's */
	struct set_program *loaded;
	u32 loaded_count, loaded_room;
};

/* What libbpf warns of next is kept for programs_refused(), which says why programs could not be
 * loaded. */
void programs_listen(void);
int programs_refused(int code, struct stackmap_error *error);

/* The same of what was not loaded by libbpf. */
void programs_note(const struct bpf_program *program, int code);

/* Loads what the sets of an instance say, in two steps: the maps, which the first set has, with
 * table_fd as the stack map's generation, those of the engine, and what libbpf loads for it; then
 * all that is kept in *images, which the caller frees. On failure program_set_unload() is still to
 * be called. */
int program_sets_prepare(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
			 struct engine *engine, struct program_images *images,
			 struct stackmap_error *error);
int program_sets_load(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
		      const struct program_images *images, const struct meanwhile *meanwhile,
		      struct stackmap_error *error);
void program_set_unload(struct program_set *set);

/* A program of the object, as the set has loaded it: its descriptor, or -1. */
int program_set_fd(const struct program_set *set, const struct bpf_program *program);

/* Opens the object, to be loaded. */
int program_set_open_object(struct program_set *set);

/* Loads an object that is ready for it. 0: its variables are there. */
int program_set_load_object(struct program_set *set);

/* One bit of enum program -> its program of the object. */
struct bpf_program *program_set_program(const struct program_set *set, enum program program);

/* The same -> its descriptor, or -1: it is not in the set. */
int program_set_event_fd(const struct program_set *set, enum program program);

/* What schedules callbacks for a program (bpf/deferral/callback.h). NULL: nobody. */
struct callback_programs {
	struct bpf_program *program;
	struct bpf_map *array;
};

struct callback_programs program_set_callback(const struct program_set *set, enum program program);

/* A hook of the kernel that is there whatever is recorded. */
struct task_hook {
	const char *tracepoint;
	int program;	  /* descriptor; -1: not loaded */
	bool is_optional; /* kernels may lack it */
};

#define TASK_HOOKS 11

void program_set_hooks(const struct program_set *set, struct task_hook hooks[TASK_HOOKS]);

/* Runs the kernel refused because the same program was running on that CPU already; not of
 * PROGRAM_FIELD_VALUE, whose skips are counted otherwise on any kernel. */
u64 program_set_recursion_misses(const struct program_set *set);
u64 program_recursion_misses(int fd);

#endif
