/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder of user stacks: from the registers of a task to the pcs of its frames, by reads of
 * its memory alone, so the same code runs natively and in BPF. All state is in one struct, in BPF a
 * map value: the stack of a BPF program is small, and the verifier does not track the contents of
 * map values, so its states converge.
 *
 * For each frame, the first of these sources that applies makes a rule (abi/rule.h), which is then
 * executed: SFrame, .eh_frame, the bytes of the code, the frame pointer.
 *
 * The embedder supplies seven functions: natively by linking them, in BPF by defining them before
 * it includes the .c files of this unwinder: cfi, cfi_rule, code_rule, dwarf_expr, eh_frame,
 * return_search, sframe, unwind, unwind_bytes, unwind_step.
 *
 * The memory may have any contents: the result is always frames and a stop reason. `budget` bounds
 * the work.
 */
#ifndef CORE_UNWIND_H
#define CORE_UNWIND_H

#include <stdbool.h>

#include "arch/code_rule.h"
#include "arch/return_search.h"
#include "arch/unwinding.h"
#include "env.h"
#include "rule.h"
#include "rule_cache.h"
#include "scalar.h"
#include "script.h"
#include "stack.h"
#include "unwind/generated_walk.h"
#include "walk_memory.h"

struct unwind;

/*
 * An embedder that defines UNWIND_READS_JAVA defines three more functions:
 * unwind_find_java_layout(), unwind_java_rule() and unwind_name_java_frame().
 */
#if defined(UNWIND_READS_JAVA) && defined(JAVA_HAS_RULES)
#define UNWIND_KNOWS_JAVA
#endif

/* An embedder that defines UNWIND_READS_V8 defines unwind_name_v8_frame(). */
#if defined(UNWIND_READS_V8) && defined(JAVA_HAS_RULES)
#define UNWIND_KNOWS_V8
#endif

/*
 * The reader of an unwind table in another address space: a position and an end, as addresses in
 * that space, and the window, a copy of the bytes around the position, which one read fills.
 *
 * bytes_make_ready() makes the next BYTES_STEP bytes valid for decoding. Decoding within a step
 * makes no checks: the caller checks once, at the end, that the position did not pass the end
 * (bytes_are_beyond_end). Before this check, decoding may return any bytes of the window, but never
 * reads outside of it.
 */

#define BYTES_WINDOW 256 /* size of the window in bytes, a power of two */
#define BYTES_STEP                                                                                 \
	32 /* largest number of bytes that one step decodes: an opcode and two operands */

struct unwind_bytes {
	u64 at;
	u64 end;
	u64 start; /* address of window[0] */
	u64 filled;
	u8 window[BYTES_WINDOW + 2 * BYTES_STEP];
};

#define LEB128_TOO_LONG (1ULL << 40)

/*
 * A number of variable length, and its length in bytes: LEB128_TOO_LONG, which is longer than every
 * table, if the number has more than 56 bits.
 */
struct leb128 {
	u64 value;
	s64 signed_value;
	u64 bytes;
};

/* Reads memory of the task. The read takes one step from the budget. */
CORE_SUBPROGRAM bool unwind_fetch(struct unwind *unwind, u64 address, void *buffer, u32 bytes);

/*
 * Makes the next BYTES_STEP bytes ready to be decoded. STOP_NONE, STOP_BAD_TABLE at the end of the
 * table, STOP_TABLE_UNREADABLE or STOP_BUDGET.
 */
CORE_SUBPROGRAM u32 bytes_make_ready(struct unwind *unwind);

/*
 * Reads a pointer in `encoding` (DW_EH_PE_*); `data` is the base of data-relative pointers. The
 * position moves after the pointer. STOP_UNSUPPORTED: an encoding that no toolchain writes.
 */
CORE_SUBPROGRAM u32 bytes_take_encoded_pointer(struct unwind *unwind, u32 encoding, u64 data);

static inline void bytes_set_range(struct unwind_bytes *bytes, u64 at, u64 end)
{
	bytes->at = at;
	bytes->end = end;
}

static inline bool bytes_are_beyond_end(const struct unwind_bytes *bytes)
{
	return bytes->at > bytes->end;
}

/* Returns the next eight bytes, without moving the position. */
static inline u64 bytes_peek(const struct unwind_bytes *bytes)
{
	u64 index = bytes->at - bytes->start;

	core_one_register(index);
	return core_load_u64(&bytes->window[index & (BYTES_WINDOW - 1)]);
}

static inline u64 bytes_take(struct unwind_bytes *bytes, u32 count)
{
	u64 value = bytes_peek(bytes);

	bytes->at += count;
	return count == 8 ? value : value & ((1ULL << 8 * count) - 1);
}

static inline u8 bytes_take_u8(struct unwind_bytes *bytes)
{
	return bytes_take(bytes, 1);
}

/*
 * Decodes eight bytes at once, without a branch: the lowest clear bit 7 ends the number; higher
 * bytes are masked off; three steps close the gaps between groups of 7, 14 and 28 bits.
 */
ABI_INLINE struct leb128 leb128_decode(u64 raw)
{
	u64 ends = ~raw & 0x8080808080808080ULL;
	u64 kept = (ends & -ends) | ((ends & -ends) - 1);
	u64 bytes = ((kept & 0x0101010101010101ULL) * 0x0101010101010101ULL) >> 56;
	u64 value = raw & kept & 0x7f7f7f7f7f7f7f7fULL;
	struct leb128 leb = {.bytes = ends ? bytes : LEB128_TOO_LONG};
	u32 unused = 64 - 7 * bytes;

	value = (value & 0x007f007f007f007fULL) | (value & 0x7f007f007f007f00ULL) >> 1;
	value = (value & 0x00003fff00003fffULL) | (value & 0x3fff00003fff0000ULL) >> 2;
	value = (value & 0x000000000fffffffULL) | (value & 0x0fffffff00000000ULL) >> 4;
	leb.value = value;
	leb.signed_value = (s64)(value << (unused & 63)) >> (unused & 63);
	return leb;
}

ABI_INLINE struct leb128 bytes_take_leb128(struct unwind_bytes *bytes)
{
	struct leb128 leb = leb128_decode(bytes_peek(bytes));

	bytes->at += leb.bytes;
	return leb;
}

/* The unwind tables of a mapped ELF file, which its program headers in memory point to. */

#define IMAGE_SEGMENTS_MAX 6

struct image_range {
	u64 start;
	u64 end;
};

struct unwind_image {
	u64 header;			 /* address of the ELF header; 0: no image was read */
	u64 bias;			 /* load bias: address = bias + p_vaddr */
	struct image_range eh_frame_hdr; /* .eh_frame_hdr; start is 0 if the file has no index */
	struct image_range sframe;
	/* address range of the section .eh_frame, set by a search in a file without index */
	struct image_range eh_frame;
	u64 note; /* address of the first note; 0: the file has no note */
	bool searched;
	u32 segment_count;
	/* Loaded segments, except writable data. */
	struct image_range segment[IMAGE_SEGMENTS_MAX];
	u64 segment_offset[IMAGE_SEGMENTS_MAX]; /* file offset of each element of `segment` */
};

/* Sets unwind->image to the image of unwind->mapping. STOP_NO_RULE: the mapping has no ELF file. */
CORE_INLINE u32 image_read_headers(struct unwind *unwind);

static inline bool is_address_in_image_range(const struct image_range *range, u64 address)
{
	return address - range->start < range->end - range->start;
}

/*
 * An end up to which memory after an address is known to be mapped: the end of the address's
 * segment, or `least` bytes after the address.
 */
static inline u64 end_of_mapped_image_memory(const struct unwind_image *image, u64 address,
					     u32 least)
{
	for (u32 i = 0; i < IMAGE_SEGMENTS_MAX; i++)
		if (is_address_in_image_range(&image->segment[i], address))
			return image->segment[i].end;
	return address + least;
}

/*
 * The file offset of an address, by the program headers. An address outside of the segments counts
 * from the ELF header on, as the program headers themselves do.
 */
static inline u64 image_file_offset(const struct unwind_image *image, u64 header, u64 address)
{
	for (u32 i = 0; i < IMAGE_SEGMENTS_MAX; i++)
		if (is_address_in_image_range(&image->segment[i], address))
			return address - image->segment[i].start + image->segment_offset[i];
	return address - header;
}

/*
 * Call frame information: the row of the table that covers a pc (DWARF 5, section 6.4). Running the
 * instructions of CIE and FDE up to the pc makes the row.
 */

#define CFI_COLUMNS 16 /* columns of a row, a power of two; enum cfi_column */
#define CFI_REMEMBERED_MAX 8
/* The most instructions of a run; cc1plus has functions with over 8192 instructions. */
#define CFI_INSTRUCTIONS_MAX (1U << 20)

enum cfi_how {
	CFI_UNSPECIFIED, /* default of the ABI: a callee-saved register keeps its value */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET, /* the register is saved at CFA + offset; for the CFA: register + offset */
	CFI_VALUE_OFFSET, /* the register's value is CFA + offset */
	CFI_IN_REGISTER,  /* the register's value is in register `reg` */
	/*
	 * The register is saved at the address that an expression computes; the CFA is the result
	 * of the expression. The expression has `length` bytes and begins at CIE + offset.
	 */
	CFI_EXPRESSION,
	CFI_VALUE_EXPRESSION /* the register's value is the result of an expression */
};

struct cfi_cell {
	u8 how; /* enum cfi_how */
	u8 reg;
	u16 length;
	s32 offset;
};

struct cfi_row {
	struct cfi_cell cfa;
	struct cfi_cell column[CFI_COLUMNS];
};

/* The contents of a CIE, which hold for all of its FDEs. */
struct cfi_entry {
	u64 cie; /* address of the CIE; 0: no CIE was read */
	u64 code_alignment;
	u64 data_alignment; /* two's complement */
	u32 pointer_encoding;
	bool augmented; /* the FDEs have augmentation data */
	bool is_signal; /* code of a signal trampoline: the caller of its frame was interrupted, so
			   the caller's pc is exact */
	u64 start, end; /* addresses of the CIE's instructions */
	struct cfi_row row; /* row after the CIE's instructions */
};

/*
 * The bytes at a position, and the two numbers of variable length that may begin there. They are
 * decoded before it is known which of them the table has.
 */
struct cfi_operands {
	u64 position;
	u64 raw;
	struct leb128 first, second;
};

struct cfi {
	struct cfi_entry entry;
	u64 location; /* first address of the current row */
	u64 next;     /* end of the current row; at first the end of the function */
	u64 pc;
	u32 stop;
	bool found; /* true: the row of pc is complete */
	u32 remembered_count;
	struct cfi_operands operands;
	struct cfi_row row;
	struct cfi_row remembered[CFI_REMEMBERED_MAX];
};

/*
 * Decodes the operands at the position, which does not move, to unwind->cfi.operands. A global
 * function: the code that decodes a number is long, so programs have it once.
 */
CORE_GLOBAL int cfi_read_operands(struct unwind *unwind);

/*
 * Runs the instructions at [start, end), beginning with the row of unwind->cfi.location, until the
 * row covers cfi.pc. At most CFI_INSTRUCTIONS_MAX instructions. Returns an enum stop_reason.
 */
CORE_INLINE u32 cfi_run_instructions(struct unwind *unwind, u64 start, u64 end);

/*
 * Continues after cfi_run_instructions() or cfi_run_to_next_row(), in a function that ends at
 * `end`: makes the next row. The caller must not move the position in between.
 */
CORE_INLINE u32 cfi_run_to_next_row(struct unwind *unwind, u64 end);

/* Converts the row to a rule. STOP_UNSUPPORTED: a rule cannot express the row. */
CORE_SUBPROGRAM u32 cfi_rule(struct unwind *unwind, struct unwind_rule *rule);

/* The meaning of a DWARF expression in an unwind table, as a term that a rule can express. */

#define EXPR_STACK 8 /* depth of the expression stack, a power of two */
#define EXPR_OPERATIONS_MAX 64

enum expr_kind {
	EXPR_CONSTANT,	     /* offset (a constant) */
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
 * .eh_frame: finds the entry that covers a pc, by the sorted index in .eh_frame_hdr, or by a linear
 * search in a file without index (Linux Standard Base 5.0, core, section 10.6; statically linked
 * programs lack the index). The index only makes the search faster: a header without a usable index
 * still says where the section begins.
 */

#define EH_ENTRIES_MAX (1U << 17) /* limit for the records of a linear search */

struct eh_search {
	u64 low, high;	 /* the index entry that is searched has a number in [low, high) */
	u64 index;	 /* address of the first entry of the index */
	u64 header;	 /* address of .eh_frame_hdr */
	u64 record_end;	 /* end of the record that was opened last, where the next record begins */
	u64 records_end; /* no record begins at this address or after it */
	u32 records;	 /* the most records that the search still opens */
	u32 stop;
	u32 is_wide; /* 1: numbers in the index have 8 bytes; 0: 4 bytes */
	u16 blocks;  /* number of blocks before the current one that are still to be scanned */
	u16 is_unreadable; /* 1: a part of the scanned memory was unreadable */
	u16 is_empty;	   /* 1: the index is empty, so the file may have no section */
	u64 block, block_end;
	u64 segment; /* first address of the scanned block's segment */
	/*
	 * the eight bytes that were last read from the index: a whole entry (function, FDE), or one
	 * of the two fields of a wide entry
	 */
	u64 entry;
};

/*
 * Makes the rule of unwind->lookup_pc in the current image. STOP_NO_RULE: no entry covers the pc.
 */
CORE_INLINE u32 eh_frame_make_rule(struct unwind *unwind, struct unwind_rule *rule);

/* The executor: steps from the registers of a frame, by its rule, to those of its caller. */

#define STEP_WORDS 16 /* saved registers that one read gets; a power of two */

/*
 * State while the slots of a rule are restored. The state is not on the BPF stack, where the
 * verifier would track each value and keep more states.
 */
struct slot_restore {
	u64 cfa;
	u64 base;
	u32 stop;
	u32 reserved;
};

/*
 * Changes unwind->registers from those of a frame to those of its caller, by unwind->rule.
 * STOP_NONE: the caller's pc is not 0, and its stack pointer is at a higher address (unless a
 * signal interrupted the caller: a signal may be handled on a stack of its own). Otherwise the
 * registers are undefined.
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
	u8 extra_bytes; /* bytes of an auxiliary header that follows this header */
	u32 function_count;
	u32 row_count;
	u32 row_bytes;
	u32 functions; /* offset of the index of functions from the end of both headers */
	u32 rows;
};
ABI_SIZE(struct sframe_header, 28);

struct sframe_search {
	struct sframe_header header;
	u64 section;   /* address of the .sframe section in the memory of the image */
	u64 functions; /* address of the index of functions */
	u64 entry;     /* address of the index entry that covers the pc */
	u64 rows;
	u64 rows_end;
	u64 low, high;
	u32 entry_bytes;
	u32 stop;

	u64 function; /* address of the function that `entry` describes */
	u32 function_bytes;
	u32 first_row; /* offset of the function's first row from `rows` */
	u32 rows_left;
	u32 pc_offset; /* offset of the pc in the function, or in its repeated block */
	u32 block_bytes;
	u8 info;
	u8 flexible;

	u8 row_info; /* info byte of the row that covers the pc */
	bool found;
	u32 word[8]; /* data words of the row that covers the pc */
};

/* Makes the rule of unwind->lookup_pc in the current image. STOP_NO_RULE: no row covers the pc. */
CORE_SUBPROGRAM u32 sframe_make_rule(struct unwind *unwind, struct unwind_rule *rule);

/*
 * The budget of a walk, in steps of work: reads, instructions, rows, records. A frame takes about
 * 50. If a file does not say where its table is, the search for the table takes one step for each
 * four bytes.
 */
#define UNWIND_BUDGET 200000U
#define UNWIND_REFILLS_MAX                                                                         \
	1024 /* how often one walk may repeat a frame after a refill of its budget */
/* A value of unwind->code_seen: the rule was made without all of the code, or from registers. */
#define CODE_UNREADABLE (~0ULL)
#define UNWIND_FRAMES 512 /* size of the frame buffer: > STACK_USER_DEPTH_MAX, a power of two */

/* The executable mapping of a pc. */
struct unwind_mapping {
	u64 start; /* range of the mapping; `end` is 0 without a mapping */
	u64 end;
	/*
	 * Address of the file's first segment, with the ELF header; 0: code without a file. A later
	 * segment may share the header's page of the file and so show the header, too.
	 */
	u64 image;
	u64 is_vdso; /* 1: the mapping is the vdso */
};

struct elf_header { /* The parts of Elf64_Ehdr that the unwinder uses. */
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
	u64 guess_mark; /* the bit that marks guessed frames: FRAME_GUESSED, or 0 for no mark */

	/* Output: */
	u32 depth;
	u32 stop; /* enum stop_reason */
	u64 frame[UNWIND_FRAMES];

	/* State of the walk: */
	u32 max_depth;
	u32 refills;
	u32 first; /* number of frames in `frame` before the frame of the current registers */
	u32 is_interrupted; /* 1: the current frame's pc is exact, not the address after a call */
	u32 is_lasting;	    /* 1: the rule of the current pc may be cached */
	u32 is_by_code;	    /* 1: the cache says that no table covers the current pc */
	/*
	 * 1: the file's table says that it does not cover the current pc; a rule made from the code
	 * may be cached (rule_search.h)
	 */
	u32 is_listed;
	/*
	 * 1: unwind->rule and its element of the cache (RULE_KEY_TABLE) hold the place of the
	 * file's .eh_frame section, not the rule of a frame
	 */
	u32 is_search;
	u32 is_guessed; /* 1: a step so far, to this frame or a frame further in, was a guess */
	/*
	 * address whose rule is looked up: the pc; if the frame made a call, the byte before the pc
	 */
	u64 lookup_pc;
	/* range of code with the same rule as the pc; empty: the rule holds for the pc alone */
	u64 same_from, same_to;
	u64 granule; /* bytes of code that a cached rule covers (abi/rule_cache.h); 1: the pc */
	/* end of the code that the rule was made from; 0: the rule is from a table */
	u64 code_seen;
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
	struct script_marks scripts; /* frames of interpreters' loops, innermost first */
	struct go_caller go;
	struct java_walk java;
	struct v8_walk v8;
	u64 saved[STEP_WORDS];
	u64 saved_base;
	u32 is_saved_ready; /* 1: the words below saved_base were read, and are those of the frame
			     */
	u32 saved_count;
	u64 context[SIGNAL_CONTEXT_WORDS];
};

/* Defined by the embedder: reads memory of the task, all bytes or none. */
CORE_INLINE bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes);

/* Defined by the embedder: reads memory at any address without waiting for missing pages. */
CORE_INLINE bool unwind_peek(struct unwind *unwind, u64 address, void *buffer, u32 bytes);

/*
 * Defined by the embedder: called when the budget is spent. True: the budget was refilled, and the
 * frame is tried again, without the data that was read for it. An embedder that must wait for
 * memory, but cannot wait within a read, fails the read, sets the budget to 0, and waits in this
 * function. Called at most UNWIND_REFILLS_MAX times in a walk.
 */
CORE_INLINE bool unwind_wait_for_missing_page(struct unwind *unwind);

/*
 * Defined by the embedder: sets unwind->mapping to the executable mapping of a pc. False: there is
 * no mapping. If a probe has replaced the return address, the embedder puts the true pc into the
 * registers.
 */
CORE_INLINE bool unwind_find_mapping(struct unwind *unwind, u64 pc);

/*
 * Defined by the embedder: the form in which the frame of a pc is stored; unwind->mapping is the
 * pc's mapping, if there is one.
 */
CORE_INLINE u64 unwind_frame(struct unwind *unwind, u64 pc);

#ifdef UNWIND_KNOWS_JAVA
/*
 * Defined by an embedder that knows OpenJDK: looks for the virtual machine to which the current
 * frame's r15 leads (java_rule.c). If found, sets unwind->java.layout, .base and .is_found.
 */
CORE_INLINE void unwind_find_java_layout(struct unwind *unwind);

/*
 * Defined by the same embedder: calls java_rule(). A BPF program makes it a function that is
 * verified by itself.
 */
CORE_INLINE bool unwind_java_rule(struct unwind *unwind);

/*
 * Defined by the same embedder: gives the current frame the name of unwind->java.method, if the
 * method's words are as java_find_names_of_method() expects. If java_inlined_find() finds inlined
 * functions and all have an id, unwind->java.inlined is their number, and the ids are in
 * unwind->java.chain.
 */
CORE_INLINE void unwind_name_java_frame(struct unwind *unwind);

/*
 * Sets unwind->rule to the rule of the current frame. False: the frame does not belong to the
 * virtual machine's code, or a check of the frame failed.
 */
CORE_SUBPROGRAM bool java_rule(struct unwind *unwind);

/*
 * Finds the words that say which function unwind->java.method is, but not its source file. False: a
 * word on the way is not that of a method, or is unreadable.
 */
CORE_SUBPROGRAM bool java_find_method_without_wait(struct unwind *unwind);

/*
 * Does the same as java_find_method_without_wait(), and finds the name of the source file. True:
 * all texts are in memory. The result is also false if a page is missing: the budget is then 0 if
 * the embedder waits for the page in unwind_wait_for_missing_page().
 */
CORE_SUBPROGRAM bool java_find_names_of_method(struct unwind *unwind);

/*
 * Sets unwind->java.chain and .inlined to the functions of the current frame. Without inlined
 * functions the method is the only one. False: the data about the frame's address failed a check.
 */
CORE_SUBPROGRAM bool java_inlined_find(struct unwind *unwind);
#endif

#ifdef UNWIND_KNOWS_V8
/*
 * Defined by an embedder that knows V8: gives the current frame, whose rule is known, the name of
 * V8's function if v8_read_names_of_function() finds one. While unwind->v8.inlined.left is not 0, a
 * further call adds a frame for the next function.
 */
CORE_INLINE void unwind_name_v8_frame(struct unwind *unwind);

/*
 * Finds the function of the current frame, whose code was generated by V8 if `is_compiled`, and
 * else is V8's own. 1: unwind->v8.shared is known. 0: the frame is not one of a function that V8's
 * interpreter or compilers run; -1: it may be one, but a check failed or memory was unreadable.
 */
CORE_GLOBAL int v8_find_function_of_frame(struct unwind *unwind, u32 is_compiled);

/*
 * Reads the name and the file of the function that v8_find_function_of_frame() found, and sets
 * unwind->v8.hash. 0: a check failed or memory was unreadable.
 */
CORE_GLOBAL int v8_read_names_of_function(struct unwind *unwind);

/*
 * Finds the functions that run in the current frame of compiled code, which made a call, after
 * v8_find_function_of_frame(). unwind->v8.inlined.shared has them, the function of the frame first.
 * Returns the number of functions within that function; 0: there are none, or V8 does not describe
 * the call; -1: a check failed or memory was unreadable.
 */
CORE_GLOBAL int v8_inlined_find(struct unwind *unwind);
#endif

/*
 * Defined by an embedder with a cache. unwind_find_cached_rule() sets unwind->rule to the cached
 * rule of the current frame or, if unwind->is_search, to the cached place of the file's table.
 * unwind_cache_rule() stores unwind->rule in the cache. The key is unwind_rule_key(). Called only
 * if the rule may be cached, and never for 32-bit tasks.
 */
CORE_INLINE bool unwind_find_cached_rule(struct unwind *unwind);
CORE_INLINE void unwind_cache_rule(struct unwind *unwind);

/*
 * Unwinds from unwind->registers, at most `max_depth` frames (<= STACK_WALK_DEPTH_MAX). frame[0] is
 * the frame of the pc. All other frames are the address after the instruction that their function
 * is at (abi/stack.h). Returns the depth, where omitted frames (deep_stack.h) count as one; `stop`
 * says why the stack ends: STOP_ROOT if it is complete, STOP_GUESSED if a guessed step was needed
 * to reach the root.
 *
 * Data of an image is kept for the next call; call unwind_drop_mapping_and_tables() before a walk
 * of another task.
 */
CORE_INLINE u32 unwind_stack(struct unwind *unwind, u32 max_depth);
CORE_INLINE void unwind_drop_mapping_and_tables(struct unwind *unwind);

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
static inline bool unwind_spend_budget(struct unwind *unwind)
{
	if (!unwind->budget)
		return false;
	unwind->budget--;
	return true;
}

/*
 * The stop reason after a failed read of a table: the budget is spent, or the memory is unreadable.
 */
static inline u32 stop_reason_of_failed_table_read(const struct unwind *unwind)
{
	return unwind->budget ? STOP_TABLE_UNREADABLE : STOP_BUDGET;
}

static inline u32 stop_reason_of_failed_stack_read(const struct unwind *unwind)
{
	return unwind->budget ? STOP_STACK_UNREADABLE : STOP_BUDGET;
}

/*
 * Makes the rule of the current pc from its code (unwind_bytes.c, code_rule.h). This succeeds
 * unless the code is unreadable.
 */
CORE_SUBPROGRAM u32 unwind_code_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
