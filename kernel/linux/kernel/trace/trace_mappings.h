/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef _KERNEL_TRACE_MAPPINGS_H
#define _KERNEL_TRACE_MAPPINGS_H

#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/xarray.h>

#include "stackmap/stack.h"

struct mm_struct;
struct seq_file;

#define TRACE_MAPPINGS_MAX	8192
#define TRACE_MAPPING_UNKNOWN	STACKID_FRAME_MAPPING_MAX

enum trace_mapping_kind {
	TRACE_MAPPING_FILE = 1,
	TRACE_MAPPING_VDSO,
	TRACE_MAPPING_ANON,
};

/* The process of anonymous memory: process ids are reused */
struct trace_process {
	pid_t tgid;
	u64 start;	/* CLOCK_BOOTTIME, ns */
};

/*
 * FILE: device, inode, generation, and mtime, as files are rewritten in place
 * VDSO: inode is 1 for that of 32-bit tasks
 * ANON: inode is tgid << 24 | address >> 40, mtime the start of the process
 */
struct trace_mapping_key {
	u64 device;
	u64 inode;
	u64 mtime;
	u32 generation;
	u32 kind;
};

struct trace_mapping {
	struct hlist_node node;
	struct trace_mapping_key key;
	u32 number;
	char path[];
};

/* Entries are not removed before all of them are freed. */
struct trace_mappings {
	struct mutex lock;		/* guards what is added */
	DECLARE_HASHTABLE(by_key, 8);	/* added to under lock, read under RCU */
	struct xarray by_number;	/* added to under lock, read under RCU */
	u32 count;			/* written under lock */
};

/* NULL stands for a map without user stacks. */
#ifdef CONFIG_FTRACE_USER_STACKMAP
void trace_mappings_init(struct trace_mappings *mappings);
void trace_mappings_free(struct trace_mappings *mappings);
u64 trace_mappings_frame(struct trace_mappings *mappings,
			 const struct trace_process *process,
			 struct mm_struct *mm, unsigned long address);
void trace_mappings_show_frame(struct seq_file *m,
			       struct trace_mappings *mappings, u64 frame);
#else
static inline void trace_mappings_init(struct trace_mappings *mappings) {}
static inline void trace_mappings_free(struct trace_mappings *mappings) {}
static inline void trace_mappings_show_frame(struct seq_file *m,
					     struct trace_mappings *mappings,
					     u64 frame) {}
#endif

#endif
