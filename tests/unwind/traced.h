/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process under ptrace, one of whose threads stands still to be unwound; and the embedder's half
 * of the unwinder: this process's memory and mappings. */
#ifndef TESTS_UNWIND_TRACED_H
#define TESTS_UNWIND_TRACED_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "listed_mappings.h"
#include "unwind/cached_rule.h"
#include "unwind/unwind.h"

#define TRACED_MAPPINGS_MAX 1024

struct traced_mapping {
	u64 start, end, offset;
	u64 image; /* where offset 0 of the same file is mapped */
	u64 inode;
	bool is_code;
};

/* Memory as if the process had it. */
struct traced_patch {
	u64 start;
	u32 bytes;
	const u8 *data;
};

#define TRACED_PATCHES_MAX 3

struct traced {
	pid_t pid;
	pid_t tid; /* that stopped last */
	int memory;
	u64 stop;   /* a number of its own for each time it stands still; 0: others let it go on */
	int signal; /* to be delivered to it */
	bool is_compat;
	u64 generation; /* moves when the mappings have changed */
	u64 maps_hash;
	u32 mapping_count;
	struct traced_mapping mapping[TRACED_MAPPINGS_MAX];
	struct unwind_registers registers; /* of tid */
	/* A copy of its stack from rsp on, which is read instead of the process. */
	const u8 *stack;
	u32 stack_bytes;
	u32 patch_count;
	struct traced_patch patch[TRACED_PATCHES_MAX];
};

enum traced_stop { TRACED_EXITED, TRACED_MARKER, TRACED_STEP, TRACED_SYSCALL, TRACED_SIGNAL };

/* What the unwinder remembers, by address: good until the mappings change. NULL: nothing. */
extern struct rule_cache *traced_rules;

/* Starts a program; it stands at its first instruction. False: it could not be started. */
bool traced_start(struct traced *traced, char **argv);

/* Lets the thread that stopped last go on, by PTRACE_CONT, PTRACE_SYSCALL or PTRACE_SINGLESTEP,
 * until any thread stops. */
enum traced_stop traced_resume(struct traced *traced, int how);

/* Knows a process that others stop: nothing but its mappings and memory. */
void traced_watch(struct traced *traced, pid_t pid);

/* Reads /proc/PID/maps again. */
void traced_maps(struct traced *traced);

/* Its code, for a program that unwinds it. */
void traced_list_code(const struct traced *traced, struct listed_mappings *mappings);

/* Of what stands still each page is read once. */
bool traced_read(const struct traced *traced, u64 address, void *buffer, u32 bytes);

/* Lets go of a process that was watched. */
void traced_unwatch(struct traced *traced);

/* Kills what is left of it. */
void traced_end(struct traced *traced);

#endif
