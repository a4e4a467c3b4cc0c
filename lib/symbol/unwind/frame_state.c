/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* States of a frame: the state at entry, the common part of two states, and the rule of a state. */
#include "frame_state.h"
#include "rule.h"
#include "x86_decode.h"

#include <stdbool.h>
#include <string.h>

static const struct frame_value unknown;

void frame_state_at_entry(struct frame_state *state, u32 owner)
{
	*state = (struct frame_state){.owner = owner};
	state->reg[X86_RSP] = (struct frame_value){.kind = VALUE_CFA, .offset = -FRAME_WORD};
	for (u32 i = 0; i < FRAME_SAVED_REGISTERS; i++)
		state->reg[frame_saved_register[i]] = (struct frame_value){
			.kind = VALUE_ENTRY, .offset = frame_saved_register[i]};
}

void frame_state_set_registers_unknown(struct frame_state *state, u32 lost)
{
	for (u32 i = 0; i < FRAME_SAVED_REGISTERS; i++)
		if (lost >> i & 1)
			state->reg[frame_saved_register[i]] = unknown;
}

/* True if a register, or a copy in memory, gives the CFA with the same offset in both states. */
static bool has_common_cfa(const struct frame_state *a, const struct frame_state *b)
{
	for (u32 reg = 0; reg < X86_REGISTERS; reg++)
		if (a->reg[reg].kind == VALUE_CFA && frame_value_is_same(a->reg[reg], b->reg[reg]))
			return true;
	return a->copy.kind && frame_value_is_same(a->copy, b->copy) &&
	       a->copy_offset == b->copy_offset;
}

bool frame_state_keep_common_values(struct frame_state *state, const struct frame_state *other)
{
	if ((state->flags ^ other->flags) & FRAME_OUTERMOST)
		return false;
	if (!(state->flags & FRAME_OUTERMOST) &&
	    !frame_value_is_same(state->reg[X86_RSP], other->reg[X86_RSP]) &&
	    !has_common_cfa(state, other) && state->reg[X86_RSP].kind && other->reg[X86_RSP].kind)
		return false;
	for (u32 reg = 0; reg < X86_REGISTERS; reg++)
		if (!frame_value_is_same(state->reg[reg], other->reg[reg]))
			state->reg[reg] = unknown;
	for (u32 i = 0; i < FRAME_SAVED_REGISTERS; i++)
		if (!frame_value_is_same(state->slot[i], other->slot[i]))
			state->slot[i] = unknown;
	if (!frame_value_is_same(state->copy, other->copy) ||
	    state->copy_offset != other->copy_offset) {
		state->copy = unknown;
		state->copy_offset = 0;
	}
	state->flags |= other->flags;
	return true;
}

static bool is_scratch_register(u32 reg)
{
	return reg == X86_RAX || reg == X86_RCX || reg == X86_RDX || reg == X86_RSI ||
	       reg == X86_RDI || (reg >= X86_R8 && reg <= X86_R11);
}

/* Scratch registers have to agree only if they give the CFA. */
bool frame_states_are_compatible(const struct frame_state *there, const struct frame_state *path)
{
	struct frame_state both = *there;

	if (!frame_state_keep_common_values(&both, path))
		return false;
	for (u32 reg = 0; reg < X86_REGISTERS; reg++)
		if ((!is_scratch_register(reg) || frame_value_is_stack(there->reg[reg])) &&
		    !frame_value_is_same(both.reg[reg], there->reg[reg]))
			return false;
	return !memcmp(both.slot, there->slot, sizeof(both.slot)) &&
	       frame_value_is_same(both.copy, there->copy) &&
	       both.copy_offset == there->copy_offset && both.flags == there->flags;
}

bool is_rsp_at_return_address(const struct frame_state *state)
{
	struct frame_value rsp = state->reg[X86_RSP];

	return rsp.kind == VALUE_CFA && rsp.offset == -FRAME_WORD;
}

u32 frame_state_changed_registers(const struct frame_state *state)
{
	u32 changed = 0;

	for (u32 i = 0; i < FRAME_SAVED_REGISTERS; i++) {
		struct frame_value value = state->reg[frame_saved_register[i]];

		if (value.kind != VALUE_ENTRY || value.offset != frame_saved_register[i])
			changed |= 1U << i;
	}
	return changed;
}

/* Sets how a rule computes the CFA: from a register, or from a copy of the CFA on the stack. False:
 * the state has neither. */
static bool set_cfa_rule(const struct frame_state *state, struct unwind_rule *rule)
{
	static const u8 order[X86_REGISTERS] = {
		X86_RSP, X86_RBP, X86_RBX, X86_R12, X86_R13, X86_R14, X86_R15, X86_RAX,
		X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_R8,  X86_R9,  X86_R10, X86_R11};

	for (u32 i = 0; i < X86_REGISTERS; i++) {
		if (state->reg[order[i]].kind != VALUE_CFA)
			continue;
		rule->cfa_register = x86_dwarf_register(order[i]);
		rule->cfa_offset = -state->reg[order[i]].offset;
		return true;
	}
	if (!state->copy.kind || state->copy_offset > 0 || state->copy_offset % FRAME_WORD ||
	    -state->copy_offset / FRAME_WORD > 0xff)
		return false;
	for (u32 i = 0; i < X86_REGISTERS; i++) {
		if (!frame_value_is_comparable(state->reg[order[i]], state->copy))
			continue;
		rule->cfa_kind = CFA_DEREF;
		rule->cfa_register = x86_dwarf_register(order[i]);
		rule->cfa_offset = state->copy.offset - state->reg[order[i]].offset;
		rule->operand = -state->copy_offset / FRAME_WORD;
		return true;
	}
	return false;
}

/* The base that the rule's slots count from: the CFA, or the frame pointer in a realigned frame. */
static struct frame_value base_of_rule_slots(const struct frame_state *state,
					     struct unwind_rule *rule)
{
	struct frame_value rbp = state->reg[X86_RBP];

	if (rule->cfa_kind == CFA_DEREF && rbp.kind == VALUE_ALIGNED) {
		rule->base = REGISTER_RBP;
		rbp.offset += FRAME_WORD;
		return rbp;
	}
	return (struct frame_value){.kind = VALUE_CFA};
}

static u8 saved_register_slot(const struct frame_state *state, u32 i, struct frame_value base)
{
	struct frame_value slot = state->slot[i];
	s32 words = (base.offset - slot.offset) / FRAME_WORD;

	if (frame_value_is_comparable(slot, base) &&
	    (base.offset - slot.offset) % FRAME_WORD == 0 && words > 0 && words <= SLOT_WORDS_MAX)
		return words;
	for (u32 j = 0; j < X86_REGISTERS; j++) {
		u32 reg = (frame_saved_register[i] + j) % X86_REGISTERS;

		if (state->reg[reg].kind == VALUE_ENTRY &&
		    state->reg[reg].offset == frame_saved_register[i])
			return j ? SLOT_IN_REGISTER + x86_dwarf_register(reg) : 0;
	}
	return SLOT_LOST;
}

bool frame_state_rule(const struct frame_state *state, struct unwind_rule *rule)
{
	struct frame_value base;

	*rule = (struct unwind_rule){.base = RULE_BASE_CFA};
	if (state->flags & FRAME_OUTERMOST) {
		rule->flags = RULE_OUTERMOST;
		return true;
	}
	if (state->flags & FRAME_RETURN_LOST || !set_cfa_rule(state, rule))
		return false;
	base = base_of_rule_slots(state, rule);
	for (u32 i = 0; i < FRAME_SAVED_REGISTERS; i++)
		rule->slot[i] = saved_register_slot(state, i, base);
	rule->slot[SLOT_RETURN] = 1;
	return true;
}
