/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assembler functions of Go's runtime that leave their stack for another one and come back: where
 * each instruction stands, and how the code comes back.
 */
#ifndef LIB_SYMBOL_GO_SWITCH_H
#define LIB_SYMBOL_GO_SWITCH_H

#include <stdbool.h>

#include "rule.h"
#include "scalar.h"

#define GO_PARTS_MAX 16
#define GO_CODE_MAX 1024 /* bytes of a function; longer ones are not looked at */

enum go_place {
	GO_ON_STACK,   /* rsp is as the function's table says */
	GO_AWAY,       /* rsp is elsewhere */
	GO_UNKNOWN,    /* no path that leads here is known */
	GO_COMES_BACK, /* rsp is elsewhere, and `rule` leads to what rsp is at `back` */
};

/* Instructions from `start` on, up to the next part. */
struct go_part {
	u32 start;
	u32 place; /* enum go_place */
	u32 back;
	struct unwind_rule rule; /* CFA_GO_SAVED, CFA_GO_DEPTH or CFA_DEREF, with operand 0; or
				    CFA_REGISTER, with offset 0 */
};

struct go_parts {
	u32 count; /* 0: the code is not understood */
	struct go_part part[GO_PARTS_MAX];
};

/* In the code before `end` the stack pointer is `depth` bytes below the return address. */
struct go_depth {
	u32 end;
	s32 depth;
};

/* Reads the parts of a function by its bytes and by the depths that its table has. */
void go_switch_read(const u8 *code, u32 bytes, const struct go_depth *depths, u32 depth_count,
		    struct go_parts *parts);

/* True if no instruction of the code changes rbp. */
bool go_code_keeps_rbp(const u8 *code, u32 bytes);

/* The words from g to where the code stores rbp, 0: it does not. */
u32 go_saved_rbp(const u8 *code, u32 bytes);

#endif
