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
#define SCRIPT_LOOP_PARTS_MAX 8 /* parts that were moved away */

/* The flow of control after an instruction. */
enum loop_flow {
	LOOP_NEXT,
	LOOP_JUMP,	    /* to `target` */
	LOOP_BRANCH,	    /* to `target`, or to the next one */
	LOOP_JUMP_INDIRECT, /* to an address in a register or in memory */
	LOOP_CALL,
	LOOP_TRAP, /* code ends here */
	LOOP_OTHER
};

#define LOOP_REGISTERS 32
#define LOOP_NO_REGISTER LOOP_REGISTERS

/* An instruction of either architecture. Registers have their hardware numbers; arm64's sp is 31.
 */
struct loop_code {
	u32 length;
	enum loop_flow flow;
	u64 target;
	u32 writes; /* general registers, by bit */
	/* An operand in memory, at base + displacement: */
	u8 base; /* LOOP_NO_REGISTER: it is elsewhere, or there is none */
	bool is_indexed;
	bool is_store;	  /* whole words are stored there, and nothing else */
	u8 touched_bytes; /* that may be stored there; 0: none are */
	u8 stored[2];	  /* registers whose 64 bits are stored there, one after the other */
	s64 displacement;
	/* An address in a register: the instruction sets `computed` to computed_from + distance. */
	u8 computed, computed_from; /* LOOP_NO_REGISTER: it sets none */
	s64 distance;
};

/* A range of file offsets. */
struct script_loop_range {
	u64 start, end;
	bool is_unmarked; /* the code has no mark, even if other ranges contain it */
};

struct script_loop {
	Elf *elf;
	const struct file_image *image;
	const struct code_rows *rows;
	const struct file_spans *covered;
	u16 machine; /* EM_X86_64 or EM_AARCH64 */

	/* Addresses of the file; set by script_loop_enter(): */
	u64 start, end;
	const u8 *code;

	/* Output: */
	struct script_layout layout;
	u32 stack_bytes;     /* bytes of the native frame that a walk relies on, below the CFA */
	u8 operand;	     /* of the rules: RULE_LOOP_OPERAND() */
	u8 slot[RULE_SLOTS]; /* places of saved registers that the rows lack; 0: none */
	struct script_loop_range ranges[SCRIPT_LOOP_RANGES_MAX];
	u32 range_count;
	u64 moved[SCRIPT_LOOP_PARTS_MAX][2]; /* parts of the loop that were moved away */
	u32 moved_count;
};

/* Sets the loop to the function at an address. False: its code is not known. */
bool script_loop_enter(struct script_loop *loop, u64 address);

bool script_loop_offset(const struct script_loop *loop, u64 address, u64 *offset);

/* The rule at an address of the file; NULL: no table covers the address. */
const struct unwind_rule *script_loop_rule(const struct script_loop *loop, u64 address);

/* Reads the instruction at an address of the file, of either architecture. */
bool script_loop_code(const struct script_loop *loop, u64 address, struct loop_code *code);

/* The register with a function's first argument (0) or second one (1). */
u32 script_loop_argument(const struct script_loop *loop, u32 number);

/* The register whose 64 bits an instruction stores at its base + displacement. */
u32 loop_code_stored(const struct loop_code *code, s64 displacement);

/* Sets *below to the distance of base + displacement below the CFA; false: the base is not the
 * register that gives the CFA. */
bool script_loop_below(const struct script_loop *loop, u64 address, u32 base, s64 displacement,
		       s64 *below);

/* Reads the instruction at an address of a file of x86-64; false for other files, too. */
bool script_loop_instruction(const struct script_loop *loop, u64 address,
			     struct x86_instruction *code);

/* Sets *below to the distance of an operand on the stack below the CFA; false: the operand is
 * elsewhere. */
bool script_loop_below_cfa(const struct script_loop *loop, u64 address,
			   const struct x86_instruction *code, s64 *below);

/* Notes the parts of the loop that jumps lead to; `body` is an address within the loop. False: the
 * code cannot be read. */
bool script_loop_find_moved(struct script_loop *loop, u64 body);

/* Marks the code from an address to another one, or leaves it without a mark. False: it is no code,
 * or there are too many ranges. */
bool script_loop_mark(struct script_loop *loop, u64 start, u64 end);
bool script_loop_unmark(struct script_loop *loop, u64 start, u64 end);

/*
 * A reader of a runtime: finds its loop, fills the output, and marks code. -ENOENT: the file has
 * no such interpreter; -EOPNOTSUPP: the version or build is not known, and layout has
 * `runtime`, `version`, and link_kind SCRIPT_LINK_NONE or SCRIPT_LINK_UNREAD.
 */
typedef int script_loop_reader(struct script_loop *loop);

script_loop_reader script_python_read, script_php_read, script_ruby_read, script_java_read,
	script_v8_read;

/* Reads where the fields of code objects lie, by the type's list of members: name_member and
 * lines_member are those with the function's name and its line table. False: another type, or a
 * member is missing.
 */
bool script_python_code_type(Elf *elf, u64 type, const char *name_member, const char *lines_member,
			     struct script_layout *layout);

/* The reader of CPython 3.9 and 3.10 (script_python_register.c); `address` is the loop's. */
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
void script_own_code_mark(struct code_rows *rows);

#endif
