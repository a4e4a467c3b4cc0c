/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF object of an instance, loaded once, and again for each source whose program does not get
 * its event kind by a cookie: such a copy has the kind as a constant, and shares all maps with the
 * first.
 */
#ifndef LIB_CAPTURE_PROGRAM_SET_H
#define LIB_CAPTURE_PROGRAM_SET_H

#include "capture/feature/kernel_types.h"
#include "capture/load/program_image.h"
#include "stackmap/error.h"

struct plan;

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
	PROGRAM_FIELD_VALUE = 1 << 13, /* the event of a tracepoint with a value */
	PROGRAM_FIELD_CALL = 1 << 14,  /* counts skipped runs of PROGRAM_FIELD_VALUE */
	PROGRAM_TIME = 1 << 15,	       /* with all programs of thread times */
	PROGRAM_ORIGIN = 1 << 16,      /* with all programs of origins */
	PROGRAM_LAST = PROGRAM_ORIGIN,
};

struct capture_bpf;
struct engine;

struct set_program {
	const struct bpf_program *program;
	int fd;
	bool is_owned; /* closed by the set; else by libbpf */
};

struct program_set {
	u32 programs;	      /* enum program, as bits */
	bool cookie;	      /* the kind comes with each link */
	bool sample;	      /* the perf event is a CPU sample */
	u32 kind;	      /* without `cookie` */
	const char *function; /* target of PROGRAM_KERNEL_ENTRY and _RETURN */
	struct capture_bpf *object;
	struct kernel_types types; /* types that the object is loaded with */
	bool is_copy;		   /* the object is that of the first set */
	struct set_program *loaded;
	u32 loaded_count, loaded_room;
};

/* programs_listen() keeps libbpf's next warning for programs_refused(), which sets the error of a
 * failed load. */
void programs_listen(void);
int programs_refused(int code, struct stackmap_error *error);

/* Keeps the error of a program that libbpf did not load. */
void programs_note(const struct bpf_program *program, int code);

/* Load the programs of all sets, in two steps: first the maps, which the first set has, with
 * table_fd as the generation of the stack map and with the maps of the engine, and the programs
 * that libbpf loads; then all programs in *images, which the caller frees. On failure the caller
 * still calls program_set_unload(). */
int program_sets_prepare(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
			 struct engine *engine, struct program_images *images,
			 struct stackmap_error *error);
int program_sets_load(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
		      const struct program_images *images, const struct meanwhile *meanwhile,
		      struct stackmap_error *error);
void program_set_unload(struct program_set *set);

/* The descriptor of a program that the set has loaded, or -1. */
int program_set_fd(const struct program_set *set, const struct bpf_program *program);

/* Opens the object, for loading. */
int program_set_open_object(struct program_set *set);

/* Loads a prepared object and maps its variables. 0 or -errno. */
int program_set_load_object(struct program_set *set);

/* The program of the object for one bit of enum program. */
struct bpf_program *program_set_program(const struct program_set *set, enum program program);

/* The descriptor of this program, or -1: not in the set. */
int program_set_event_fd(const struct program_set *set, enum program program);

/* The program that schedules callbacks for an event's program (bpf/deferral/callback.h), or NULL.
 */
struct callback_programs {
	struct bpf_program *program;
	struct bpf_map *array;
};

struct callback_programs program_set_callback(const struct program_set *set, enum program program);

/* A hook that is attached for all sources. */
struct task_hook {
	const char *tracepoint;
	int program;	  /* descriptor; -1 = not loaded */
	bool is_optional; /* kernels may lack it */
};

#define TASK_HOOKS 11

void program_set_hooks(const struct program_set *set, struct task_hook hooks[TASK_HOOKS]);

/* The number of runs that the kernel skipped because the program was running on that CPU already,
 * without those of PROGRAM_FIELD_VALUE, which are counted in another way. */
u64 program_set_recursion_misses(const struct program_set *set);
u64 program_recursion_misses(int fd);

#endif
