/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A function leaves its stack with an instruction that moves a value to rsp. Behind a call on the
 * other stack the code loads its old rsp from where Go's runtime has noted it. The instructions in
 * between say how, so a few of them are executed with terms in place of values: loads from the
 * thread pointer on (systemstack), or the end of the goroutine's stack less a noted depth
 * (asmcgocall), or a word of the other stack. The offsets differ between versions of Go; the
 * terms have those of this program.
 *
 * The code is read in its order. An instruction that only a jump leads to stands where that jump
 * was.
 */
#include "go_switch.h"

#include <string.h>

#include "arch/numbers_x86_64.h"
#include "x86_decode.h"

#define LOADS_MAX 4
#define WAY_BACK_MAX 32 /* instructions */
#define WORD 8

/* The origin of a register's value: the word at loads[0] words behind a base, then the word at
 * loads[1] words behind that address, and so on. */
struct term {
	enum { TERM_UNKNOWN, TERM_NUMBER, TERM_OF_THREAD, TERM_OF_RSP } kind;
	u32 loads;
	s32 offset[LOADS_MAX]; /* TERM_NUMBER: [0] is the number */
	bool is_difference;
	s32 less; /* is_difference: the word at rsp + less is subtracted */
};

struct way_back {
	struct term reg[X86_REGISTERS];
	bool has_thread_changed; /* a store to the thread's own words came before */
	bool has_stack_changed;	 /* a store to the stack came before */
};

static struct term load_term(const struct way_back *way, const struct x86_instruction *code)
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

/* Executes an instruction other than a jump. True: the register of `to` gets the value of *term. */
static bool term_written_by(const struct way_back *way, const struct x86_instruction *code, u8 *to,
			    struct term *term)
{
	if (code->map != X86_MAP_ONE_BYTE || !code->is_wide)
		return false;
	*to = code->reg;
	if (code->opcode == 0x8b && code->is_memory)
		*term = load_term(way, code);
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

static void note_store(struct way_back *way, const struct x86_instruction *code)
{
	bool is_load = code->opcode == 0x8b || code->opcode == 0x2b || code->opcode == 0x3b;

	if (!code->is_memory || (code->map == X86_MAP_ONE_BYTE && is_load))
		return;
	way->has_thread_changed |= code->has_segment;
	way->has_stack_changed |= code->base == X86_RSP;
}

static bool word_slot(s32 offset, u8 *slot)
{
	if (offset < 0 || offset % WORD || offset / WORD >= SLOT_LOST)
		return false;
	*slot = offset / WORD;
	return true;
}

/* Makes a rule of what rsp gets. */
static bool term_rule(const struct term *term, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_RSP, .cfa_offset = term->offset[0], .base = RULE_BASE_CFA};
	if (term->kind == TERM_OF_THREAD && term->loads == 4 && !term->is_difference) {
		rule->cfa_kind = CFA_GO_SAVED;
		return word_slot(term->offset[1], &rule->slot[GO_SLOT_M]) &&
		       word_slot(term->offset[2], &rule->slot[GO_SLOT_GOROUTINE]) &&
		       word_slot(term->offset[3], &rule->slot[GO_SLOT_STACK]);
	}
	if (term->kind == TERM_OF_RSP && term->loads == 2 && term->is_difference) {
		rule->cfa_kind = CFA_GO_DEPTH;
		return word_slot(term->offset[1], &rule->slot[GO_SLOT_STACK]) &&
		       word_slot(term->less, &rule->slot[GO_SLOT_DEPTH]);
	}
	rule->cfa_kind = CFA_DEREF;
	memset(rule->slot, SLOT_LOST, sizeof(rule->slot));
	rule->slot[SLOT_RETURN] = 1;
	return term->kind == TERM_OF_RSP && term->loads == 1 && !term->is_difference;
}

/* Follows the code behind a call up to where rsp is set. */
static bool way_back_find(const u8 *code, u32 bytes, u32 at, struct unwind_rule *rule, u32 *back)
{
	struct way_back way = {};

	for (u32 i = 0; i < WAY_BACK_MAX; i++) {
		struct x86_instruction instruction;
		struct term term = {};
		bool is_known;
		u8 to = 0;

		if (!x86_decode(code + at, bytes - at, &instruction) ||
		    x86_flow_of(&instruction) != X86_NEXT)
			return false;
		at += instruction.length;
		is_known = term_written_by(&way, &instruction, &to, &term);
		if (is_known && to == X86_RSP) {
			*back = at;
			return term_rule(&term, rule);
		}
		if (instruction.writes >> X86_RSP & 1)
			return false;
		note_store(&way, &instruction);
		for (u32 reg = 0; reg < X86_REGISTERS; reg++)
			if (instruction.writes >> reg & 1)
				way.reg[reg] = (struct term){};
		if (is_known)
			way.reg[to] = term;
	}
	return false;
}

static s32 depth_at(const struct go_depth *depths, u32 count, u32 at)
{
	for (u32 i = 0; i < count; i++)
		if (at < depths[i].end)
			return depths[i].depth;
	return -1;
}

/* True for an instruction that sets rsp to what the function's table does not say. */
static bool leaves_stack(const struct x86_instruction *code, s32 depth, s32 next_depth)
{
	return code->writes >> X86_RSP & 1 && depth == next_depth;
}

static struct go_part *part_add(struct go_parts *parts, u32 start, u32 place)
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

/* A call on the other stack: the part up to where the code comes back. False: no way is known. */
static bool call_part(const u8 *code, u32 bytes, u32 at, u32 next, struct go_parts *parts,
		      u32 *back)
{
	struct unwind_rule rule;
	struct go_part *part;

	if (!way_back_find(code, bytes, next, &rule, back))
		return false;
	/* The runtime's notes hold since rsp was set, words of the stack since the call. */
	if (rule.cfa_kind == CFA_GO_SAVED)
		at = parts->part[parts->count - 1].start;
	part = part_add(parts, at, GO_COMES_BACK);
	if (!part)
		return false;
	part->rule = rule;
	part->back = *back;
	return true;
}

/* The facts that hold at an instruction. */
struct standing {
	u8 place; /* enum go_place */
	u8 copy;  /* the register with a copy of rsp, or X86_NO_REGISTER */
	u16 copied_at;
};

/* The facts that hold on both paths to an instruction. */
static struct standing standing_join(const struct standing *a, const struct standing *b)
{
	struct standing both = *a;

	if (a->place != b->place)
		both.place = GO_AWAY;
	if (a->copy != b->copy || a->copied_at != b->copied_at)
		both.copy = X86_NO_REGISTER;
	return both;
}

/* Adds an instruction to the last part, or begins a part with it. */
static bool instruction_add(struct go_parts *parts, u32 at, const struct standing *standing)
{
	struct go_part *part = parts->count ? &parts->part[parts->count - 1] : NULL;

	if (standing->place != GO_AWAY || standing->copy == X86_NO_REGISTER)
		return part_add(parts, at, standing->place);
	if (part && part->rule.cfa_kind == CFA_REGISTER && part->place == GO_COMES_BACK &&
	    part->back == standing->copied_at)
		return true;
	part = part_add(parts, at, GO_COMES_BACK);
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

/* The effect of an instruction that is neither a call nor a jump. */
static void standing_step(struct standing *standing, const struct x86_instruction *instruction,
			  u32 next, s32 depth, s32 next_depth)
{
	bool is_move = instruction->map == X86_MAP_ONE_BYTE && instruction->is_wide &&
		       !instruction->is_memory;

	if (leaves_stack(instruction, depth, next_depth))
		standing->place = GO_AWAY;
	if (standing->copy != X86_NO_REGISTER && instruction->writes >> standing->copy & 1)
		standing->copy = X86_NO_REGISTER;
	if (standing->place == GO_ON_STACK && is_move && instruction->opcode == 0x89 &&
	    instruction->reg == X86_RSP) {
		standing->copy = instruction->rm;
		standing->copied_at = next;
	}
}

/* Go's own functions keep the registers that their assembler callers count on; others keep those
 * that C keeps. */
static void standing_call(struct standing *standing, bool is_own)
{
	const u32 kept = 1U << X86_RBX | 1U << X86_RBP | 0xfU << X86_R12;

	if (!is_own && standing->copy != X86_NO_REGISTER && !(kept >> standing->copy & 1))
		standing->copy = X86_NO_REGISTER;
}

void go_switch_read(const u8 *code, u32 bytes, const struct go_depth *depths, u32 depth_count,
		    struct go_parts *parts)
{
	struct standing standing = {.place = GO_ON_STACK, .copy = X86_NO_REGISTER};
	struct standing jumped[GO_CODE_MAX] = {}; /* where a jump leads */
	bool is_jumped[GO_CODE_MAX] = {};
	bool is_full = false, is_reached = true;
	u32 next;

	parts->count = 0;
	if (bytes > GO_CODE_MAX)
		return;
	for (u32 at = 0; at < bytes && !is_full; at = next) {
		struct x86_instruction instruction;
		enum x86_flow flow;

		if (is_jumped[at])
			standing = is_reached ? standing_join(&standing, &jumped[at]) : jumped[at];
		if (!x86_decode(code + at, bytes - at, &instruction)) {
			standing.place = GO_UNKNOWN;
			instruction.length = bytes - at;
		}
		is_full = !instruction_add(parts, at, &standing);
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
			standing_call(&standing, standing.place == GO_ON_STACK && flow == X86_CALL);
			if (standing.place == GO_AWAY &&
			    call_part(code, bytes, at, next, parts, &next))
				standing.place = GO_ON_STACK;
		} else if (flow == X86_NEXT) {
			standing_step(&standing, &instruction, next,
				      depth_at(depths, depth_count, at),
				      depth_at(depths, depth_count, next));
		} else if (!is_reached) {
			standing.place = GO_UNKNOWN;
		}
	}
	if (is_full)
		parts->count = 0;
}

bool go_code_keeps_rbp(const u8 *code, u32 bytes)
{
	struct x86_instruction instruction;

	for (u32 at = 0; at < bytes; at += instruction.length)
		if (!x86_decode(code + at, bytes - at, &instruction) ||
		    instruction.writes >> X86_RBP & 1)
			return false;
	return true;
}

u32 go_saved_rbp(const u8 *code, u32 bytes)
{
	struct x86_instruction instruction;
	u8 slot = 0;

	for (u32 at = 0; at < bytes && !slot; at += instruction.length) {
		if (!x86_decode(code + at, bytes - at, &instruction))
			return 0;
		if (instruction.map == X86_MAP_ONE_BYTE && instruction.opcode == 0x89 &&
		    instruction.is_wide && instruction.is_memory && instruction.reg == X86_RBP &&
		    instruction.base != X86_RSP && instruction.base < X86_REGISTERS &&
		    !word_slot(instruction.displacement, &slot))
			return 0;
	}
	return slot;
}
