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
	u64 produced; /* number of events, except those while the instance was paused */
	/*
	 * number of events that were counted in rows instead of recorded (abi/counted.h)
	 */
	u64 counted;
	u64 lost[LOST_COUNT];
	u64 unknown_frames;
	/* Numbers of user stacks that were walked by unwind tables at the event: */
	u64 walked;	 /* user stacks that the walk at the event finished */
	u64 table_steps; /* frames that were stepped by a rule of a whole-file table */
	/* user stacks that the walk at the event did not finish, by the stop reason of the walk */
	u64 deferred[STOP_COUNT];
	/* Numbers of frames of interpreters' loops in user stacks (script.h): */
	u64 script_joined; /* loops whose native frame was replaced by the script's frames */
	/* loops whose frame stays native, because a check failed or memory was unreadable */
	u64 script_unjoined;
	/* loops whose frame stays native, because a function of the script has no id */
	u64 script_unknown;
	/* loops whose frame stays native, because the stack has more than SCRIPT_MARKS_MAX loops */
	u64 script_missed;
	/* Numbers of events without trace and span: */
	u64 context_unread;  /* events whose trace and span are in memory that could not be read */
	u64 context_unknown; /* events of a process that user space had not looked at yet */
};

/* A mapping that contains a user address. */
struct known_vma {
	struct address_space space;
	u64 start;
	u64 end;	 /* 0: the address has no mapping; `start` is then 0, too */
	u64 file_offset; /* file offset of `start` */
	u64 image;	 /* address of the file's first segment (ELF header); 0: not mapped */
	u32 number;
	u16 has_image; /* 1: `image` was searched, with or without success */
	u16 kind;      /* enum mapping_kind */
};
ABI_SIZE(struct known_vma, 64);

/* The kernel's tree of mappings has this at an address: a mapping, or a gap between two. */
struct vma_entry {
	u64 vma; /* the kernel's vm_area_struct; 0: a gap */
	u64 start;
	u64 end;
	u64 flags;
	u64 page; /* number of the page of the file that is mapped at `start` */
	u64 file; /* the kernel's struct file; 0: no file */
};

/* A search from the mapping of code downwards to the mapping of its file's first segment. */
struct image_search {
	u64 inode;
	u64 offset; /* file offset of the lowest mapping of the image so far */
	u64 limit;  /* the search goes on with the mappings below this address */
	s64 error;
};

/* most mappings of one walk whose build ids are looked up after the walk; a power of two */
#define BUILD_IDS_UNREAD_MAX 16
/* number of the last results that vma_search.recent keeps; a power of two */
#define RECENT_VMAS 8

/* The search for mappings in one address space: the last result, and working memory. */
struct vma_search {
	struct known_vma vma;
	u32 tgid; /* id of the process that owns the address space */
	/* 1: each result must come with its `entry`, so results are not taken from `recent` */
	u32 wants_entry;
	u32 recent_next;
	u32 wants_data;	  /* 1: mappings of data count, not only code */
	u32 recent_found; /* index of the element of `recent` that was found */
	u32 reserved;
	struct known_vma recent[RECENT_VMAS]; /* last results, overwritten in turn */
	/* number of searches in the kernel's tree of mappings */
	u64 walks;
	struct vma_entry entry;
	u64 slot; /* address of the word in the kernel's tree that holds entry.vma */
	struct image_search image;
	struct { /* a step from a file to the root of its file system, as pointers */
		u64 dentry;
		u64 mount;
	} path;
	/* address of the user namespace at which the search for a file's owner has arrived */
	u64 space;
	u64 node[32];	  /* copy of one node of the maple tree */
	u64 unread_count; /* used elements of `unread` */
	/* addresses in mappings for which the build id, or the file that their code was copied
	 * from, is looked up after the walk */
	u64 unread[BUILD_IDS_UNREAD_MAX];
	struct moved_key moved_key; /* key of a mapping without a file that may hold code copied
				       from a file (abi/mapping.h) */
	struct moved_code moved;
	struct mapping_record record;
	u8 path_slack[256]; /* room after record.path, because the verifier assumes that a component
			       is read to any offset in the path */
};

#define SCRATCH_MAPPINGS 256

/* A walk up the user stack. */
struct user_walk {
	u64 pc; /* pc of the frame that is walked next; 0: no more frames */
	/*
	 * lowest address that the next frame pointer may have; if `pc` is a return address, the
	 * address of its stack word
	 */
	u64 sp;
	u64 fp;
	u64 link;     /* the return address if a register holds it; 0: the stack holds it */
	u32 compat;   /* 1: the task runs 32-bit code */
	u32 at_entry; /* 1: the function at `pc` has not built its frame yet */
};

/* The kind of function that contains an address of a kernel stack. */
struct frame_seen {
	u64 address;
	u64 kind; /* enum text_kind */
};

#define SCRATCH_FRAMES_SEEN 64

struct scratch {
	u32 busy;
	u32 index;	  /* number of this scratch slot among those of its CPU */
	u64 refused;	  /* in a CPU's slot 0, atomic: events that found all slots busy */
	u32 tid;	  /* id of the event's task; set in a PID namespace only */
	u32 in_interrupt; /* 1: the event belongs to an interrupt and not to the interrupted task */
	u32 wants_callback; /* the current task needs a callback after its event is written */
	u32 interrupts; /* --origins: the interrupts on the kernel's stack (bpf/event/origin.h) */
	u64 position;	/* place that is reserved for the event (bpf/state/ring_slots.h) */
	/* CLOCK_MONOTONIC, ns: time when the program began to count the event in a row */
	u64 counted_since;
	/* the event's slot (struct event_slot), until event_commit() copies the slot to the ring */
	u64 event[EVENT_SLOT_SIZE(EVENT_NUMBERS_MAX) / 8];
	u64 context[CONTEXT_WORDS]; /* context of the event (abi/thread_context.h) */
	struct counted_key counted_key;
	u64 counted_value;
	struct origin origin; /* origin of an object that is being queued */
	u64 origin_task; /* the task whose work an event belongs to; 0: the event is in an interrupt
			  */
	struct scratch_counters counters;
	/*
	 * search for mappings; its last result, the mapping of the latest frame, mostly has the
	 * next frame, too
	 */
	struct vma_search search;
	/* cache of mappings by address space and block of addresses (bpf/mapping/user_frame.h) */
	struct known_vma mapping[SCRATCH_MAPPINGS];
	/* cache of the kinds of kernel functions, direct-mapped by address */
	struct frame_seen seen[SCRATCH_FRAMES_SEEN];
	struct user_walk walk;
	struct direct_walk direct;
	struct stack kernel;
	struct stack user;
	struct script_walk script;
	struct script_search script_search;
	union {
		/* the stack `user`, with the frames of scripts in place of loops */
		struct stack script_stack;
		/* attributes of the event's thread; read when the stack has been stored */
		struct context_attributes attributes;
	};
};

#endif
