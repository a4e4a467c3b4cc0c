/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwind rows of Go's functions: go_rows.c reads the table of a file, go_rows_x86_64.c and
 * go_rows_arm64.c make the rows of a function. */
#ifndef LIB_SYMBOL_GO_ROWS_H
#define LIB_SYMBOL_GO_ROWS_H

#include "rule.h"
#include "symbol/elf/go_table.h"

#define GO_CODE_MAX 1024       /* bytes of code of the largest function whose code is followed */
#define GO_DEPTH_MAX (1 << 28) /* no stack is deeper, in bytes */

struct go_reader {
	struct go_table table;
	struct file_image *image;
	struct code_rows *rows;
	struct file_spans *covered;
	/* The rule by which systemstack() returns to its caller's stack; morestack() uses its
	 * offsets. */
	struct unwind_rule rule_of_systemstack;
};

/* The frame has no caller. */
extern const struct unwind_rule go_rule_outermost;

/* Nothing known leads from the code to its caller: the return address is lost. Without a rule, an
 * analysis of the code would give a wrong caller. */
extern const struct unwind_rule go_rule_caller_unknown;

/* Adds a row for those parts of [start, end) of the file that are code. `rule` NULL: the code has
 * no rule. 0, or an error of code_rows_add(). */
int go_reader_add_row(const struct go_reader *reader, u64 start, u64 end,
		      const struct unwind_rule *rule);

/* Reads bytes at an address of the file; false: the file does not have them. */
bool go_reader_read_bytes(const struct go_reader *reader, u64 address, void *bytes, u32 count);

/* Reads the code of a function, up to GO_CODE_MAX bytes. Returns the number of bytes read; 0: the
 * file does not have the code. */
u32 go_reader_read_code(const struct go_reader *reader, const struct go_function *function,
			u8 code[GO_CODE_MAX]);

/* True for functions whose address Go's signal handler puts into the saved pc, so that the kernel's
 * return from the handler enters the function in place of the interrupted code's next
 * instruction. */
bool go_function_is_entered_by_signal(const struct go_function *function);

/* The frame pointer of the caller, as the rows of a function give it. A walk goes on from
 * morestack() only if it knows the frame pointer (core/unwind/go_stack.h). The rows of schedule()
 * give none, and the rows of the functions that morestack() and schedule() have in between give the
 * one that the walk had before. */
enum go_frame_pointer {
	GO_FP_SAVED,	 /* restored from the frame */
	GO_FP_PASSED_ON, /* the value that the inner frame gave, known or not */
	GO_FP_LOST,	 /* not known */
};
enum go_frame_pointer go_function_frame_pointer_rule(const struct go_function *function);

/* Add the rows of a function that may have a caller. `flags`: enum go_function_flag. 0, or an error
 * of code_rows_add(). */
int go_function_add_rows_x86_64(struct go_reader *reader, const struct go_function *function,
				u8 flags);
int go_function_add_rows_arm64(struct go_reader *reader, const struct go_function *function,
			       u8 flags);

#endif
