/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A set of loaded BPF programs. The programs of an instance are loaded as one set, and again as a
 * further set for each source whose program does not get its event kind by a cookie. Such a copy
 * has the event kind as a constant, and shares all maps with the first set.
 */
#ifndef LIB_CAPTURE_PROGRAM_SET_H
#define LIB_CAPTURE_PROGRAM_SET_H

#include "capture/feature/kernel_types.h"
#include "capture/load/program_image.h"
#include "stackmap/error.h"

struct plan;

enum program {
	PROGRAM_TASKS = 1 << 0, /* the programs that follow tasks and their names; only the first
				   set has them */
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
	PROGRAM_FIELD_VALUE = 1 << 13, /* the program of the events of a tracepoint with a value */
	PROGRAM_FIELD_CALL = 1 << 14,  /* counts skipped runs of PROGRAM_FIELD_VALUE */
	PROGRAM_TIME = 1 << 15,	       /* one bit for all programs that record thread times */
	PROGRAM_ORIGIN = 1 << 16,      /* one bit for all programs that record origins */
	PROGRAM_LAST = PROGRAM_ORIGIN,
};

struct capture_bpf;
struct engine;

struct set_program {
	const struct bpf_program *program;
	int fd;
	bool is_owned; /* the set closes `fd`; false: libbpf closes it */
};

struct program_set {
	u32 programs;	      /* the selected programs, as bits of enum program */
	bool cookie;	      /* the programs read the event kind from the cookie of the link */
	bool sample;	      /* the source of the set is a CPU sample */
	u32 kind;	      /* cookie of the set's only source, if `cookie` is false */
	const char *function; /* kernel function to which PROGRAM_KERNEL_ENTRY or
				 PROGRAM_KERNEL_RETURN is attached */
	struct capture_bpf *object;
	struct kernel_types types; /* the kernel's types that the object is loaded with */
	bool is_copy;		   /* the set uses the object of the first set */
	struct set_program *loaded;
	u32 loaded_count, loaded_room;
};

/* programs_keep_warning() makes this thread keep libbpf's next warning; programs_set_error() sets
 * the error of a failed load, with this warning as the reason. */
void programs_keep_warning(void);
int programs_set_error(int code, struct stackmap_error *error);

/* Keeps the reason of a failed load that libbpf did not do, as programs_keep_warning() keeps a
 * warning. */
void programs_keep_error(const struct bpf_program *program, int code);

/* Load the programs of all sets, in two steps. program_sets_prepare() makes the maps, which belong
 * to the first set, with the engine's maps among them and table_fd as a table of the stack map, and
 * loads the programs that libbpf loads. program_sets_load() loads the programs in *images, which
 * the caller frees. On failure the caller still calls program_set_unload(). */
int program_sets_prepare(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
			 struct engine *engine, struct program_images *images,
			 struct stackmap_error *error);
int program_sets_load(struct program_set *sets, u32 count, const struct plan *plan, int table_fd,
		      const struct program_images *images, const struct meanwhile *meanwhile,
		      struct stackmap_error *error);
void program_set_unload(struct program_set *set);

/* Returns the descriptor of a program if the set has loaded it, or -1. */
int program_set_find_fd(const struct program_set *set, const struct bpf_program *program);

/* Opens the BPF object of a set. */
int program_set_open_object(struct program_set *set);

/* Loads the opened object of a set and maps its variables. 0 or -errno. */
int program_set_load_object(struct program_set *set);

/* Returns the program of the object for one bit of enum program. */
struct bpf_program *program_set_find_program(const struct program_set *set, enum program program);

/* Returns the descriptor of the program for one bit of enum program; -1: the set does not have
 * it. */
int program_set_find_event_fd(const struct program_set *set, enum program program);

/* For the program of an event: returns the program that schedules its task-work callbacks
 * (bpf/deferral/callback.h), or NULL, and the map that gets this program. */
struct callback_programs {
	struct bpf_program *program;
	struct bpf_map *array;
};

struct callback_programs program_set_find_callback(const struct program_set *set,
						   enum program program);

/* A program that follows tasks; it is attached whatever sources are recorded. */
struct task_hook {
	const char *tracepoint;
	int program;	  /* descriptor of the program; -1 = not loaded */
	bool is_optional; /* true: a kernel without the tracepoint is not an error */
};

#define TASK_HOOKS 11

void program_set_list_task_hooks(const struct program_set *set, struct task_hook hooks[TASK_HOOKS]);

/* Returns how many runs the kernel skipped because the program was running on that CPU already.
 * Skipped runs of PROGRAM_FIELD_VALUE are not included; PROGRAM_FIELD_CALL counts them. */
u64 program_set_recursion_misses(const struct program_set *set);
u64 program_recursion_misses(int fd);

#endif
