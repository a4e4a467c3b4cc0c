/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A scratch slot: the working memory of one running program. Programs interrupt each other on a CPU
 * (task, soft and hard interrupt, NMI) and, on preemptible kernels, not in LIFO order. Therefore
 * each CPU has several scratch slots, and a program owns the slot whose busy word it exchanged. The
 * owner counts in plain memory: the ledger costs no locked operation.
 */
#ifndef STACKMAP_ABI_SCRATCH_H
#define STACKMAP_ABI_SCRATCH_H

#include "counted.h"
#include "deferral.h"
#include "ledger.h"
#include "mapping.h"
#include "ring.h"
#include "rule.h"
#include "scalar.h"
#include "script.h"
#include "stack.h"
#include "thread_context.h"
#include "walk_memory.h"

#define SCRATCH_SLOTS 8

/*
 * While an instance is paused, an event adds to lost[LOST_PAUSED] alone, which counts as produced
 * too: the counters are being copied at that time, and two counters would be copied out of step.
 */
struct scratch_counters {
	u64 produced; /* events while not paused */
	u64 counted;  /* events that found their ring full and are in rows (abi/counted.h) */
	u64 lost[LOST_COUNT];
	u64 unknown_frames;
	/* User stacks that were walked by unwind tables at the event: */
	u64 walked;		  /* stacks that the walk finished */
	u64 table_steps;	  /* frames by a rule of a whole-file table */
	u64 deferred[STOP_COUNT]; /* unfinished stacks by the stop reason of the walk */
	/* Frames of interpreters' loops in user stacks (script.h): */
	u64 script_joined;   /* the script's frames took their place */
	u64 script_unjoined; /* native: a check failed, or memory was unreadable */
	u64 script_unknown;  /* native: a function has no id */
	u64 script_missed;   /* native: beyond SCRIPT_MARKS_MAX of a stack */
	/* Events without trace and span: */
	u64 context_unread;  /* the thread's memory could not be read */
	u64 context_unknown; /* user space had not looked at the process yet */
};

/* A mapping that contains a user address. */
struct known_vma {
	struct address_space space;
	u64 start;
	u64 end;	 /* 0: no mapping; `start` is then 0, too */
	u64 file_offset; /* file offset of `start` */
	u64 image;	 /* address of the file's first segment (ELF header); 0: not mapped */
	u32 number;
	u16 has_image; /* 1: `image` was looked for */
	u16 kind;      /* enum mapping_kind */
};
ABI_SIZE(struct known_vma, 64);

/* The kernel's entry for an address: a mapping, or a gap between two. */
struct vma_entry {
	u64 vma; /* the kernel's vm_area_struct; 0: a gap */
	u64 start;
	u64 end;
	u64 flags;
	u64 page; /* number of the file's page at `start` */
	u64 file; /* the kernel's struct file; 0: no file */
};

/* A search from the mapping of code downwards to the mapping of its file's first segment. */
struct image_search {
	u64 inode;
	u64 offset; /* file offset of the lowest mapping of the image so far */
	u64 limit;  /* only addresses below this one are left to search */
	s64 error;
};

#define BUILD_IDS_UNREAD_MAX 16 /* a power of two */
#define RECENT_VMAS 8		/* a power of two */

/* The search for mappings in one address space: the last result, and working memory. */
struct vma_search {
	struct known_vma vma;
	u32 tgid;	 /* process that owns the address space */
	u32 wants_entry; /* 1: `entry` must belong to each result, so `recent` is not used */
	u32 recent_next;
	u32 wants_data;	  /* 1: mappings of data count, not only code */
	u32 recent_found; /* index in `recent` */
	u32 reserved;
	struct known_vma recent[RECENT_VMAS]; /* last results, overwritten in turn */
	u64 walks;			      /* searches in the kernel's tree */
	struct vma_entry entry;
	u64 slot; /* address of `entry` in the kernel's tree */
	struct image_search image;
	struct { /* a step from a file to the root of its file system, as pointers */
		u64 dentry;
		u64 mount;
	} path;
	u64 space;	  /* a user namespace, as a pointer */
	u64 node[32];	  /* one maple tree node */
	u64 unread_count; /* used elements of `unread` */
	/* addresses whose build id or moved code is looked up after the walk */
	u64 unread[BUILD_IDS_UNREAD_MAX];
	struct moved_key moved_key; /* a mapping that may be moved code */
	struct moved_code moved;
	struct mapping_record record;
	u8 path_slack[256]; /* after record.path: a component is read at any offset in the path */
};

#define SCRATCH_PAGES 256

/* A walk up the user stack. */
struct user_walk {
	u64 pc; /* pc of the next frame; 0: no more frames */
	u64 sp; /* lowest valid frame pointer; at a return address, if pc is one */
	u64 fp;
	u64 link;     /* the return address if a register holds it; 0: the stack does */
	u32 compat;   /* 1: the task runs 32-bit code */
	u32 at_entry; /* 1: the function has not built its frame yet */
};

/* The kind of function that contains an address of a kernel stack. */
struct frame_seen {
	u64 address;
	u64 kind; /* enum text_kind */
};

#define SCRATCH_FRAMES_SEEN 64

struct scratch {
	u32 busy;
	u32 index;	    /* number of the slot on its CPU */
	u64 refused;	    /* in a CPU's slot 0, atomic: events that found all slots busy */
	u32 tid;	    /* in a PID namespace: id of the event's task */
	u32 in_interrupt;   /* an interrupt wakes or queues, not the interrupted task */
	u32 wants_callback; /* the current task needs a callback after its event is written */
	u32 interrupts;	    /* --origins: those on the kernel's stack (bpf/event/origin.h) */
	u64 position;	    /* place of the event (bpf/state/ring_slots.h) */
	u64 counted_since;  /* time when the event found its ring full */
	u64 event[EVENT_SLOT_SIZE(EVENT_NUMBERS_MAX) /
		  8];		    /* the event's slot, until it is written */
	u64 context[CONTEXT_WORDS]; /* trace and span of the event */
	struct counted_key counted_key;
	u64 counted_value;
	struct origin origin; /* of an object that is being queued */
	u64 origin_task; /* the task whose work an event belongs to; 0: the event is in an interrupt
			  */
	struct scratch_counters counters;
	struct vma_search search; /* mapping of the latest frame, mostly shared by the next */
	struct known_vma page[SCRATCH_PAGES];	     /* direct-mapped by (mm, page) */
	struct frame_seen seen[SCRATCH_FRAMES_SEEN]; /* direct-mapped by address */
	struct user_walk walk;
	struct direct_walk direct;
	struct stack kernel;
	struct stack user;
	struct script_walk script;
	struct script_search script_search;
	struct stack script_stack; /* `user` with the frames of scripts */
};

#endif
