/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of Go's functions for arm64. A function with a frame stores x30 in the lowest word of
 * the frame, and x29 in the word below sp. x30's word is valid while the table says that the
 * function has its frame, x29's word one instruction later (runtime/traceback.go and
 * cmd/internal/obj/arm64/obj7.go in Go's sources). A function without a frame has its return
 * address in x30.
 *
 * Assembler functions may store x29 and x30 elsewhere, and some switch to another stack. The states
 * of their frames are followed through their code instead (symbol/unwind/arm64_frame.h). Code that
 * runs on another stack has the first of these rules that is known:
 *
 *   - the frame by x29, if x29 still points into it (systemstack() of Go 1.27)
 *   - the place from which the code restores sp: the goroutine's saved sp (CFA_GO_SAVED;
 *     systemstack() of Go 1.19 and 1.24), or what the function has noted on the other stack
 *     (CFA_GO_DEPTH; asmcgocall())
 *   - mcall(): go_rule_outermost. The stack of the scheduler begins with mcall(), as in Go's own
 *     traces
 *   - morestack(): CFA_GO_SAVED with the offsets of systemstack(), which leads to the goroutine
 *     whose stack is too small
 *   - otherwise go_rule_caller_unknown: the walk ends
 */
#include "go_rows.h"

#include <string.h>

#include "symbol/unwind/arm64_frame.h"

#define WORD 8
#define CODE_BYTES 4 /* length of an instruction */
#define INSTRUCTIONS_MAX (GO_CODE_MAX / CODE_BYTES)
#define REGISTERS 31
#define GOROUTINE 28	     /* x28: the running goroutine's g in Go's code */
#define STORE_FP 0xf81f83fd  /* stur x29, [sp, #-8] */
#define MOVE_LINK 0xaa1e03e3 /* mov x3, x30 */
/* Go's signal handler pushes x30 (16 bytes, so that sp stays aligned) and sets the pc to the
 * function, which the kernel then enters. */
#define PUSHED_BY_SIGNAL_HANDLER 16
#define WAY_BACK_MAX 32 /* the most instructions from a call to where sp is restored */
/* The most instructions from a call of morestack() to the jump behind it. */
#define MORESTACK_MAX 16

/* The bytes that Go's signal handler pushes before the kernel enters the function; 0: no signal
 * handler enters the function. */
static s32 bytes_pushed_before_entry(const struct go_function *function)
{
	return go_function_is_entered_by_signal(function) ? PUSHED_BY_SIGNAL_HANDLER : 0;
}

/* A function that is written in assembler. */
struct assembler_function {
	u32 code[INSTRUCTIONS_MAX];
	u32 count;		     /* number of instructions */
	s32 depth[INSTRUCTIONS_MAX]; /* the table's depth at each instruction; -1: none */
	s32 pushed;		     /* bytes_pushed_before_entry() */
	struct arm64_frame frame[INSTRUCTIONS_MAX]; /* the state before each instruction */
	bool is_reached[INSTRUCTIONS_MAX];
	bool has_changed;	/* a state has changed in this pass over the code */
	bool has_contradiction; /* two paths reach an instruction with different sp */
	/* Instructions [other_stack_start, other_stack_end) have the rule other_stack_rule; none if
	 * both are equal. */
	u32 other_stack_start, other_stack_end;
	struct unwind_rule other_stack_rule;
	struct unwind_rule way_back; /* the last rule of the kinds CFA_GO_SAVED and CFA_GO_DEPTH */
};

/* --- The way back to a stack that a function has left. --- */

enum term_kind {
	TERM_UNKNOWN,
	TERM_STACK_WORD,	   /* a word of the other stack */
	TERM_STACK_END,		   /* stack.hi of the goroutine whose address such a word holds */
	TERM_STACK_END_LESS_DEPTH, /* stack.hi less such a word, the depth */
	TERM_G,			   /* the running goroutine */
	TERM_M,			   /* its m */
	TERM_GOROUTINE,		   /* the goroutine for which m works */
	TERM_SAVED_SP,		   /* the sp that this goroutine has saved */
};

/* The value of a register, as far as the code before tells it. */
struct term {
	enum term_kind kind;
	u32 loads;     /* number of elements of offset[] in use */
	u32 offset[3]; /* offsets of the words that were loaded */
};

/* The value that a load at an offset from a register gives. */
static struct term term_of_load(const struct term *base, u32 offset)
{
	static const enum term_kind loaded[] = {[TERM_STACK_WORD] = TERM_STACK_END,
						[TERM_G] = TERM_M,
						[TERM_M] = TERM_GOROUTINE,
						[TERM_GOROUTINE] = TERM_SAVED_SP,
						[TERM_SAVED_SP] = TERM_UNKNOWN};
	struct term term = *base;

	term.kind = loaded[base->kind];
	if (!term.kind)
		return (struct term){};
	term.offset[term.loads++] = offset;
	return term;
}

/* Executes an instruction on terms. True: the instruction sets sp to *old_sp. */
static bool run_on_terms(struct term terms[REGISTERS + 1], u32 code, struct term *old_sp)
{
	u32 to = code & 31, from = code >> 5 & 31, other = code >> 16 & 31;
	struct term term = {}, left = from < REGISTERS ? terms[from] : term;

	if ((code & 0xfffffc1f) == 0x9100001f) { /* mov sp, x */
		*old_sp = left;
		return true;
	}
	if ((code & 0xffc00000) == 0xf9400000) { /* ldr x, [x, #n] */
		u32 offset = (code >> 10 & 0xfff) * WORD;

		term = from < REGISTERS ? term_of_load(&left, offset)
					: (struct term){TERM_STACK_WORD, 1, {offset}};
	} else if ((code & 0xffe0fc00) == 0xcb000000 && left.kind == TERM_STACK_END &&
		   terms[other].kind == TERM_STACK_WORD) { /* sub x, x, x */
		term = left;
		term.kind = TERM_STACK_END_LESS_DEPTH;
		term.offset[term.loads++] = terms[other].offset[0];
	}
	/* Other loads and stores may write a second register, and their base. */
	else if ((code & 0x0a000000) == 0x08000000)
		terms[from] = terms[code >> 10 & 31] = (struct term){};
	terms[to] = term;
	return false;
}

/* True if an instruction other than a jump changes sp. */
static bool changes_sp(u32 code)
{
	struct arm64_frame frame = arm64_frame_at_entry;
	struct arm64_constants constants = {};

	arm64_frame_step(&frame, &constants, code);
	return frame.sp != 0;
}

static void forget_terms_at_call(struct term terms[REGISTERS + 1])
{
	struct term goroutine = terms[GOROUTINE];

	memset(terms, 0, sizeof(*terms) * (REGISTERS + 1));
	terms[GOROUTINE] = goroutine;
}

/* Makes the rule of code on another stack from the term that sp gets when the function returns to
 * its own stack. `frame` says where x29 and x30 are saved. False: no rule can express it. */
static bool make_rule_of_way_back(const struct term *old_sp, const struct arm64_frame *frame,
				  struct unwind_rule *rule)
{
	bool is_depth = old_sp->kind == TERM_STACK_END_LESS_DEPTH;
	u32 second = old_sp->offset[1] / WORD, third = old_sp->offset[2] / WORD;
	u8 fp = slot_of_word_below_base(-(s64)frame->fp_place);
	u8 link = slot_of_word_below_base(-(s64)frame->link_place);

	*rule = (struct unwind_rule){
		.cfa_kind = is_depth ? CFA_GO_DEPTH : CFA_GO_SAVED,
		.cfa_register = REGISTER_SP,
		.cfa_offset = old_sp->offset[0],
		.operand = frame->link_place / WORD,
		.base = RULE_BASE_CFA,
		.slot = {[SLOT_FP] = fp, [SLOT_RETURN] = link},
	};
	rule->slot[is_depth ? GO_SLOT_STACK : GO_SLOT_GOROUTINE] = second;
	rule->slot[is_depth ? GO_SLOT_DEPTH : GO_SLOT_STACK] = third;
	return (is_depth || old_sp->kind == TERM_SAVED_SP) && fp != SLOT_LOST &&
	       link != SLOT_LOST && second < SLOT_LOST && third < SLOT_LOST;
}

/* The call at instruction `at` runs on another stack. Finds the instruction after it that restores
 * sp, and makes the rule for the code in between. *back is the index after that instruction. False:
 * no rule, and *back has no meaning. */
static bool find_way_back(const struct assembler_function *function, u32 at, u32 *back,
			  struct unwind_rule *rule)
{
	const struct arm64_frame *frame = &function->frame[at];
	struct term terms[REGISTERS + 1] = {[GOROUTINE] = {TERM_G}}, old_sp = {};
	s64 distance;

	for (u32 i = at + 1; i + 1 < function->count && i <= at + WAY_BACK_MAX; i++) {
		u32 code = function->code[i];
		enum arm64_flow flow = arm64_flow_of(code, &distance);

		*back = i + 1;
		if (flow == ARM64_CALL || flow == ARM64_CALL_INDIRECT)
			forget_terms_at_call(terms);
		else if (flow != ARM64_NEXT)
			return false;
		else if (run_on_terms(terms, code, &old_sp))
			return function->depth[i + 1] >= 0 &&
			       function->pushed + function->depth[i + 1] == frame->link_place &&
			       make_rule_of_way_back(&old_sp, frame, rule);
		else if (changes_sp(code))
			return false;
	}
	return false;
}

/* Returns the index of the word of struct g in which morestack() saves x29. 0: the code does not
 * save x29 there, or does not save x3 (the caller's return address) in the word before. */
static u8 find_saved_fp_word(const struct assembler_function *function)
{
	u32 store = 0xf9000000 | GOROUTINE << 5, fp = 0, link = 0; /* str x, [x28, #n] */

	for (u32 i = 0; i < function->count; i++) {
		if ((function->code[i] & 0xffc003ff) == (store | 29))
			fp = function->code[i] >> 10 & 0xfff;
		if ((function->code[i] & 0xffc003ff) == (store | 3))
			link = function->code[i] >> 10 & 0xfff;
	}
	return fp < SLOT_LOST && link + 1 == fp ? fp : 0;
}

/* --- The states of an assembler function. --- */

/* Merges a state into the state before instruction `at`. */
static void merge_state(struct assembler_function *function, s64 at,
			const struct arm64_frame *frame)
{
	struct arm64_frame common = *frame;

	if (at < 0 || at >= function->count)
		return;
	if (function->is_reached[at]) {
		function->has_contradiction |=
			!arm64_frame_keep_common(&common, &function->frame[at]);
		if (!memcmp(&common, &function->frame[at], sizeof(common)))
			return;
	}
	function->frame[at] = common;
	function->is_reached[at] = true;
	function->has_changed = true;
}

/* Follows a call on another stack. Returns the index of the next instruction to follow: the one at
 * which the function is on its own stack again if the call gets a rule of the kinds CFA_GO_SAVED
 * and CFA_GO_DEPTH, else the one after the call. */
static u32 follow_call_on_other_stack(struct assembler_function *function, u32 at,
				      struct arm64_frame *frame)
{
	struct unwind_rule rule, unused;
	u32 back = at + 1;

	if (!find_way_back(function, at, &back, &rule))
		return at + 1;
	function->way_back = rule;
	if (arm64_frame_rule(frame, &unused))
		return at + 1;
	function->other_stack_rule = rule;
	function->other_stack_start = at;
	/* CFA_GO_SAVED holds from the instruction after the one that set sp; CFA_GO_DEPTH holds
	 * from the call, because the words on the other stack are stored just before it. */
	while (rule.cfa_kind == CFA_GO_SAVED && function->other_stack_start &&
	       function->frame[function->other_stack_start - 1].sp == DISTANCE_UNKNOWN)
		function->other_stack_start--;
	function->other_stack_end = back;
	frame->sp = frame->link_place;
	return back;
}

/* stp x29, x30, [x, #-8] */
static bool stores_fp_and_link(u32 code)
{
	return (code & 0xfffffc1f) == 0xa93f781d;
}

/* str x30, [x], str x30, [x, x] */
static bool stores_link(u32 code)
{
	return (code & 0xfffffc1f) == 0xf900001e || (code & 0xffe0fc1f) == 0xf820681e;
}

/* Applies an instruction that makes a frame whose size or place arm64_frame_step() does not know:
 * the table has the depth, and the instruction before has stored x30, or x29 and x30. */
static void make_large_frame(const struct assembler_function *function, u32 at,
			     struct arm64_frame *frame)
{
	u32 before = at ? function->code[at - 1] : 0;
	s32 depth = at + 1 < function->count ? function->depth[at + 1] : 0;

	if (depth <= 0 || function->depth[at] || !changes_sp(function->code[at]) ||
	    (!stores_fp_and_link(before) && !stores_link(before)))
		return;
	frame->sp = frame->link_place = function->pushed + depth;
	if (stores_fp_and_link(before))
		frame->fp_place = frame->sp + WORD;
}

/* True if the call is that of morestack(). A function calls morestack() before it has a frame, with
 * its return address in x3. When the function resumes, x30 has that return address again, and the
 * function jumps to its start. */
static bool is_call_of_morestack(const struct assembler_function *function, u32 at)
{
	s64 distance;

	if (!at || function->code[at - 1] != MOVE_LINK)
		return false;
	for (u32 i = at + 1; i < function->count && i <= at + MORESTACK_MAX; i++) {
		enum arm64_flow flow = arm64_flow_of(function->code[i], &distance);

		if (flow != ARM64_NEXT)
			return flow == ARM64_JUMP && distance == -(s64)i * CODE_BYTES;
	}
	return false;
}

static void follow_instruction(struct assembler_function *function, u32 at)
{
	struct arm64_frame frame = function->frame[at];
	struct arm64_constants constants = {};
	u32 next = at + 1;
	s64 distance;
	enum arm64_flow flow = arm64_flow_of(function->code[at], &distance);

	if (flow == ARM64_JUMP || flow == ARM64_BRANCH)
		merge_state(function, at + distance / CODE_BYTES, &frame);
	if (flow == ARM64_CALL && is_call_of_morestack(function, at)) {
		/* the state stays */
	} else if (flow == ARM64_CALL || flow == ARM64_CALL_INDIRECT) {
		frame.has_link = 0;
		frame.is_after_call = 1;
		if (frame.sp == DISTANCE_UNKNOWN && frame.link_place)
			next = follow_call_on_other_stack(function, at, &frame);
	} else if (flow == ARM64_NEXT) {
		arm64_frame_step(&frame, &constants, function->code[at]);
		make_large_frame(function, at, &frame);
	} else if (flow != ARM64_BRANCH && flow != ARM64_SYSTEM_CALL) {
		return;
	}
	merge_state(function, next, &frame);
}

static void read_depths(const struct go_reader *reader, const struct go_function *entry,
			struct assembler_function *function)
{
	struct go_run run;
	u64 at = go_find_runs_of_quantity(&reader->table, entry, GO_DEPTH, &run);

	for (u32 i = 0; i < function->count; i++)
		function->depth[i] = -1;
	while (at && go_read_next_run(&reader->table, entry, &at, &run) && run.value < GO_DEPTH_MAX)
		for (u64 i = run.start; i < run.end; i += CODE_BYTES)
			function->depth[(i - entry->start) / CODE_BYTES] = run.value;
}

/* Reads the code and the states of a function. False: the function is too large, or its code is
 * not understood. */
static bool read_assembler(const struct go_reader *reader, const struct go_function *entry,
			   struct assembler_function *function)
{
	struct arm64_frame frame = arm64_frame_at_entry;
	u32 bytes = go_reader_read_code(reader, entry, (u8 *)function->code);

	if (bytes != entry->end - entry->start || bytes % CODE_BYTES)
		return false;
	function->count = bytes / CODE_BYTES;
	function->pushed = frame.sp = bytes_pushed_before_entry(entry);
	read_depths(reader, entry, function);
	merge_state(function, 0, &frame);
	while (function->has_changed && !function->has_contradiction) {
		function->has_changed = false;
		function->other_stack_start = function->other_stack_end = 0;
		function->way_back = (struct unwind_rule){};
		for (u32 at = 0; at < function->count; at++)
			if (function->is_reached[at])
				follow_instruction(function, at);
	}
	return !function->has_contradiction;
}

/* --- The rows. --- */

/* Adds a row for [start, end) by the state of the frame. A state from which no caller is known
 * gives the rule go_rule_caller_unknown. */
static int add_row_of_frame(const struct go_reader *reader, const struct go_function *function,
			    u64 start, u64 end, const struct arm64_frame *frame)
{
	struct unwind_rule rule;

	if (!arm64_frame_rule(frame, &rule))
		return go_reader_add_row(reader, start, end, &go_rule_caller_unknown);
	if (go_function_is_entered_by_signal(function))
		rule.flags |= RULE_SIGNAL;
	if (frame->sp == DISTANCE_UNKNOWN)
		rule.flags |= RULE_SWITCHED;
	return go_reader_add_row(reader, start, end, &rule);
}

/* Adds rows for the part of a run that lies in [start, end). */
static int add_rows_of_run(const struct go_reader *reader, const struct go_function *function,
			   const struct go_run *run, u64 start, u64 end)
{
	s32 pushed = bytes_pushed_before_entry(function);
	struct arm64_frame frame = arm64_frame_at_entry;
	u64 stored = run->start;
	u32 first;
	int result;

	start = run->start < start ? start : run->start;
	end = run->end < end ? run->end : end;
	frame.sp = pushed;
	if (!run->value)
		return add_row_of_frame(reader, function, start, end, &frame);
	frame.sp = frame.link_place = pushed + run->value;
	if (go_function_frame_pointer_rule(function) == GO_FP_PASSED_ON)
		return add_row_of_frame(reader, function, start, end, &frame);
	if (go_reader_read_bytes(reader, run->start, &first, sizeof(first)) && first == STORE_FP)
		stored += CODE_BYTES;
	stored = stored < start ? start : stored < end ? stored : end;
	result = add_row_of_frame(reader, function, start, stored, &frame);
	frame.fp = DISTANCE_UNKNOWN;
	if (go_function_frame_pointer_rule(function) != GO_FP_LOST)
		frame.fp_place = frame.sp + WORD;
	return result ?: add_row_of_frame(reader, function, stored, end, &frame);
}

/* Adds rows for [start, end) of a function by the depths of the table. */
static int add_rows_by_depth(const struct go_reader *reader, const struct go_function *function,
			     u64 start, u64 end)
{
	struct go_run run;
	u64 at = go_find_runs_of_quantity(&reader->table, function, GO_DEPTH, &run);
	int result = 0;

	while (!result && at && go_read_next_run(&reader->table, function, &at, &run) &&
	       run.value >= 0 && run.value < GO_DEPTH_MAX)
		if (run.start < end && run.end > start)
			result = add_rows_of_run(reader, function, &run, start, end);
	return result;
}

/* Adds the row of an instruction that runs on another stack and whose state gives no rule. The rule
 * of morestack() has RULE_SIGNAL: the caller resumes at the saved pc with x30 restored, so the
 * caller's row for exactly that pc applies, although a call lies before the pc. */
static int add_row_on_other_stack(const struct go_reader *reader, const struct go_function *entry,
				  const struct assembler_function *function, u64 start)
{
	const struct unwind_rule *rule = &go_rule_caller_unknown;
	struct unwind_rule rule_of_morestack = reader->rule_of_systemstack;

	rule_of_morestack.operand = 0;
	rule_of_morestack.flags = RULE_SIGNAL;
	rule_of_morestack.slot[GO_SLOT_RBP] = find_saved_fp_word(function);
	if (!strcmp(entry->name, "runtime.mcall"))
		rule = &go_rule_outermost;
	else if (!strcmp(entry->name, "runtime.morestack") && rule_of_morestack.slot[GO_SLOT_RBP] &&
		 reader->rule_of_systemstack.cfa_kind == CFA_GO_SAVED)
		rule = &rule_of_morestack;
	return go_reader_add_row(reader, start, start + CODE_BYTES, rule);
}

/* True if the depths of an assembler function say where x30 is. Either the function has no frame,
 * or its first frame is made as Go's assembler makes frames: the instruction that sets sp, or the
 * one before, stores x30 at the new sp. */
static bool do_depths_locate_x30(const struct go_reader *reader, const struct go_function *function)
{
	struct go_run run;
	u64 at = go_find_runs_of_quantity(&reader->table, function, GO_DEPTH, &run);
	u32 code[2];

	while (at && go_read_next_run(&reader->table, function, &at, &run))
		if (run.value > 0)
			return run.start >= function->start + sizeof(code) &&
			       go_reader_read_bytes(reader, run.start - sizeof(code), code,
						    sizeof(code)) &&
			       ((code[1] & 0xffe00fff) == 0xf8000ffe || /* str x30, [sp, #-n]! */
				(changes_sp(code[1]) &&
				 (stores_fp_and_link(code[0]) || stores_link(code[0]))));
	return true;
}

/* Adds the row of an instruction of an assembler function. */
static int add_row_of_instruction(const struct go_reader *reader, const struct go_function *entry,
				  bool can_use_depths, const struct assembler_function *function,
				  u32 at)
{
	u64 start = entry->start + (u64)at * CODE_BYTES, end = start + CODE_BYTES;
	const struct arm64_frame *frame = &function->frame[at];
	struct unwind_rule unused;

	if (at >= function->other_stack_start && at < function->other_stack_end)
		return go_reader_add_row(reader, start, end, &function->other_stack_rule);
	if (!function->is_reached[at])
		return can_use_depths
			       ? add_rows_by_depth(reader, entry, start, end)
			       : go_reader_add_row(reader, start, end, &go_rule_caller_unknown);
	if (frame->sp == DISTANCE_UNKNOWN && !arm64_frame_rule(frame, &unused))
		return add_row_on_other_stack(reader, entry, function, start);
	return add_row_of_frame(reader, entry, start, end, frame);
}

static int add_rows_of_assembler_function(struct go_reader *reader, const struct go_function *entry,
					  u8 flags)
{
	bool can_use_depths = !(flags & GO_WRITES_SP) && do_depths_locate_x30(reader, entry);
	struct assembler_function function = {};
	int result = 0;

	if (!read_assembler(reader, entry, &function))
		return can_use_depths ? add_rows_by_depth(reader, entry, entry->start, entry->end)
				      : go_reader_add_row(reader, entry->start, entry->end,
							  &go_rule_caller_unknown);
	if (!strcmp(entry->name, "runtime.systemstack"))
		reader->rule_of_systemstack = function.way_back;
	for (u32 i = 0; i < function.count && !result; i++)
		result = add_row_of_instruction(reader, entry, can_use_depths, &function, i);
	return result;
}

int go_function_add_rows_arm64(struct go_reader *reader, const struct go_function *function,
			       u8 flags)
{
	return flags & (GO_IS_ASSEMBLER | GO_WRITES_SP)
		       ? add_rows_of_assembler_function(reader, function, flags)
		       : add_rows_by_depth(reader, function, function->start, function->end);
}
