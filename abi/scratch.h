/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A scratch slot: the working memory of one running program. Programs interrupt each other on a CPU
 * (task, soft and hard interrupt, NMI) and, on preemptible kernels, not in LIFO order, so each CPU
 * has several scratch slots and a program owns the one whose busy word it exchanged. The owner
 * counts in plain memory: the ledger costs no locked operation.
 */
#ifndef STACKMAP_ABI_SCRATCH_H
#define STACKMAP_ABI_SCRATCH_H

#include "address_space.h"
#include "direct_memory.h"
#include "ledger.h"
#include "mapping.h"
#include "moved_code.h"
#include "rule.h"
#include "scalar.h"
#include "stack.h"

#define SCRATCH_SLOTS 8

/* While paused an event adds to lost[LOST_PAUSED] alone, which counts as produced too: the counters
 * are copied just then, and two of them would be out of step. */
struct scratch_counters {
	u64 produced; /* while not paused */
	u64 lost[LOST_COUNT];
	u64 unknown_frames;
	/* Of user stacks by unwind tables, at the event: */
	u64 walked;		  /* whole at once */
	u64 table_steps;	  /* frames by a rule of a whole-file table */
	u64 deferred[STOP_COUNT]; /* by what ended the walk, enum stop_reason */
};

/* A mapping that a user address lay in. */
struct known_vma {
	struct address_space space;
	u64 start;
	u64 end;	 /* 0: none, and start is 0, too */
	u64 file_offset; /* of start */
	u64 image; /* where the file's first segment is mapped, with the ELF header; 0: nowhere */
	u32 number;
	u16 has_image; /* `image` was looked for */
	u16 kind;      /* enum mapping_kind */
};
ABI_SIZE(struct known_vma, 64);

/* What an address lies in, as the kernel has it: a mapping, or a gap between two. */
struct vma_entry {
	u64 vma; /* the kernel's vm_area_struct; 0: a gap */
	u64 start;
	u64 end;
	u64 flags;
	u64 page_offset; /* of start in the file */
	u64 file;	 /* the kernel's struct file; 0: none */
};

/* From the mapping of code downwards, to that of its file's first segment. */
struct image_search {
	u64 inode;
	u64 offset; /* in the file, of the lowest mapping found of the image */
	u64 limit;  /* what is to be looked at lies below */
	s64 error;
};

#define BUILD_IDS_UNREAD_MAX 16 /* a power of two */
#define RECENT_VMAS 8		/* a power of two */

/* Looking for mappings of one address space: the latest found, and what the search needs. */
struct vma_search {
	struct known_vma vma;
	u32 tgid;	 /* whose address space it is */
	u32 wants_entry; /* with each mapping that is found, `entry` has to be its */
	u32 recent_next;
	u32 wants_data;			      /* a mapping counts whether it is code or not */
	struct known_vma recent[RECENT_VMAS]; /* found in the kernel, in turn */
	u64 walks;			      /* how often it was looked there */
	struct vma_entry entry;
	u64 slot; /* where the tree has `entry`, in the kernel */
	struct image_search image;
	struct { /* from a file to the root of its file system, as pointers */
		u64 dentry;
		u64 mount;
	} path;
	u64 space;	  /* a user namespace, as a pointer */
	u64 node[32];	  /* one maple tree node */
	u64 unread_count; /* of: addresses in files whose build ids are to be read */
	u64 unread[BUILD_IDS_UNREAD_MAX]; /* or in memory without a file */
	struct moved_key moved_key;	  /* what may be moved code */
	struct moved_code moved;
	struct mapping_record record;
	u8 path_slack[256]; /* behind record.path: a component is read at any offset in it */
};

#define SCRATCH_PAGES 256

/* A walk up the user stack. */
struct user_walk {
	u64 pc; /* of the next frame; 0: none */
	u64 sp; /* frame pointers below it are none; it points to the return address, if pc is one
		 */
	u64 fp;
	u32 compat;   /* a 32-bit task */
	u32 at_entry; /* the function's frame is not built yet */
};

/* What an address on a kernel stack lies in. */
struct frame_seen {
	u64 address;
	u64 kind; /* enum text_kind */
};

#define SCRATCH_FRAMES_SEEN 64

struct scratch {
	u32 busy;
	u32 index;   /* on its CPU */
	u64 refused; /* in a CPU's scratch slot 0, atomic: events that found all scratch slots busy
		      */
	u32 tid;     /* in a PID namespace: of the event's task */
	u32 in_interrupt;   /* of a waker: it is an interrupt, and not the task that it met */
	u32 wants_callback; /* of the current task, when the program has written its event */
	u32 reserved;
	struct scratch_counters counters;
	struct vma_search search; /* of the latest frame: neighbouring frames mostly share it */
	struct known_vma page[SCRATCH_PAGES];	     /* direct-mapped by (mm, page) */
	struct frame_seen seen[SCRATCH_FRAMES_SEEN]; /* direct-mapped by address */
	struct user_walk walk;
	struct direct_walk direct;
	struct stack kernel;
	struct stack user;
};

#endif
