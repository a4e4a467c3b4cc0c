/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The loop of an interpreter in a file: the rows and instructions of its code, and the parts of
 * it that get the kind CFA_SCRIPT_LOOP. A runtime's reader finds the loop, and says in which parts
 * the words that a walk reads are valid.
 */
#ifndef LIB_SYMBOL_UNWIND_SCRIPT_LOOP_H
#define LIB_SYMBOL_UNWIND_SCRIPT_LOOP_H

#include <libelf.h>
#include <stdbool.h>

#include "arch/numbers_x86_64.h"
#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_image.h"
#include "symbol/unwind/x86_decode.h"

#define SCRIPT_LOOP_BYTES_MAX (1U << 20)
#define SCRIPT_LOOP_RANGES_MAX 96
/* The most parts of a loop (.cold) that the compiler has moved away. */
#define SCRIPT_LOOP_PARTS_MAX 8

/* The flow of control after an instruction. */
enum loop_flow {
	LOOP_NEXT,
	LOOP_JUMP,	    /* a jump to `target` */
	LOOP_BRANCH,	    /* a conditional jump: to `target`, or to the next instruction */
	LOOP_JUMP_INDIRECT, /* a jump to an address in a register or in memory */
	LOOP_CALL,
	LOOP_TRAP, /* code ends here */
	LOOP_OTHER
};

#define LOOP_REGISTERS 32
#define LOOP_NO_REGISTER LOOP_REGISTERS

/* An instruction of x86-64 or arm64. Registers have their hardware numbers; arm64's sp is 31. */
struct loop_code {
	u32 length;
	enum loop_flow flow;
	u64 target;
	u32 writes; /* general registers that the instruction writes, by bit */
	/* A memory operand, at base + displacement: */
	u8 base; /* base register; LOOP_NO_REGISTER: the operand has another base, or there is no
		    memory operand */
	bool is_indexed;
	bool is_store;	  /* the instruction only stores whole words at base + displacement */
	u8 touched_bytes; /* the most bytes that the instruction may store in the operand; 0: no
			     store */
	u8 stored[2]; /* registers whose 64 bits the instruction stores in the operand, one after
			 the other */
	s64 displacement;
	/* The instruction sets the register `computed` to the address computed_from + distance. */
	u8 computed, computed_from; /* LOOP_NO_REGISTER: the instruction computes no address */
	s64 distance;
};

/* A range of the loop's code, by file offset. */
struct script_loop_range {
	u64 start, end;
	bool is_unmarked; /* the code gets no mark, even if other ranges contain it */
};

struct script_loop {
	Elf *elf;
	const struct file_image *image;
	const struct code_rows *rows;
	const struct file_spans *covered;
	u16 machine; /* EM_X86_64 or EM_AARCH64 */

	/* Addresses in the file; script_loop_enter() sets them: */
	u64 start, end;
	const u8 *code;
	u64 code_bytes; /* number of bytes from `code` to the end of its section */

	/* Output: */
	struct script_layout layout;
	u32 stack_bytes; /* bytes of the native frame, counted down from the CFA, that a walk reads
			  */
	u8 operand;	 /* operand of the marked rules: RULE_LOOP_OPERAND() */
	u8 slot[RULE_SLOTS]; /* slots of saved registers that the rows lack and the marked rules
				get; 0: none */
	struct script_loop_range ranges[SCRIPT_LOOP_RANGES_MAX];
	u32 range_count;
	u64 moved[SCRIPT_LOOP_PARTS_MAX]
		 [2]; /* start and end of the parts of the loop that the compiler has moved away */
	u32 moved_count;
};

/* Sets the loop to the function at an address of the file. False: the function's code is not
 * known. */
bool script_loop_enter(struct script_loop *loop, u64 address);

/* Returns the file's bytes from an address on; *left is their number, to the end of the section.
 * NULL: the file has no bytes at the address. An analysis reads each instruction of a loop, so the
 * loop's own bytes are returned without a search among the sections. */
const u8 *script_loop_bytes(const struct script_loop *loop, u64 address, u64 *left);

bool script_loop_file_offset(const struct script_loop *loop, u64 address, u64 *offset);

/* The unwind rule at an address of the file; NULL: no table covers the address. */
const struct unwind_rule *script_loop_rule(const struct script_loop *loop, u64 address);

/* Decodes the instruction at an address of the file, of x86-64 or arm64. */
bool script_loop_decode_at(const struct script_loop *loop, u64 address, struct loop_code *code);

/* The register that holds a function's first argument (number 0) or second argument (number 1). */
u32 script_loop_argument_register(const struct script_loop *loop, u32 number);

/* The register whose 64 bits an instruction stores at its base register + displacement. */
u32 loop_code_register_stored_at(const struct loop_code *code, s64 displacement);

/* Sets *below: how many bytes base + displacement is below the CFA. False: `base` is not the
 * register that gives the CFA. */
bool script_loop_bytes_below_cfa(const struct script_loop *loop, u64 address, u32 base,
				 s64 displacement, s64 *below);

/* Decodes the instruction at an address of a file for x86-64; the result is false for other files,
 * too. */
bool script_loop_decode_x86_at(const struct script_loop *loop, u64 address,
			       struct x86_instruction *code);

/* Sets *below: how many bytes a stack operand is below the CFA. False: the operand is not on the
 * stack. */
bool script_loop_operand_bytes_below_cfa(const struct script_loop *loop, u64 address,
					 const struct x86_instruction *code, s64 *below);

/* Records the parts of the loop that the compiler has moved away, by the jumps that lead there;
 * `body` is an address within the loop. False: the code cannot be read. */
bool script_loop_find_moved(struct script_loop *loop, u64 body);

/* Marks the code [start, end), or keeps it without a mark. False: the range is no code, or there
 * are too many ranges. */
bool script_loop_mark(struct script_loop *loop, u64 start, u64 end);
bool script_loop_unmark(struct script_loop *loop, u64 start, u64 end);

/*
 * The function that reads one runtime: it finds the runtime's loop, fills the output of struct
 * script_loop, and marks code. -ENOENT: the file has no such interpreter; -EOPNOTSUPP: the version
 * or build is not known, and layout has `runtime`, `version`, and link_kind SCRIPT_LINK_NONE or
 * SCRIPT_LINK_UNREAD.
 */
typedef int script_loop_reader(struct script_loop *loop);

script_loop_reader script_python_read, script_php_read, script_ruby_read, script_java_read,
	script_v8_read, script_perl_read;

/* Reads at which offsets a code object has its members, from the list of members that its type has.
 * The members name_member and lines_member hold the function's name and its line table. False:
 * `type` is another type, or a member is missing.
 */
bool script_python_read_code_type(Elf *elf, u64 type, const char *name_member,
				  const char *lines_member, struct script_layout *layout);

/* Reads CPython 3.9 and 3.10 (script_python_register.c); `address` is the loop's. */
int script_python_register_read(struct script_loop *loop, u64 address);

/*
 * Finds the loop of an interpreter in a file, and marks the rows of the loop's code. The file may
 * hold any bytes, so the caller runs in a sandbox. Sets rows->script from a file whose rows and
 * functions with tables (ascending) are given, and gives the rows of the loop the kind
 * CFA_SCRIPT_LOOP where the frames of the script can be found. -ENOENT: the file has no
 * interpreter; -EOPNOTSUPP: the version or the build is not known, and rows->script says which and
 * why (script_loop_reader); -ENOMEM, -E2BIG. After an error the rows are unchanged.
 */
int script_rows_mark(int file, const struct file_spans *covered, struct code_rows *rows);

/* Marks the rules of code that no table covers (RULE_OPERAND_V8), if rows->script is the layout of
 * V8. */
void mark_rules_of_v8_code(struct code_rows *rows);

#endif
