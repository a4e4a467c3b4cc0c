/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the stack map share. */
#ifndef _KERNEL_TRACE_STACKMAP_INTERNAL_H
#define _KERNEL_TRACE_STACKMAP_INTERNAL_H

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/hashtable.h>
#include <linux/xarray.h>

#include "stackmap/mapping.h"
#include "stackmap/stack_map.h"
#include "stackmap/stack_pack.h"

struct mm_struct;
struct seq_file;
struct task_struct;
struct trace_array;

/* Whose anonymous memory a frame lies in. */
struct trace_process {
	pid_t tgid;
	u64 since; /* ns of CLOCK_BOOTTIME */
};

/*
 * What the mapping numbers of user frames stand for. Nothing is taken out before the whole is
 * freed.
 */
struct trace_mappings {
	struct mutex lock; /* guards both */
	DECLARE_HASHTABLE(by_key, 8);
	struct xarray by_number; /* also read under RCU */
	u32 count;
	u32 refused; /* frames in what has no number, as there is no room or memory for it */
};

struct trace_mapping {
	struct hlist_node node;
	struct mapping_key key;
	u32 number;
	u32 build_id_bytes; /* 0: none is known */
	u8 build_id[MAPPING_BUILD_ID_MAX];
	char path[];
};

/* One generation of a map. */
struct trace_stackmap {
	refcount_t users; /* the instance, open files, and who answers for a user stack */
	atomic_long_t deep; /* stacks that had more frames than the map takes */
	atomic_long_t lost; /* refused stacks for which the ring had no room either */
	struct trace_mappings mappings;
	struct table_geometry geometry;
	struct stack __percpu *packed; /* stacks are packed in place, and may have to be recorded */
	u8 table[] __aligned(64);
};

/* The current generation of an instance, with a reference; or NULL. */
struct trace_stackmap *trace_stackmap_get(struct trace_array *tr);
void trace_stackmap_put(struct trace_stackmap *map); /* may sleep; NULL does nothing */

void trace_mappings_init(struct trace_mappings *mappings);
void trace_mappings_free(struct trace_mappings *mappings);

/*
 * The frame of a user address of @process: mapping number and offset. The caller holds the lock
 * of @mm. May sleep.
 */
u64 trace_mappings_frame(struct trace_mappings *mappings, const struct trace_process *process,
			 struct mm_struct *mm, unsigned long address);

/* "name+0x offset" of a user frame. */
void trace_mappings_show_frame(struct seq_file *seq, struct trace_mappings *mappings, u64 frame);

/* The line of a number in the file `mappings`, if there is such a number. */
void trace_mappings_show(struct seq_file *seq, struct trace_mappings *mappings, u32 number);

#ifdef CONFIG_FTRACE_USER_STACKMAP
/* What became of the user stacks of an instance, as lines of stack_map_stat. */
void trace_user_stacks_show(struct seq_file *seq, struct trace_array *tr);
#else
static inline void trace_user_stacks_show(struct seq_file *seq, struct trace_array *tr)
{
}
#endif

#endif
