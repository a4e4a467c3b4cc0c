/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder of user stacks: from the registers of a task to the pcs of its frames, by reads of
 * its memory alone, so that it runs the same natively and in BPF. All state is in one struct, in
 * BPF a map value: the program's stack is small, and the verifier tracks no contents of map values,
 * so its states converge.
 *
 * For each frame, the first of these sources that applies makes a rule (abi/rule.h), which is then
 * executed: SFrame, .eh_frame, the bytes of the code, the frame pointer.
 *
 * The embedder supplies seven functions: natively by linking them, in BPF by defining them before
 * it includes the .c files of this unwinder: cfi, cfi_rule, code_rule, dwarf_expr,
 * eh_frame, return_search, sframe, unwind, unwind_bytes, unwind_step.
 *
 * Any memory contents are safe and give frames and a stop reason. `budget` bounds the work.
 */
#ifndef CORE_UNWIND_H
#define CORE_UNWIND_H

#include <stdbool.h>

#include "arch/code_rule.h"
#include "arch/return_search.h"
#include "arch/unwinding.h"
#include "cfi.h"
#include "env.h"
#include "rule.h"
#include "rule_cache.h"
#include "scalar.h"
#include "script.h"
#include "stack.h"
#include "unwind_bytes.h"
#include "walk_memory.h"

struct unwind;

/* The meaning of a DWARF expression in an unwind table, as a term that a rule can express. */

#define EXPR_STACK 8 /* a power of two */
#define EXPR_OPERATIONS_MAX 64

enum expr_kind {
	EXPR_CONSTANT,	     /* offset */
	EXPR_REGISTER,	     /* reg + offset */
	EXPR_INDEX,	     /* 8 * index */
	EXPR_REGISTER_INDEX, /* reg + offset + 8 * index */
	EXPR_DEREF,	     /* *(reg + offset) + addend */
	EXPR_DEREF_INDEX,    /* *(reg + offset + 8 * index) + addend */
	EXPR_IP_LOW,	     /* rip & 15 */
	EXPR_IP_LATE,	     /* (rip & 15) >= addend */
	EXPR_IP_LATE_WORD,   /* 8 * ((rip & 15) >= addend) */
	EXPR_PLT,	     /* reg + offset + 8 * ((rip & 15) >= addend) */
	EXPR_INVALID,
};

struct expr_term {
	u8 kind; /* enum expr_kind */
	u8 reg;
	u8 index;
	u8 reserved;
	s32 addend;
	s64 offset;
};

struct expr {
	u32 depth;
	u32 stop; /* enum stop_reason */
	struct expr_term stack[EXPR_STACK];
};

/*
 * Evaluates `length` bytes of operations at an address; the result is unwind->expr.stack[0].
 * STOP_UNSUPPORTED: no term expresses the result. The operations' stack begins empty.
 * (DW_CFA_expression would begin with the CFA on the stack, which no term expresses: expressions
 * that use it underflow and are unsupported.)
 */
CORE_INLINE u32 expr_evaluate(struct unwind *unwind, u64 at, u32 length);

/*
 * .eh_frame: finds the entry that covers a pc, by the sorted index in .eh_frame_hdr, or entry by
 * entry in a file without index (Linux Standard Base 5.0, core, section 10.6; statically linked
 * programs lack the index). The section is the table, and the index only helps: a header without a
 * usable index still gives the begin of the section.
 */

#define EH_ENTRIES_MAX (1U << 17) /* entries that are looked at one by one */

struct eh_search {
	u64 low, high;	 /* the entry of the index is in [low, high) */
	u64 index;	 /* address of the index's first entry */
	u64 header;	 /* address of .eh_frame_hdr */
	u64 record_end;	 /* end of the record that was opened last: the next one begins there */
	u64 records_end; /* no record begins there or behind */
	u32 records;	 /* records to open at most */
	u32 stop;
	u32 is_wide;	   /* 1: numbers of the index have 8 bytes, else 4 */
	u16 blocks;	   /* blocks before the current one that are left to scan */
	u16 is_unreadable; /* 1: a part of the scanned memory was unreadable */
	u16 is_empty;	   /* 1: the index is empty, so the section may be missing */
	u64 block, block_end;
	u64 segment; /* begin of the block's segment */
	u64 entry;   /* entry of the index, or half of one: (function, FDE), header-relative */
};

/*
 * Makes the rule of unwind->lookup_pc in the current image. STOP_NO_RULE: no entry covers the pc.
 */
CORE_INLINE u32 eh_frame_rule(struct unwind *unwind, struct unwind_rule *rule);

/* The executor: steps from the registers of a frame, by its rule, to those of its caller. */

#define STEP_WORDS 16 /* saved registers that one read gets; a power of two */

/*
 * State while the slots of a rule are restored. It is not on the BPF stack, where the verifier
 * would track each value and keep more states.
 */
struct slot_restore {
	u64 cfa;
	u64 base;
	u32 stop;
	u32 reserved;
};

/*
 * Steps unwind->registers by unwind->rule. STOP_NONE: the registers are the caller's; its pc is not
 * 0, and its stack pointer is further out (unless a signal interrupted it: a signal may have come
 * on a stack of its own). Otherwise the registers are undefined.
 */
CORE_SUBPROGRAM u32 unwind_step(struct unwind *unwind);

/*
 * SFrame, versions 1 to 3 ("The SFrame Format", GNU Binutils 2.40, 2.41 and 2.46). It gives the
 * places of CFA, return address and frame pointer, but not of the other callee-saved registers: a
 * rule made from it loses them.
 */

/* The section's header. */
struct sframe_header {
	u16 magic;
	u8 version;
	u8 flags;
	u8 abi;
	s8 fixed_fp_offset;
	s8 fixed_ra_offset;
	u8 extra_bytes; /* bytes of an auxiliary header behind this one */
	u32 function_count;
	u32 row_count;
	u32 row_bytes;
	u32 functions; /* offset from the end of both headers */
	u32 rows;
};
ABI_SIZE(struct sframe_header, 28);

struct sframe_search {
	struct sframe_header header;
	u64 section;   /* address */
	u64 functions; /* address of the index */
	u64 entry;     /* address of the index entry that covers the pc */
	u64 rows;
	u64 rows_end;
	u64 low, high;
	u32 entry_bytes;
	u32 stop;

	u64 function; /* address of the entry's function */
	u32 function_bytes;
	u32 first_row; /* offset */
	u32 rows_left;
	u32 pc_offset; /* offset of the pc in the function, or in its repeated block */
	u32 block_bytes;
	u8 info;
	u8 flexible;

	u8 row_info; /* info byte of the row that covers the pc */
	bool found;
	u32 word[8]; /* data words of that row */
};

/* Makes the rule of unwind->lookup_pc in the current image. STOP_NO_RULE: no row covers the pc. */
CORE_SUBPROGRAM u32 sframe_rule(struct unwind *unwind, struct unwind_rule *rule);

/*
 * Steps of work: reads, instructions, rows, records. A frame takes about 50. A file that does not
 * name the place of its table takes one for each four bytes that are searched.
 */
#define UNWIND_BUDGET 200000U
#define UNWIND_REFILLS_MAX 1024 /* the most frames that are tried again */
/* A value of unwind->code_seen: the rule was made from a part of the code, or from registers. */
#define CODE_UNREADABLE (~0ULL)
#define UNWIND_FRAMES 512 /* > STACK_USER_DEPTH_MAX, a power of two */

/* The executable mapping of a pc. */
struct unwind_mapping {
	u64 start; /* `end` 0: no mapping */
	u64 end;
	/*
	 * Address of the file's first segment, with the ELF header; 0: code without a file. A later
	 * segment may share the header's page of the file and so show the header, too.
	 */
	u64 image;
};

struct elf_header { /* the parts of Elf64_Ehdr that are used */
	u64 magic;
	u64 reserved0[3];
	u64 segments_offset;
	u64 reserved1;
	u32 reserved2;
	u16 header_bytes;
	u16 segment_bytes;
	u16 segment_count;
	u16 reserved3[3];
};
ABI_SIZE(struct elf_header, 64);

struct elf_program_header {
	u32 type;
	u32 flags;
	u64 offset;
	u64 address;
	u64 physical_address;
	u64 file_bytes;
	u64 memory_bytes;
	u64 alignment;
};
ABI_SIZE(struct elf_program_header, 56);

struct unwind {
	/* Input: */
	void *memory; /* private to the embedder; not in BPF */
	struct unwind_registers registers;
	u32 is_compat; /* 1: the task runs 32-bit code */
	u32 budget;
	u64 guess_mark; /* bits that mark guessed frames: FRAME_GUESSED, or 0 */

	/* Output: */
	u32 depth;
	u32 stop; /* enum stop_reason */
	u64 frame[UNWIND_FRAMES];

	/* State of the walk: */
	u32 max_depth;
	u32 refills;
	u32 is_interrupted; /* 1: the current frame's pc is exact, not behind a call */
	u32 is_lasting;	    /* 1: the rule of the current pc may be cached */
	u32 is_by_code;	    /* 1: the cache says that no table covers the current pc */
	u32 is_listed;	    /* 1: the same, and the cache has a rule all the same (rule_search.h) */
	u32 is_search;	    /* 1: the rule stands for the place of a table (RULE_KEY_TABLE) */
	u32 is_guessed; /* 1: a step to the current frame, or to one further in, is not proven */
	u64 lookup_pc;	/* the pc, or the byte before it: within the call */
	u64 same_from, same_to; /* code with the same rule; equal: the pc alone */
	u64 granule;   /* bytes that the rule's key covers (abi/rule_cache.h); 1: the pc alone */
	u64 code_seen; /* end of the code that the rule was made from; 0: a table's rule */
	struct unwind_rule rule;
	struct unwind_mapping mapping;
	struct unwind_image image;
	struct {
		struct elf_header header;
		struct elf_program_header segment;
	} elf;
	u64 word;
	u64 pointer;
	u64 augmentation;
	struct unwind_bytes bytes;
	struct cfi cfi;
	struct expr expr;
	struct eh_search eh;
	struct sframe_search sframe;
	struct near_code near;
	struct return_search returns;
	struct unwind_registers caller;
	struct slot_restore restore;
	struct stack_switches switches;
	struct script_marks scripts; /* frames of loops, innermost first */
	struct go_caller go;
	u64 saved[STEP_WORDS];
	u64 saved_base;
	u32 saved_count;
	u64 context[SIGNAL_CONTEXT_WORDS];
};

/* Defined by the embedder: reads memory of the task, all bytes or none. */
CORE_INLINE bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes);

/* Defined by the embedder: reads any memory, which may be missing, without waiting for it. */
CORE_INLINE bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes);

/*
 * Defined by the embedder: called when the budget is spent. True: the budget was refilled, and the
 * frame is tried again without the data read for it. An embedder that must wait for memory, but not
 * within a read, fails the read, sets the budget to 0, and waits here. Called at most
 * UNWIND_REFILLS_MAX times in a walk.
 */
CORE_INLINE bool unwind_refill(struct unwind *unwind);

/*
 * Defined by the embedder: sets unwind->mapping to the executable mapping of a pc. False: there is
 * no mapping. If a probe has replaced the return address, the embedder puts the true pc into the
 * registers.
 */
CORE_INLINE bool unwind_find_mapping(struct unwind *unwind, u64 pc);

/*
 * Defined by the embedder: the stored frame of a pc whose mapping is unwind->mapping, if there is
 * one.
 */
CORE_INLINE u64 unwind_frame(struct unwind *unwind, u64 pc);

/*
 * Defined by an embedder with a cache: sets unwind->rule to the cached rule of the current frame,
 * or of its file if unwind->is_search; and stores unwind->rule in the cache. The key is
 * unwind_rule_key(). Called only if the rule may be cached, and never for 32-bit tasks.
 */
CORE_INLINE bool unwind_recall(struct unwind *unwind);
CORE_INLINE void unwind_remember(struct unwind *unwind);

/*
 * Unwinds from unwind->registers, at most `max_depth` frames (<= STACK_WALK_DEPTH_MAX). frame[0] is
 * the frame of the pc; the others lie behind the instruction that their function is at
 * (abi/stack.h). Returns the depth, where omitted frames (deep_stack.h) count as one; `stop` says
 * why the stack ends: STOP_ROOT if it is complete, STOP_GUESSED if the root was reached by a step
 * that is not proven.
 *
 * Data of an image is kept for the next call; call unwind_forget() before a walk of another task.
 */
CORE_INLINE u32 unwind_stack(struct unwind *unwind, u32 max_depth);
CORE_INLINE void unwind_forget(struct unwind *unwind);

/*
 * Sets unwind->rule to the rule of the current frame, whose mapping is unwind->mapping. Returns the
 * stop reason if there is no rule.
 */
CORE_INLINE u32 unwind_rule(struct unwind *unwind);

/* The cache key of the current frame's rule. `frame` is its pc as mapping and offset. */
ABI_INLINE struct rule_key unwind_rule_key(const struct unwind *unwind, u64 frame)
{
	u64 header = frame - (unwind->registers.value[REGISTER_PC] - unwind->image.header);
	struct rule_key key = {
		.place = frame | (unwind->is_interrupted ? RULE_KEY_INTERRUPTED : 0),
	};

	if (unwind->is_search)
		key = (struct rule_key){.place = header, .code = RULE_KEY_TABLE};
	else if (unwind->code_seen)
		key = rule_key_by_code(&key);
	return unwind->granule > 1 ? rule_key_of_granule(&key, unwind->granule) : key;
}

/* Takes one step of work from the budget. False: the budget is spent. */
static inline bool unwind_spend(struct unwind *unwind)
{
	if (!unwind->budget)
		return false;
	unwind->budget--;
	return true;
}

/* The stop reason of a failed fetch: the budget, or the kind of memory. */
static inline u32 unwind_fetch_stop(const struct unwind *unwind)
{
	return unwind->budget ? STOP_TABLE_UNREADABLE : STOP_BUDGET;
}

static inline u32 unwind_stack_stop(const struct unwind *unwind)
{
	return unwind->budget ? STOP_STACK_UNREADABLE : STOP_BUDGET;
}

/*
 * Makes the rule of the current pc from its code (unwind_bytes.c, code_rule.h). There is always a
 * rule, unless the code is unreadable.
 */
CORE_SUBPROGRAM u32 unwind_code_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
