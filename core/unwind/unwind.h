/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder of user stacks: from the registers of a task to the pcs of its frames, with nothing
 * but reads of its memory, so that it runs the same natively and in BPF. All that it knows is in
 * one struct, in BPF a map value: the program's stack is small, and of map values the verifier
 * tracks no contents, so its states converge.
 *
 * For each frame, the first of these that applies makes a rule (abi/rule.h), which is then
 * executed: SFrame, .eh_frame, the bytes of the code, the frame pointer.
 *
 * The embedder supplies seven functions, natively by linking them, in BPF by defining them before
 * it includes the .c files of this unwinder: cfi, cfi_rule, code_rule, code_scan, dwarf_expr,
 * eh_frame, return_search, sframe, unwind, unwind_bytes, unwind_code, unwind_image, unwind_step.
 *
 * Any memory contents give frames and a stop reason. The work is bounded by `budget`.
 */
#ifndef CORE_UNWIND_H
#define CORE_UNWIND_H

#include <stdbool.h>

#include "cfi.h"
#include "code_rule.h"
#include "dwarf_expr.h"
#include "eh_frame.h"
#include "env.h"
#include "return_search.h"
#include "rule_cache.h"
#include "sframe.h"
#include "signal_context.h"
#include "stack.h"
#include "stack_switches.h"
#include "unwind_bytes.h"
#include "unwind_image.h"
#include "unwind_step.h"

/* Steps of work: reads, instructions, rows, records. A frame takes 50 or so; of a file that does
 * not say where its table is, one for each four bytes that are looked at. */
#define UNWIND_BUDGET 200000U
#define UNWIND_REFILLS_MAX 1024 /* frames that are tried again */
/* In unwind->code_seen: the rule was made from less code than there is, or from registers. */
#define CODE_UNREADABLE (~0ULL)
#define UNWIND_FRAMES 512 /* > STACK_USER_DEPTH_MAX, a power of two */

/* The executable mapping of a pc. */
struct unwind_mapping {
	u64 start; /* end 0: none */
	u64 end;
	/* Where the file's first segment is mapped, with the ELF header; 0: code without a file. A
	 * later segment may share the header's page of the file and so show it too. */
	u64 image;
};

struct elf_header { /* the parts of Elf64_Ehdr that are read */
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
	/* In: */
	void *memory; /* the embedder's; not for BPF */
	struct unwind_registers registers;
	u32 is_compat; /* a 32-bit task */
	u32 budget;
	u64 guess_mark; /* bits of frames that are guessed: FRAME_GUESSED, or 0 */

	/* Out: */
	u32 depth;
	u32 stop; /* enum stop_reason */
	u64 frame[UNWIND_FRAMES];

	/* The walk: */
	u32 max_depth;
	u32 refills;
	u32 is_interrupted; /* the current frame's pc is exact, not behind a call */
	u32 is_lasting;	    /* the rule of the current pc may be kept */
	u32 is_by_code;	    /* the cache says that no table covers the current pc */
	u32 is_search;	    /* what the rule stands for is where the table is (RULE_KEY_TABLE) */
	u32 is_guessed;	    /* a step to the current frame, or to one further in, is not proven */
	u64 lookup_pc;	    /* the pc, or one byte before: within the call */
	u64 same_from, same_to; /* code that has the same rule; to = from: of the pc alone */
	u64 granule;   /* bytes that the rule's key covers (abi/rule_cache.h); 1: the pc alone */
	u64 code_seen; /* the rule was made from code up to here; 0: from a table */
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
	struct go_caller go;
	u64 saved[STEP_WORDS];
	u64 saved_base;
	u32 saved_count;
	u64 context[SIGNAL_CONTEXT_WORDS];
};

/* The embedder's: reads memory of the task, all bytes or none. */
CORE_INLINE bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes);

/* The embedder's: reads memory that may be of any kind, or none, and is not worth waiting for. */
CORE_INLINE bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes);

/*
 * The embedder's: asked where the budget is spent. True: there is more of it, and the frame is
 * tried again; what was read for it counts for nothing. So an embedder whose memory may have to be
 * waited for, but not within a read, fails the read, takes the budget away, and waits here. Asked
 * at most UNWIND_REFILLS_MAX times in a walk.
 */
CORE_INLINE bool unwind_refill(struct unwind *unwind);

/* The embedder's: makes unwind->mapping the executable one of a pc. False: there is none. A pc that
 * stands for another (a return address that a probe has taken) it replaces in the registers. */
CORE_INLINE bool unwind_find_mapping(struct unwind *unwind, u64 pc);

/* The embedder's: what is stored as the frame of a pc, whose mapping is unwind->mapping (or none).
 */
CORE_INLINE u64 unwind_frame(struct unwind *unwind, u64 pc);

/*
 * The embedder's, if it has a cache: makes unwind->rule that of the current frame, or of its file
 * where unwind->is_search; and keeps unwind->rule for it. The key is unwind_rule_key(). Asked only
 * where a rule may be kept: never for 32-bit tasks.
 */
CORE_INLINE bool unwind_recall(struct unwind *unwind);
CORE_INLINE void unwind_remember(struct unwind *unwind);

/*
 * Unwinds from unwind->registers, at most `max_depth` frames (<= STACK_WALK_DEPTH_MAX). frame[0] is
 * that of the pc, the others lie behind the instruction that their function is at (abi/stack.h).
 * Returns the depth, with what is left out (deep_stack.h) as one frame; `stop` says why it is not
 * deeper: STOP_ROOT where nothing is missing, STOP_GUESSED where the root was reached by a step
 * that is not proven.
 *
 * What was learned of an image is kept for the next call, which may be of another task only after
 * unwind_forget().
 */
CORE_INLINE u32 unwind_stack(struct unwind *unwind, u32 max_depth);
CORE_INLINE void unwind_forget(struct unwind *unwind);

/* The rule of the current frame, whose mapping is unwind->mapping, in unwind->rule; or why there is
 * none. */
CORE_INLINE u32 unwind_rule(struct unwind *unwind);

/* Under which the rule of the current frame is kept. `frame` is its pc as mapping and offset. */
ABI_INLINE struct rule_key unwind_rule_key(const struct unwind *unwind, u64 frame)
{
	u64 header = frame - (unwind->registers.value[REGISTER_RIP] - unwind->image.header);
	struct rule_key key = {
		.place = frame | (unwind->is_interrupted ? RULE_KEY_INTERRUPTED : 0),
	};

	if (unwind->is_search)
		key = (struct rule_key){.place = header, .code = RULE_KEY_TABLE};
	else if (unwind->code_seen)
		key = rule_key_by_code(&key);
	return unwind->granule > 1 ? rule_key_of_granule(&key, unwind->granule) : key;
}

/* One step of work. False: there is nothing left to spend. */
static inline bool unwind_spend(struct unwind *unwind)
{
	if (!unwind->budget)
		return false;
	unwind->budget--;
	return true;
}

/* Why a fetch failed: the budget, or else what was read. */
static inline u32 unwind_fetch_stop(const struct unwind *unwind)
{
	return unwind->budget ? STOP_TABLE_UNREADABLE : STOP_BUDGET;
}

static inline u32 unwind_stack_stop(const struct unwind *unwind)
{
	return unwind->budget ? STOP_STACK_UNREADABLE : STOP_BUDGET;
}

/* The rule of the current pc by its code (unwind_code.c, code_rule.h): there is always one, unless
 * the code cannot be read. */
CORE_SUBPROGRAM u32 unwind_code_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
