/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process under ptrace, with one stopped thread to unwind, and the functions that the unwinder
 * needs from its embedder: reads of this process's memory and mappings. */
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
	u64 image; /* address of offset 0 of the same file */
	u64 inode;
	bool is_code;
};

/* Bytes that reads give in place of the process's memory. */
struct traced_patch {
	u64 start;
	u32 bytes;
	const u8 *data;
};

#define TRACED_PATCHES_MAX 3

struct traced {
	pid_t pid;
	pid_t tid; /* the thread that stopped last */
	int memory;
	u64 stop;   /* number of this stop; 0: others resume the thread */
	int signal; /* signal to deliver when the thread resumes */
	bool is_compat;
	u64 generation; /* incremented when the mappings have changed */
	u64 maps_hash;
	bool has_probes; /* the process has run into user probes, of any recorder */
	u32 mapping_count;
	struct traced_mapping mapping[TRACED_MAPPINGS_MAX];
	struct unwind_registers registers; /* of tid */
	/* A copy of the thread's stack from rsp on; reads of the stack use the copy. */
	const u8 *stack;
	u32 stack_bytes;
	u32 patch_count;
	struct traced_patch patch[TRACED_PATCHES_MAX];
};

enum traced_stop { TRACED_EXITED, TRACED_MARKER, TRACED_STEP, TRACED_SYSCALL, TRACED_SIGNAL };

/* The unwinder's cache of rules by address, valid until the mappings change; NULL: no cache. */
extern struct rule_cache *traced_rules;

/* Starts a program and stops it at its first instruction. False: the start has failed. */
bool traced_start(struct traced *traced, char **argv);

/* Resumes the thread that stopped last by PTRACE_CONT, PTRACE_SYSCALL or PTRACE_SINGLESTEP, and
 * waits until any thread stops. */
enum traced_stop traced_resume(struct traced *traced, int how);

/* Opens the mappings and memory of a process that others stop and resume. */
void traced_watch(struct traced *traced, pid_t pid);

/* Reads /proc/PID/maps again. */
void traced_maps(struct traced *traced);

/* Lists the executable mappings for a BPF program that unwinds the process. */
void traced_list_code(const struct traced *traced, struct listed_mappings *mappings);

/* Reads memory; each page is read once during a stop. */
bool traced_read(const struct traced *traced, u64 address, void *buffer, u32 bytes);

/* Ends traced_watch(). */
void traced_unwatch(struct traced *traced);

/* Kills all threads that are left. */
void traced_end(struct traced *traced);

#endif
