/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of Go's functions for arm64. A function with a frame stores x30 at the lowest word of
 * the frame, and x29 at the word below sp; both hold as long as the table says that the function
 * has its frame (runtime/traceback.go and cmd/internal/obj/arm64/obj7.go in Go's sources). A
 * function without a frame has its return address in x30.
 *
 * Assembler functions keep to this only in part, and some go to another stack. The states of their
 * frames are followed through their code instead (symbol/unwind/arm64_frame.h). On another stack
 * their rule is the first of these that is known:
 *
 *   - mcall() never returns to its caller: the stack of the scheduler begins with mcall(), as in
 *     Go's own traces.
 *   - x29, if it still points into the function's own frame (systemstack() since Go 1.21)
 *   - the place from which the code restores sp: the goroutine's saved sp (CFA_GO_SAVED;
 *     systemstack()), or what the function has noted on the other stack (CFA_GO_DEPTH;
 * asmcgocall())
 *   - morestack() leads to the goroutine whose stack is too small: CFA_GO_SAVED, with the offsets
 *     that systemstack() has
 *   - none: go_rule_elsewhere, and the walk ends there
 */
#include "go_rows.h"

#include <string.h>

#include "symbol/unwind/arm64_frame.h"

#define WORD 8
#define CODE_BYTES 4 /* length of an instruction */
#define INSTRUCTIONS_MAX (GO_CODE_MAX / CODE_BYTES)
#define REGISTERS 31
#define GOROUTINE 28	     /* the register with the running goroutine, which all functions keep */
#define STORE_FP 0xf81f83fd  /* stur x29, [sp, #-8] */
#define MOVE_LINK 0xaa1e03e3 /* mov x3, x30 */
/* Go's signal handler pushes the interrupted x30 before it enters a function. */
#define PUSHED_BY_SIGNAL_HANDLER 16
#define WAY_BACK_MAX 32 /* the most instructions from a call to where sp is restored */

/* The bytes that Go's signal handler has pushed before it lets the kernel enter the function. */
static s32 bytes_pushed_before_entry(const struct go_function *function)
{
	return go_function_is_entered_by_signal(function) ? PUSHED_BY_SIGNAL_HANDLER : 0;
}

/* A function that is written in assembler. */
struct assembler {
	u32 code[INSTRUCTIONS_MAX];
	u32 count;		     /* number of instructions */
	s32 depth[INSTRUCTIONS_MAX]; /* the table's depth at each instruction; -1: none */
	s32 pushed; /* bytes that Go's signal handler has pushed before the entry */
	struct arm64_frame frame[INSTRUCTIONS_MAX]; /* the state before each instruction */
	bool is_reached[INSTRUCTIONS_MAX];
	bool has_changed;	/* a state has changed in this pass over the code */
	bool has_contradiction; /* an instruction is reached with two depths */
	/* Instructions [noted_start, noted_end) have the rule `noted`; none if both are equal. */
	u32 noted_start, noted_end;
	struct unwind_rule noted;
	struct unwind_rule saved; /* the last rule of the kinds CFA_GO_SAVED and CFA_GO_DEPTH */
};

/* --- The way back to a stack that a function has left. --- */

/* What a register holds: a word of the stack; the end of the stack of the goroutine in such a word;
 * this end less another word of the stack. Or the running goroutine (g); its m; the goroutine for
 * which m works; the sp that this goroutine has saved. */
enum term_kind {
	TERM_UNKNOWN,
	TERM_STACK_WORD,
	TERM_STACK_END,
	TERM_STACK_END_LESS_DEPTH,
	TERM_G,
	TERM_M,
	TERM_GOROUTINE,
	TERM_SAVED_SP,
};

struct term {
	enum term_kind kind;
	u32 loads;
	u32 offset[3]; /* offsets of the loads, and of the depth from sp */
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
	terms[to] = term;
	return false;
}

static void forget_terms_at_call(struct term terms[REGISTERS + 1])
{
	struct term goroutine = terms[GOROUTINE];

	memset(terms, 0, sizeof(*terms) * (REGISTERS + 1));
	terms[GOROUTINE] = goroutine;
}

/* Makes the rule by the value that sp gets, for a function with these places of x29 and x30. False:
 * no rule can express it. */
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

/* Follows the code after the call at instruction `at`, which runs on another stack, up to where sp
 * is restored, which becomes *back. Sets the rule of the code in between. False: no rule. */
static bool find_way_back(const struct assembler *function, u32 at, u32 *back,
			  struct unwind_rule *rule)
{
	struct term terms[REGISTERS + 1] = {[GOROUTINE] = {TERM_G}}, old_sp = {};
	s64 distance;

	for (u32 i = at + 1; i < function->count && i <= at + WAY_BACK_MAX; i++) {
		enum arm64_flow flow = arm64_flow_of(function->code[i], &distance);

		*back = i + 1;
		if (flow == ARM64_CALL || flow == ARM64_CALL_INDIRECT)
			forget_terms_at_call(terms);
		else if (flow != ARM64_NEXT)
			return false;
		else if (run_on_terms(terms, function->code[i], &old_sp))
			return make_rule_of_way_back(&old_sp, &function->frame[at], rule);
	}
	return false;
}

/* The index of the word of a goroutine in which the code stores x29; 0: it stores x29 in none. */
static u32 find_saved_fp_word(const struct assembler *function)
{
	for (u32 i = 0; i < function->count; i++)
		if ((function->code[i] & 0xffc003ff) == (0xf9000000 | GOROUTINE << 5 | 29))
			return function->code[i] >> 10 & 0xfff; /* str x29, [x28, #n] */
	return 0;
}

/* --- The states of an assembler function. --- */

/* Adds to an instruction a state with which it is reached. */
static void reach(struct assembler *function, s64 at, const struct arm64_frame *frame)
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

/* Follows a call on another stack. Returns the instruction at which the function is on its own
 * stack again, or the one after the call if that is not known. */
static u32 follow_call_on_other_stack(struct assembler *function, u32 at, struct arm64_frame *frame)
{
	struct unwind_rule rule, by_fp;
	u32 back = at + 1;

	if (!find_way_back(function, at, &back, &rule))
		return at + 1;
	function->saved = rule;
	if (arm64_frame_rule(frame, &by_fp))
		return at + 1;
	function->noted = rule;
	function->noted_start = at;
	/* The goroutine's words are valid since sp was set, words of the other stack since the
	 * call. */
	while (rule.cfa_kind == CFA_GO_SAVED && function->noted_start &&
	       function->frame[function->noted_start - 1].sp == DISTANCE_UNKNOWN)
		function->noted_start--;
	function->noted_end = back;
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
static void make_large_frame(const struct assembler *function, u32 at, struct arm64_frame *frame)
{
	u32 before = at ? function->code[at - 1] : 0;
	s32 depth = at + 1 < function->count ? function->depth[at + 1] : 0;

	if (depth <= 0 || function->depth[at] ||
	    (!stores_fp_and_link(before) && !stores_link(before)))
		return;
	frame->sp = frame->link_place = function->pushed + depth;
	if (stores_fp_and_link(before))
		frame->fp_place = frame->sp + WORD;
}

/* True if the call is that of morestack(), which a function without a frame calls with its x30 in
 * x3. The function goes on with the x30 that it had. */
static bool is_call_of_morestack(const struct assembler *function, u32 at)
{
	return at && function->code[at - 1] == MOVE_LINK;
}

static void follow_instruction(struct assembler *function, u32 at)
{
	struct arm64_frame frame = function->frame[at];
	struct arm64_constants constants = {};
	u32 next = at + 1;
	s64 distance;
	enum arm64_flow flow = arm64_flow_of(function->code[at], &distance);

	if (flow == ARM64_JUMP || flow == ARM64_BRANCH)
		reach(function, at + distance / CODE_BYTES, &frame);
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
	reach(function, next, &frame);
}

static void read_depths(const struct go_reader *reader, const struct go_function *entry,
			struct assembler *function)
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
			   struct assembler *function)
{
	struct arm64_frame frame = arm64_frame_at_entry;
	u32 bytes = go_reader_read_code(reader, entry, (u8 *)function->code);

	if (bytes != entry->end - entry->start || bytes % CODE_BYTES)
		return false;
	function->count = bytes / CODE_BYTES;
	function->pushed = frame.sp = bytes_pushed_before_entry(entry);
	read_depths(reader, entry, function);
	reach(function, 0, &frame);
	while (function->has_changed && !function->has_contradiction) {
		function->has_changed = false;
		for (u32 at = 0; at < function->count; at++)
			if (function->is_reached[at])
				follow_instruction(function, at);
	}
	return !function->has_contradiction;
}

/* --- The rows. --- */

/* Adds a row for [start, end) by the state of the frame. A state from which no caller is known
 * gives the rule go_rule_elsewhere. */
static int add_row_of_frame(const struct go_reader *reader, const struct go_function *function,
			    u64 start, u64 end, const struct arm64_frame *frame)
{
	struct unwind_rule rule;

	if (!arm64_frame_rule(frame, &rule))
		return go_reader_add_row(reader, start, end, &go_rule_elsewhere);
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
	if (go_frame_pointer_for_caller(function) == GO_FP_AS_GOT)
		return add_row_of_frame(reader, function, start, end, &frame);
	if (go_reader_read_bytes(reader, run->start, &first, sizeof(first)) && first == STORE_FP)
		stored += CODE_BYTES;
	stored = stored < start ? start : stored < end ? stored : end;
	result = add_row_of_frame(reader, function, start, stored, &frame);
	frame.fp = DISTANCE_UNKNOWN;
	if (go_frame_pointer_for_caller(function) != GO_FP_LOST)
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

/* Adds the row of an instruction that runs on another stack, from which the frame does not lead
 * back. The caller of morestack() counts as interrupted: it has no frame, and its x30 is known. */
static int add_row_on_other_stack(const struct go_reader *reader, const struct go_function *entry,
				  const struct assembler *function, u64 start)
{
	const struct unwind_rule *rule = &go_rule_elsewhere;
	struct unwind_rule suspended = reader->saved;

	suspended.operand = 0;
	suspended.flags = RULE_SIGNAL;
	suspended.slot[GO_SLOT_RBP] = find_saved_fp_word(function);
	if (!strcmp(entry->name, "runtime.mcall"))
		rule = &go_rule_outermost;
	else if (!strcmp(entry->name, "runtime.morestack") && suspended.slot[GO_SLOT_RBP] &&
		 reader->saved.cfa_kind == CFA_GO_SAVED)
		rule = &suspended;
	return go_reader_add_row(reader, start, start + CODE_BYTES, rule);
}

/* Adds the row of an instruction of an assembler function. */
static int add_row_of_instruction(const struct go_reader *reader, const struct go_function *entry,
				  u8 flags, const struct assembler *function, u32 at)
{
	u64 start = entry->start + (u64)at * CODE_BYTES, end = start + CODE_BYTES;
	const struct arm64_frame *frame = &function->frame[at];
	struct unwind_rule rule;

	if (at >= function->noted_start && at < function->noted_end)
		return go_reader_add_row(reader, start, end, &function->noted);
	if (!function->is_reached[at])
		return flags & GO_WRITES_SP
			       ? go_reader_add_row(reader, start, end, &go_rule_elsewhere)
			       : add_rows_by_depth(reader, entry, start, end);
	if (frame->sp == DISTANCE_UNKNOWN && !arm64_frame_rule(frame, &rule))
		return add_row_on_other_stack(reader, entry, function, start);
	return add_row_of_frame(reader, entry, start, end, frame);
}

int go_function_add_rows_arm64(struct go_reader *reader, const struct go_function *entry, u8 flags)
{
	struct assembler function = {};
	int result = 0;

	if (flags & GO_IS_ASSEMBLER && read_assembler(reader, entry, &function)) {
		if (!strcmp(entry->name, "runtime.systemstack"))
			reader->saved = function.saved;
		for (u32 i = 0; i < function.count && !result; i++)
			result = add_row_of_instruction(reader, entry, flags, &function, i);
		return result;
	}
	if (flags & GO_WRITES_SP)
		return go_reader_add_row(reader, entry->start, entry->end, &go_rule_elsewhere);
	return add_rows_by_depth(reader, entry, entry->start, entry->end);
}
