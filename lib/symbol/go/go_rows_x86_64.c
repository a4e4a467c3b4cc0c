/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of Go's functions for x86-64. The depth of the table is how far rsp is below the return
 * address.
 *
 * Go keeps no registers for its callers but rbp. A compiled function with a frame saves rbp at
 * CFA - 16, right after the instruction that makes the frame, and restores it right before the one
 * that undoes the frame.
 *
 * Functions that write rsp (SPWRITE) change the stack (read_stack_switches()). Until they leave
 * their stack, the depth counts. On the other stack their rule is the first of these that is known:
 *
 *   - mcall() never returns to its caller: the stack of the scheduler begins with mcall(), as in
 *     Go's own traces.
 *   - morestack() leads to the goroutine whose stack is too small, by the rsp that the goroutine
 *     has saved: CFA_GO_SAVED (core/unwind/go_stack.h), with the offsets that systemstack() has.
 *   - the depth, or the word of the stack, from which the code restores rsp: CFA_GO_DEPTH or
 *     CFA_DEREF
 *   - rbp, if the function has set it before: it leads to the frame on the stack that was left
 *   - the goroutine's saved rsp: CFA_GO_SAVED
 *   - otherwise go_rule_caller_unknown: the walk ends
 */
#include "go_rows.h"

#include <string.h>

#include "arch/numbers_x86_64.h"
#include "symbol/unwind/x86_decode.h"

#define WORD 8

/* Bytes from the begin of a prologue to where rbp is stored, and to where rbp is set, at most; and
 * bytes of an epilogue from where rbp is restored, at most. */
#define STORE_BYTES_MAX 8
#define SET_BYTES_MAX 16
#define UNDO_BYTES_MAX 7
#define PROLOGUE_MAX 64

#define RUNS_MAX 64 /* the most runs of depths in a function that writes rsp */

/*
 * --- Assembler functions of Go's runtime that leave their stack for another one and come back:
 * where each instruction stands, and how the code comes back. ---
 *
 * A function leaves its stack with an instruction that moves a value to rsp. After a call on the
 * other stack the code loads its old rsp from where Go's runtime has noted it. The instructions in
 * between say how, so a few of them are executed with terms in place of values: loads from the
 * thread pointer on (systemstack), or the end of the goroutine's stack less a noted depth
 * (asmcgocall), or a word of the other stack. The offsets differ between versions of Go; the
 * terms have those of this program.
 *
 * The code is read in its order. An instruction that only a jump leads to stands where that jump
 * was.
 */

#define GO_PARTS_MAX 16

enum go_place {
	GO_ON_STACK,   /* rsp has the depth that the function's table tells */
	GO_AWAY,       /* rsp points to another stack */
	GO_UNKNOWN,    /* the instruction is on no known path */
	GO_COMES_BACK, /* rsp points to another stack; `rule` of the part gives the rsp that the
			  code has at offset `back` of the function */
};

/* The instructions of a function from offset `start` up to the next part, all with the same
 * go_place. */
struct go_part {
	u32 start;
	u32 place; /* enum go_place */
	u32 back;
	struct unwind_rule rule; /* rule of the part; its kind is CFA_GO_SAVED, CFA_GO_DEPTH or
				    CFA_DEREF, each with operand 0, or CFA_REGISTER with offset 0 */
};

struct go_parts {
	u32 count; /* number of parts; 0: the code is not understood */
	struct go_part part[GO_PARTS_MAX];
};

/* A function of the table, and what all its rows have in common. */
struct function {
	u64 start, end;
	const char *name;
	u8 flags;
	u8 bare_slot;	/* slot of rbp in the rule, before rbp is stored */
	u8 framed_slot; /* slot of rbp in the rule, once rbp is stored */
	u8 rule_flags;
	bool has_frame_pointer;
	u8 code[GO_CODE_MAX];
	u32 code_bytes; /* number of bytes in `code` */
	u32 run_count;
	struct go_run runs[RUNS_MAX]; /* the runs of the stack depth */
	u64 stored_at;		      /* from this address on rbp is stored; 0: not known yet */
};

/* The depth at an address: how many bytes the stack pointer is below the return address. `none` is
 * returned if the table does not tell. */
static s32 stack_depth_at_address(const struct function *function, u64 address, s32 none)
{
	for (u32 i = 0; i < function->run_count; i++)
		if (address < function->runs[i].end)
			return function->runs[i].value;
	return none;
}

#define LOADS_MAX 4
/* The most instructions that are followed from a call to where rsp is set. */
#define WAY_BACK_MAX 32

/* A term for a register's value: the word at offset[0] from a base, then the word at offset[1] from
 * the address that was read, and so on. */
struct term {
	enum { TERM_UNKNOWN, TERM_NUMBER, TERM_OF_THREAD, TERM_OF_RSP } kind;
	u32 loads;
	s32 offset[LOADS_MAX]; /* offsets of the loads; TERM_NUMBER: offset[0] is the number */
	bool is_difference;
	s32 less; /* is_difference: the word at rsp + less is subtracted from the value */
};

struct way_back {
	struct term reg[X86_REGISTERS];
	bool has_thread_changed; /* the code has stored to the thread's own words before */
	bool has_stack_changed;	 /* the code has stored to the stack before */
};

static struct term term_of_memory_operand(const struct way_back *way,
					  const struct x86_instruction *code)
{
	struct term term = {}, base = {};

	if (code->index != X86_NO_REGISTER)
		return term;
	if (code->has_segment) {
		if (code->base < X86_REGISTERS)
			base = way->reg[code->base];
		if (way->has_thread_changed ||
		    (code->base != X86_NO_REGISTER && base.kind != TERM_NUMBER))
			return term;
		return (struct term){.kind = TERM_OF_THREAD,
				     .loads = 1,
				     .offset = {base.offset[0] + code->displacement}};
	}
	if (code->base == X86_RSP)
		return way->has_stack_changed ? term
					      : (struct term){.kind = TERM_OF_RSP,
							      .loads = 1,
							      .offset = {code->displacement}};
	if (code->base >= X86_REGISTERS)
		return term;
	base = way->reg[code->base];
	if (!base.loads || base.loads == LOADS_MAX || base.is_difference)
		return term;
	base.offset[base.loads++] = code->displacement;
	return base;
}

/* Executes an instruction other than a jump, on terms. True: register *to gets the value *term. */
static bool run_instruction_on_terms(const struct way_back *way, const struct x86_instruction *code,
				     u8 *to, struct term *term)
{
	if (code->map != X86_MAP_ONE_BYTE || !code->is_wide)
		return false;
	*to = code->reg;
	if (code->opcode == 0x8b && code->is_memory)
		*term = term_of_memory_operand(way, code);
	else if (code->opcode == 0x8b)
		*term = way->reg[code->rm];
	else if (code->opcode == 0x89 && !code->is_memory)
		*to = code->rm, *term = way->reg[code->reg];
	else if (code->opcode == 0xc7 && !code->is_memory)
		*to = code->rm,
		*term = (struct term){.kind = TERM_NUMBER, .offset = {(s32)code->immediate}};
	else if (code->opcode == 0x2b && code->is_memory && code->base == X86_RSP &&
		 way->reg[code->reg].kind == TERM_OF_RSP && !way->has_stack_changed &&
		 code->index == X86_NO_REGISTER) {
		*term = way->reg[code->reg];
		term->is_difference = true;
		term->less = code->displacement;
	} else {
		return false;
	}
	return true;
}

static bool convert_offset_to_slot(s32 offset, u8 *slot)
{
	if (offset < 0 || offset % WORD || offset / WORD >= SLOT_LOST)
		return false;
	*slot = offset / WORD;
	return true;
}

/* Converts the term that rsp gets to an unwind rule. False: no rule can express it. */
static bool convert_term_to_rule(const struct term *term, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_RSP, .cfa_offset = term->offset[0], .base = RULE_BASE_CFA};
	rule->slot[SLOT_RETURN] = 1;
	if (term->kind == TERM_OF_THREAD && term->loads == 4 && !term->is_difference) {
		rule->cfa_kind = CFA_GO_SAVED;
		return convert_offset_to_slot(term->offset[1], &rule->slot[GO_SLOT_M]) &&
		       convert_offset_to_slot(term->offset[2], &rule->slot[GO_SLOT_GOROUTINE]) &&
		       convert_offset_to_slot(term->offset[3], &rule->slot[GO_SLOT_STACK]);
	}
	if (term->kind == TERM_OF_RSP && term->loads == 2 && term->is_difference) {
		rule->cfa_kind = CFA_GO_DEPTH;
		return convert_offset_to_slot(term->offset[1], &rule->slot[GO_SLOT_STACK]) &&
		       convert_offset_to_slot(term->less, &rule->slot[GO_SLOT_DEPTH]);
	}
	rule->cfa_kind = CFA_DEREF;
	memset(rule->slot, SLOT_LOST, sizeof(rule->slot));
	rule->slot[SLOT_RETURN] = 1;
	return term->kind == TERM_OF_RSP && term->loads == 1 && !term->is_difference;
}

/* Follows the code after a call up to the instruction that sets rsp, whose term becomes *rule. */
static bool find_stack_restore(const u8 *code, u32 bytes, u32 at, struct unwind_rule *rule,
			       u32 *back)
{
	struct way_back way = {};

	for (u32 i = 0; i < WAY_BACK_MAX; i++) {
		struct x86_instruction instruction;
		struct term term = {};
		bool is_known, is_store;
		u8 to = 0;

		if (!x86_decode(code + at, bytes - at, &instruction) ||
		    x86_flow_of(&instruction) != X86_NEXT)
			return false;
		at += instruction.length;
		is_known = run_instruction_on_terms(&way, &instruction, &to, &term);
		if (is_known && to == X86_RSP) {
			*back = at;
			return convert_term_to_rule(&term, rule);
		}
		if (instruction.writes >> X86_RSP & 1)
			return false;
		is_store = instruction.is_memory &&
			   (instruction.map != X86_MAP_ONE_BYTE ||
			    (instruction.opcode != 0x8b && instruction.opcode != 0x2b &&
			     instruction.opcode != 0x3b));
		way.has_thread_changed |= is_store && instruction.has_segment;
		way.has_stack_changed |= is_store && instruction.base == X86_RSP;
		for (u32 reg = 0; reg < X86_REGISTERS; reg++)
			if (instruction.writes >> reg & 1)
				way.reg[reg] = (struct term){};
		if (is_known)
			way.reg[to] = term;
	}
	return false;
}

static struct go_part *add_go_part(struct go_parts *parts, u32 start, u32 place)
{
	struct go_part *last = parts->count ? &parts->part[parts->count - 1] : NULL;

	if (last && last->start == start)
		parts->count--;
	else if (last && last->place == place && place != GO_COMES_BACK)
		return last;
	if (parts->count == GO_PARTS_MAX)
		return NULL;
	last = &parts->part[parts->count++];
	*last = (struct go_part){.start = start, .place = place};
	return last;
}

/* Adds the part of a call on the other stack, up to where the code returns to its own stack. False:
 * no rule that leads back is known. */
static bool add_call_on_other_stack(const u8 *code, u32 bytes, u32 at, u32 next,
				    struct go_parts *parts, u32 *back)
{
	struct unwind_rule rule;
	struct go_part *part;

	if (!find_stack_restore(code, bytes, next, &rule, back))
		return false;
	/* The words in which the runtime has noted the old stack are valid since rsp was set; words
	 * of the other stack are valid since the call. */
	if (rule.cfa_kind == CFA_GO_SAVED)
		at = parts->part[parts->count - 1].start;
	part = add_go_part(parts, at, GO_COMES_BACK);
	if (!part)
		return false;
	part->rule = rule;
	part->back = *back;
	return true;
}

/* The facts that hold at an instruction: where rsp is, and which register has a copy of the old
 * rsp. */
struct standing {
	u8 place; /* enum go_place */
	u8 copy;  /* the register with a copy of rsp, or X86_NO_REGISTER */
	u16 copied_at;
};

/* Returns the facts that hold on both of two paths to an instruction. */
static struct standing keep_common_part_of_standings(const struct standing *a,
						     const struct standing *b)
{
	struct standing both = *a;

	if (a->place != b->place)
		both.place = GO_AWAY;
	if (a->copy != b->copy || a->copied_at != b->copied_at)
		both.copy = X86_NO_REGISTER;
	return both;
}

/* Adds an instruction to the last part, or begins a part with it. */
static bool add_instruction_to_parts(struct go_parts *parts, u32 at,
				     const struct standing *standing)
{
	struct go_part *part = parts->count ? &parts->part[parts->count - 1] : NULL;

	if (standing->place != GO_AWAY || standing->copy == X86_NO_REGISTER)
		return add_go_part(parts, at, standing->place);
	if (part && part->rule.cfa_kind == CFA_REGISTER && part->place == GO_COMES_BACK &&
	    part->back == standing->copied_at)
		return true;
	part = add_go_part(parts, at, GO_COMES_BACK);
	if (!part)
		return false;
	part->back = standing->copied_at;
	part->rule = (struct unwind_rule){.cfa_register = x86_dwarf_register(standing->copy),
					  .base = RULE_BASE_CFA,
					  .flags = RULE_SWITCHED};
	memset(part->rule.slot, SLOT_LOST, sizeof(part->rule.slot));
	part->rule.slot[SLOT_RETURN] = 1;
	return true;
}

/* Changes *standing by the effect of an instruction that is neither a call nor a jump. */
static void apply_instruction_to_standing(struct standing *standing,
					  const struct x86_instruction *instruction, u32 next,
					  s32 depth, s32 next_depth)
{
	bool is_move = instruction->map == X86_MAP_ONE_BYTE && instruction->is_wide &&
		       !instruction->is_memory;

	/* the instruction sets rsp, and the function's table tells no change of depth */
	if (instruction->writes >> X86_RSP & 1 && depth == next_depth)
		standing->place = GO_AWAY;
	if (standing->copy != X86_NO_REGISTER && instruction->writes >> standing->copy & 1)
		standing->copy = X86_NO_REGISTER;
	if (standing->place == GO_ON_STACK && is_move && instruction->opcode == 0x89 &&
	    instruction->reg == X86_RSP) {
		standing->copy = instruction->rm;
		standing->copied_at = next;
	}
}

/* Reads the parts of a function by its bytes, which are all in function->code, and by the depths of
 * its table. */
static void read_stack_switches(const struct function *function, struct go_parts *parts)
{
	/* Go's own functions preserve the registers that their callers in assembler rely on; other
	 * functions preserve the callee-saved registers of C. */
	const u32 kept = 1U << X86_RBX | 1U << X86_RBP | 0xfU << X86_R12;
	const u8 *code = function->code;
	u32 bytes = function->code_bytes, next;
	struct standing standing = {.place = GO_ON_STACK, .copy = X86_NO_REGISTER};
	struct standing jumped[GO_CODE_MAX] = {}; /* by target of a jump: the facts at the jump */
	bool is_jumped[GO_CODE_MAX] = {};
	bool is_full = false, is_reached = true;

	for (u32 at = 0; at < bytes && !is_full; at = next) {
		struct x86_instruction instruction;
		enum x86_flow flow;

		if (is_jumped[at])
			standing = is_reached
					   ? keep_common_part_of_standings(&standing, &jumped[at])
					   : jumped[at];
		if (!x86_decode(code + at, bytes - at, &instruction)) {
			standing.place = GO_UNKNOWN;
			instruction.length = bytes - at;
		}
		is_full = !add_instruction_to_parts(parts, at, &standing);
		next = at + instruction.length;
		if (next >= bytes || is_full)
			break;
		flow = x86_flow_of(&instruction);
		if (flow == X86_JUMP || flow == X86_BRANCH) {
			u64 target = (s64)next + instruction.immediate;

			if (target > at && target < bytes && !is_jumped[target]) {
				jumped[target] = standing;
				is_jumped[target] = true;
			}
		}
		is_reached = flow == X86_NEXT || flow == X86_BRANCH || flow == X86_CALL ||
			     flow == X86_CALL_INDIRECT || flow == X86_SYSCALL;
		if (flow == X86_CALL || flow == X86_CALL_INDIRECT) {
			bool is_own = standing.place == GO_ON_STACK && flow == X86_CALL;

			if (!is_own && standing.copy != X86_NO_REGISTER &&
			    !(kept >> standing.copy & 1))
				standing.copy = X86_NO_REGISTER;
			if (standing.place == GO_AWAY &&
			    add_call_on_other_stack(code, bytes, at, next, parts, &next))
				standing.place = GO_ON_STACK;
		} else if (flow == X86_NEXT) {
			apply_instruction_to_standing(
				&standing, &instruction, next,
				stack_depth_at_address(function, function->start + at, -1),
				stack_depth_at_address(function, function->start + next, -1));
		} else if (!is_reached) {
			standing.place = GO_UNKNOWN;
		}
	}
	if (is_full)
		parts->count = 0;
}

/* True if no instruction of the code changes rbp. */
static bool has_unchanged_rbp(const u8 *code, u32 bytes)
{
	struct x86_instruction instruction;

	for (u32 at = 0; at < bytes; at += instruction.length)
		if (!x86_decode(code + at, bytes - at, &instruction) ||
		    instruction.writes >> X86_RBP & 1)
			return false;
	return true;
}

/* Returns the index of the word of a goroutine (g) in which the code stores rbp; 0: the code does
 * not store rbp in a goroutine. */
static u32 find_saved_rbp_word(const u8 *code, u32 bytes)
{
	struct x86_instruction instruction;
	u8 slot = 0;

	for (u32 at = 0; at < bytes && !slot; at += instruction.length) {
		if (!x86_decode(code + at, bytes - at, &instruction))
			return 0;
		if (instruction.map == X86_MAP_ONE_BYTE && instruction.opcode == 0x89 &&
		    instruction.is_wide && instruction.is_memory && instruction.reg == X86_RBP &&
		    instruction.base != X86_RSP && instruction.base < X86_REGISTERS &&
		    !convert_offset_to_slot(instruction.displacement, &slot))
			return 0;
	}
	return slot;
}

/* --- The rows. --- */

static struct unwind_rule make_rule_of_stack_depth(s32 depth, u8 rbp_slot)
{
	return (struct unwind_rule){
		.cfa_register = REGISTER_RSP,
		.cfa_offset = depth + WORD,
		.base = RULE_BASE_CFA,
		.slot = {SLOT_LOST, rbp_slot, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, 1},
	};
}

/* True if the instruction push %rbp has made the frame (since Go 1.21), so that the prologue stores
 * rbp nowhere else. */
static bool is_rbp_pushed(const struct go_reader *reader, u64 start)
{
	u8 before = 0;

	return go_reader_read_bytes(reader, start - 1, &before, 1) && before == 0x55;
}

/* Adds rows for [start, end) of a run in which the function has a frame. */
static int add_run_rows(const struct go_reader *reader, struct function *function,
			const struct go_run *run, u64 start, u64 end)
{
	struct unwind_rule rule = make_rule_of_stack_depth(run->value, function->bare_slot);
	u64 stored;
	int result;

	rule.flags = function->rule_flags;
	if (!function->stored_at)
		function->stored_at =
			run->start + (is_rbp_pushed(reader, run->start) ? 0 : STORE_BYTES_MAX);
	stored = function->stored_at < start ? start
		 : function->stored_at < end ? function->stored_at
					     : end;
	result = go_reader_add_row(reader, start, stored, &rule);
	rule.slot[SLOT_RBP] = function->framed_slot;
	return result ?: go_reader_add_row(reader, stored, end, &rule);
}

/* Adds rows for [start, end) of a function, by the function's depths. */
static int add_rows_by_depth(const struct go_reader *reader, struct function *function, u64 start,
			     u64 end)
{
	int result = 0;

	for (u32 i = 0; i < function->run_count && !result; i++) {
		const struct go_run *run = &function->runs[i];
		u64 from = run->start < start ? start : run->start;
		u64 to = run->end < end ? run->end : end;
		struct unwind_rule rule = make_rule_of_stack_depth(0, function->bare_slot);

		rule.flags = function->rule_flags;
		if (from >= to)
			continue;
		result = run->value ? add_run_rows(reader, function, run, from, to)
				    : go_reader_add_row(reader, from, to, &rule);
	}
	return result;
}

/* The function runs on another stack. rbp still points into the function's frame on the first
 * stack, to the word that holds the caller's rbp; the return address is the next word. */
static const struct unwind_rule by_frame_pointer = {
	.cfa_register = REGISTER_RBP,
	.cfa_offset = 2 * WORD,
	.base = RULE_BASE_CFA,
	.flags = RULE_SWITCHED,
	.slot = {SLOT_LOST, 2, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, 1},
};

/* Adds rows for a function that goes to another stack, and has set rbp to its frame before. */
static int add_rows_by_frame_pointer(const struct go_reader *reader,
				     const struct function *function)
{
	u64 set = 0;
	int result = 0;

	for (u32 i = 0; i < function->run_count && !result; i++) {
		const struct go_run *run = &function->runs[i];

		if (!run->value)
			continue;
		if (!set)
			set = run->start + (is_rbp_pushed(reader, run->start)
						    ? SET_BYTES_MAX - STORE_BYTES_MAX
						    : SET_BYTES_MAX);
		if (run->end - run->start > UNDO_BYTES_MAX)
			result = go_reader_add_row(reader, set < run->start ? run->start : set,
						   run->end - UNDO_BYTES_MAX, &by_frame_pointer);
	}
	return result;
}

/* True if the first bytes of a function store rbp in its frame and set rbp to that place: mov
 * %rbp,N(%rsp) and lea N(%rsp),%rbp, or push %rbp and mov %rsp,%rbp. */
static bool sets_frame_pointer(const struct function *function)
{
	const u8 *code = function->code;
	u32 count = function->code_bytes < PROLOGUE_MAX ? function->code_bytes : PROLOGUE_MAX;

	for (u32 i = 0; i + 10 <= count; i++)
		if ((!memcmp(code + i, "\x48\x89\x6c\x24", 4) &&
		     !memcmp(code + i + 5, "\x48\x8d\x6c\x24", 4) && code[i + 4] == code[i + 9]) ||
		    !memcmp(code + i, "\x55\x48\x89\xe5", 4))
			return true;
	return false;
}

static bool is_name_of_function(const struct function *function, const char *name)
{
	return !strcmp(function->name, name);
}

/* Adds rows for code that runs on another stack. */
static int add_rows_on_other_stack(struct go_reader *reader, const struct function *function,
				   const struct go_part *part, u64 start, u64 end)
{
	struct unwind_rule rule = part->rule;
	s32 depth = stack_depth_at_address(function, function->start + part->back, 0);

	if (is_name_of_function(function, "runtime.mcall"))
		return go_reader_add_row(reader, start, end, &go_rule_outermost);
	if (is_name_of_function(function, "runtime.morestack") &&
	    reader->rule_of_systemstack.cfa_kind == CFA_GO_SAVED) {
		rule = reader->rule_of_systemstack;
		rule.slot[GO_SLOT_RBP] = find_saved_rbp_word(function->code, function->code_bytes);
		return go_reader_add_row(reader, start, end,
					 rule.slot[GO_SLOT_RBP] ? &rule : &go_rule_caller_unknown);
	}
	if (part->place == GO_AWAY && function->has_frame_pointer)
		return go_reader_add_row(reader, start, end, &by_frame_pointer);
	if (part->place != GO_COMES_BACK || depth % WORD)
		return go_reader_add_row(reader, start, end, &go_rule_caller_unknown);
	if (is_name_of_function(function, "runtime.systemstack") && rule.cfa_kind == CFA_GO_SAVED)
		reader->rule_of_systemstack = rule;
	if (rule.cfa_kind == CFA_GO_SAVED && function->has_frame_pointer)
		return go_reader_add_row(reader, start, end, &by_frame_pointer);
	if (rule.cfa_kind == CFA_REGISTER)
		rule.cfa_offset = depth + WORD;
	else
		rule.operand = depth / WORD + 1;
	rule.slot[SLOT_RBP] = depth ? function->framed_slot : function->bare_slot;
	return go_reader_add_row(reader, start, end, &rule);
}

/* Adds rows for a function that writes rsp. */
static int add_rows_of_switching_function(struct go_reader *reader, struct function *function)
{
	struct go_parts parts = {};
	bool comes_back = false;
	int result = 0;

	if (function->code_bytes == function->end - function->start)
		read_stack_switches(function, &parts);
	for (u32 i = 0; i < parts.count; i++)
		comes_back |= parts.part[i].place == GO_COMES_BACK &&
			      parts.part[i].rule.cfa_kind != CFA_REGISTER;
	if (!comes_back && function->has_frame_pointer &&
	    !is_name_of_function(function, "runtime.mcall"))
		return add_rows_by_frame_pointer(reader, function);
	if (!parts.count)
		return go_reader_add_row(reader, function->start, function->end,
					 &go_rule_caller_unknown);
	for (u32 i = 0; i < parts.count && !result; i++) {
		u64 start = function->start + parts.part[i].start;
		u64 end = i + 1 < parts.count ? function->start + parts.part[i + 1].start
					      : function->end;

		result = parts.part[i].place == GO_ON_STACK
				 ? add_rows_by_depth(reader, function, start, end)
				 : add_rows_on_other_stack(reader, function, &parts.part[i], start,
							   end);
	}
	return result;
}

/* Reads the code of a function, and what flags and name say about its rows. */
static void read_function_code(const struct go_reader *reader, const struct go_function *entry,
			       struct function *function)
{
	u64 bytes = function->end - function->start;

	function->code_bytes = go_reader_read_code(reader, entry, function->code);
	function->has_frame_pointer = sets_frame_pointer(function);
	function->framed_slot = 2;
	if (function->flags & GO_IS_ASSEMBLER && !function->has_frame_pointer)
		function->bare_slot = function->framed_slot =
			function->code_bytes == bytes &&
					has_unchanged_rbp(function->code, function->code_bytes)
				? 0
				: SLOT_LOST;
	if (go_function_is_entered_by_signal(entry))
		function->rule_flags = RULE_SIGNAL;
	if (go_function_frame_pointer_rule(entry) == GO_FP_LOST)
		function->bare_slot = function->framed_slot = SLOT_LOST;
	else if (go_function_frame_pointer_rule(entry) == GO_FP_PASSED_ON)
		function->bare_slot = function->framed_slot = 0;
}

int go_function_add_rows_x86_64(struct go_reader *reader, const struct go_function *entry, u8 flags)
{
	struct function function = {
		.start = entry->start, .end = entry->end, .name = entry->name, .flags = flags};
	bool is_switching = flags & GO_WRITES_SP;
	struct go_run run;
	int result = 0;
	u64 at;

	read_function_code(reader, entry, &function);
	/* The code to which a signal handler returns (rt_sigreturn) has no caller; core/unwind
	 * knows this code by its bytes. */
	if ((function.code_bytes >= 9 &&
	     !memcmp(function.code, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9)) ||
	    (function.code_bytes >= 7 && !memcmp(function.code, "\xb8\x0f\0\0\0\x0f\x05", 7)))
		return 0;
	at = go_find_runs_of_quantity(&reader->table, entry, GO_DEPTH, &run);
	while (!result && at && function.run_count < RUNS_MAX &&
	       go_read_next_run(&reader->table, entry, &at, &run) && run.value >= 0 &&
	       run.value < GO_DEPTH_MAX) {
		if (!is_switching)
			function.run_count = 0;
		function.runs[function.run_count++] = run;
		if (!is_switching)
			result = add_rows_by_depth(reader, &function, entry->start, entry->end);
	}
	return is_switching ? add_rows_of_switching_function(reader, &function) : result;
}
