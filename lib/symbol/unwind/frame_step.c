/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The effects of instructions on a frame. */
#include "frame_state.h"

static const struct frame_value unknown;

/* --- Words of the stack. --- */

/* Sets *place to the address of a memory operand on the stack. False: the operand is not on the
 * stack, or its address is not known. */
static bool stack_address_of_operand(const struct frame_state *state,
				     const struct x86_instruction *instruction,
				     struct frame_value *place)
{
	if (!instruction->is_memory || instruction->has_segment ||
	    instruction->base >= X86_REGISTERS || instruction->index != X86_NO_REGISTER)
		return false;
	*place = frame_value_moved(state->reg[instruction->base], instruction->displacement);
	return frame_value_is_stack(*place);
}

static bool word_overlaps_store(struct frame_value word, struct frame_value place, u32 bytes)
{
	return frame_value_is_comparable(word, place) && word.offset < place.offset + (s32)bytes &&
	       place.offset < word.offset + FRAME_WORD;
}

/* Stores a value of `bytes` bytes on the stack. After a store to a part of a word, the value of the
 * word is not known. */
static void store_to_stack(struct frame_state *state, struct frame_value place,
			   struct frame_value value, u32 bytes)
{
	static const struct frame_value return_address = {.kind = VALUE_CFA, .offset = -FRAME_WORD};

	for (u32 i = 0; i < FRAME_SAVED_REGISTERS; i++) {
		bool is_mine = bytes == FRAME_WORD && value.kind == VALUE_ENTRY &&
			       value.offset == frame_saved_register[i];

		if (word_overlaps_store(state->slot[i], place, bytes) && !is_mine)
			state->slot[i] = unknown;
		if (is_mine && !state->slot[i].kind && place.offset % FRAME_WORD == 0)
			state->slot[i] = place;
	}
	if (word_overlaps_store(return_address, place, bytes))
		state->flags |= FRAME_RETURN_LOST;
	if (word_overlaps_store(state->copy, place, bytes))
		state->copy = unknown;
	if (bytes == FRAME_WORD && place.kind == VALUE_ALIGNED && value.kind == VALUE_CFA &&
	    !state->copy.kind) {
		state->copy = place;
		state->copy_offset = value.offset;
	}
}

static struct frame_value load_from_stack(const struct frame_state *state, struct frame_value place)
{
	for (u32 i = 0; i < FRAME_SAVED_REGISTERS; i++)
		if (state->slot[i].kind && frame_value_is_same(state->slot[i], place))
			return (struct frame_value){.kind = VALUE_ENTRY,
						    .offset = frame_saved_register[i]};
	if (state->copy.kind && frame_value_is_same(state->copy, place))
		return (struct frame_value){.kind = VALUE_CFA, .offset = state->copy_offset};
	return unknown;
}

/* Forgets the words at lower addresses than rsp, which the next call or signal overwrites. */
static void drop_words_below_rsp(struct frame_state *state)
{
	struct frame_value rsp = state->reg[X86_RSP];

	for (u32 i = 0; i < FRAME_SAVED_REGISTERS; i++) {
		struct frame_value slot = state->slot[i];

		if ((frame_value_is_comparable(slot, rsp) && slot.offset < rsp.offset) ||
		    (slot.kind == VALUE_ALIGNED && rsp.kind == VALUE_CFA))
			state->slot[i] = unknown;
	}
	if (state->copy.kind &&
	    (rsp.kind == VALUE_CFA ||
	     (frame_value_is_comparable(state->copy, rsp) && state->copy.offset < rsp.offset)))
		state->copy = unknown;
}

/* Changes rsp. Saved words stay known as long as rsp only goes down. */
static enum frame_step_result set_rsp(struct frame_state *state, struct frame_value rsp)
{
	struct frame_value old = state->reg[X86_RSP];

	state->reg[X86_RSP] = rsp;
	if (!frame_value_is_comparable(old, rsp) || rsp.offset > old.offset)
		drop_words_below_rsp(state);
	if (rsp.kind == VALUE_CFA && rsp.offset > -FRAME_WORD && !(state->flags & FRAME_OUTERMOST))
		return FRAME_CONTRADICTED;
	return FRAME_STEPPED;
}

/* True for constants that matter: numbers of system calls and sizes of frames. Other constants
 * would only make states differ.
 */
static bool is_constant_tracked(u8 reg, s32 constant)
{
	return constant >= 0x1000 ||
	       (reg == X86_RAX && (!constant || constant == 15 || constant == 56 ||
				   constant == 60 || constant == 231 || constant == 435));
}

static enum frame_step_result set_register(struct frame_state *state, u8 reg,
					   struct frame_value value)
{
	if (value.kind == VALUE_CONSTANT && !is_constant_tracked(reg, value.offset))
		value = unknown;
	if (reg != X86_RSP) {
		state->reg[reg] = value;
		return FRAME_STEPPED;
	}
	if (!frame_value_is_stack(value)) {
		set_rsp(state, unknown);
		return FRAME_SWITCHED;
	}
	return set_rsp(state, value);
}

static enum frame_step_result push_value(struct frame_state *state, struct frame_value value)
{
	enum frame_step_result result =
		set_rsp(state, frame_value_moved(state->reg[X86_RSP], -FRAME_WORD));

	if (frame_value_is_stack(state->reg[X86_RSP]))
		store_to_stack(state, state->reg[X86_RSP], value, FRAME_WORD);
	return result;
}

/* Pops a word into `reg`; X86_NO_REGISTER: the word goes to memory, or is dropped. */
static enum frame_step_result pop_register(struct frame_state *state, u8 reg)
{
	struct frame_value rsp = state->reg[X86_RSP];
	struct frame_value value =
		frame_value_is_stack(rsp) ? load_from_stack(state, rsp) : unknown;
	enum frame_step_result result = set_rsp(state, frame_value_moved(rsp, FRAME_WORD));

	if (result != FRAME_STEPPED || reg == X86_NO_REGISTER)
		return result;
	return set_register(state, reg, value);
}

/* --- Operands. --- */

/* The value of a memory operand that reads an entry of a jump table, by an index register. */
static struct frame_value jump_table_entry(const struct frame_state *state,
					   const struct x86_instruction *instruction, u8 scale,
					   u32 kind)
{
	struct frame_value table, index;

	if (!instruction->is_memory || instruction->has_segment || instruction->scale != scale ||
	    instruction->index >= X86_REGISTERS)
		return unknown;
	table = instruction->base < X86_REGISTERS ? state->reg[instruction->base]
						  : (struct frame_value){.kind = VALUE_ADDRESS};
	if (instruction->base == X86_RIP || table.kind != VALUE_ADDRESS)
		return unknown;
	index = state->reg[instruction->index];
	return (struct frame_value){
		.kind = kind,
		.extra = index.kind == VALUE_BELOW ? index.offset : 0,
		.offset = table.offset + instruction->displacement,
	};
}

struct frame_value frame_state_operand(const struct frame_state *state,
				       const struct x86_instruction *instruction, u32 address)
{
	struct frame_value place;

	if (!instruction->is_memory)
		return state->reg[instruction->rm & 15];
	if (stack_address_of_operand(state, instruction, &place))
		return load_from_stack(state, place);
	if (instruction->base == X86_RIP)
		return (struct frame_value){
			.kind = VALUE_POINTER,
			.extra = 1,
			.offset = (s32)(address + instruction->length + instruction->displacement)};
	return jump_table_entry(state, instruction, FRAME_WORD, VALUE_POINTER);
}

static struct frame_value address_of_operand(const struct frame_state *state,
					     const struct x86_instruction *instruction, u32 address)
{
	struct frame_value base;

	if (instruction->index != X86_NO_REGISTER || !instruction->is_wide)
		return unknown;
	if (instruction->base == X86_RIP)
		return (struct frame_value){
			.kind = VALUE_ADDRESS,
			.offset = (s32)(address + instruction->length + instruction->displacement)};
	if (instruction->base == X86_NO_REGISTER)
		return unknown;
	base = state->reg[instruction->base];
	if (base.kind == VALUE_ADDRESS) {
		base.offset += instruction->displacement;
		return base;
	}
	return frame_value_is_stack(base) ? frame_value_moved(base, instruction->displacement)
					  : unknown;
}

/* The value of a register after an instruction has cleared its upper half. */
static struct frame_value value_of_lower_half(struct frame_value value)
{
	return value.kind == VALUE_CONSTANT || value.kind == VALUE_BELOW ||
			       value.kind == VALUE_CHILD
		       ? value
		       : unknown;
}

static struct frame_value value_by_operand_size(const struct x86_instruction *instruction,
						struct frame_value value)
{
	if (instruction->is_wide)
		return value;
	return instruction->is_narrow ? unknown : value_of_lower_half(value);
}

static u32 operand_bytes(const struct x86_instruction *instruction)
{
	return instruction->is_wide ? FRAME_WORD : instruction->is_narrow ? 2 : 4;
}

/* Writes a value to the operand ModRM.rm. */
static enum frame_step_result write_operand(struct frame_state *state,
					    const struct x86_instruction *instruction,
					    struct frame_value value, u32 bytes)
{
	struct frame_value place;

	if (!instruction->is_memory)
		return set_register(state, instruction->rm, value);
	if (stack_address_of_operand(state, instruction, &place))
		store_to_stack(state, place, value, bytes);
	return FRAME_STEPPED;
}

/* --- Instructions. --- */

static enum frame_step_result forget_written_registers(struct frame_state *state,
						       const struct x86_instruction *instruction)
{
	for (u32 reg = 0; reg < X86_REGISTERS; reg++)
		if (instruction->writes >> reg & 1 && reg != X86_RSP)
			state->reg[reg] = unknown;
	return instruction->writes >> X86_RSP & 1 ? set_rsp(state, unknown) : FRAME_STEPPED;
}

/* Applies add, or, adc, sbb, and, sub, xor or cmp (chosen by ModRM.reg) with a constant. */
static enum frame_step_result step_arithmetic(struct frame_state *state,
					      const struct x86_instruction *instruction,
					      u32 address, struct frame_compared *compared)
{
	u32 operation = instruction->reg & 7;
	s64 constant = instruction->immediate;
	struct frame_value value = unknown;

	if (operation == 7) {
		if (!instruction->is_memory && (instruction->opcode != 0x80 || instruction->rm < 4))
			*compared = (struct frame_compared){.reg = instruction->rm,
							    .other = X86_NO_REGISTER,
							    .immediate = constant};
		return FRAME_STEPPED;
	}
	if (!instruction->is_memory && instruction->opcode == 0x80)
		return forget_written_registers(state, instruction);
	if (!instruction->is_memory) {
		struct frame_value old = state->reg[instruction->rm];
		bool is_power = constant < 0 && !(-constant & (-constant - 1));

		if (instruction->is_wide && frame_value_is_stack(old)) {
			if (operation == 0 || operation == 5)
				value = frame_value_moved(old, operation ? -constant : constant);
			else if (operation == 4 && is_power && constant >= -FRAME_WORD)
				value = old;
			else if (operation == 4 && is_power)
				value = (struct frame_value){.kind = VALUE_ALIGNED,
							     .extra = address};
		} else if (operation == 4 && constant >= 0 && constant < 0xffff) {
			value = (struct frame_value){.kind = VALUE_BELOW, .offset = constant + 1};
		}
	}
	if (!instruction->is_memory && instruction->rm == X86_RSP && !frame_value_is_stack(value))
		return set_rsp(state, unknown);
	return write_operand(state, instruction, value,
			     instruction->opcode == 0x80 ? 1 : operand_bytes(instruction));
}

static struct frame_value sum_of_values(struct frame_value a, struct frame_value b)
{
	if (a.kind == VALUE_DISTANCE && b.kind == VALUE_ADDRESS && a.offset == b.offset) {
		a.kind = VALUE_TARGET;
		return a;
	}
	if (frame_value_is_stack(a) && b.kind == VALUE_CONSTANT)
		return frame_value_moved(a, b.offset);
	return unknown;
}

/* Applies add, or, adc, sbb, and, sub, xor or cmp between the operands rm and reg (opcodes below
 * 0x40). */
static enum frame_step_result step_register_arithmetic(struct frame_state *state,
						       const struct x86_instruction *instruction,
						       struct frame_compared *compared)
{
	u32 operation = instruction->opcode >> 3;
	bool to_reg = instruction->opcode & 2;
	u8 to = to_reg ? instruction->reg : instruction->rm;
	u8 from = to_reg ? instruction->rm : instruction->reg;
	struct frame_value value = unknown, a, b;

	if (operation == 7) {
		if (!instruction->is_memory && instruction->is_wide)
			*compared = (struct frame_compared){.reg = to, .other = from};
		return FRAME_STEPPED;
	}
	if (instruction->is_memory)
		return to_reg ? to == X86_RSP ? set_rsp(state, unknown)
					      : set_register(state, to, unknown)
			      : write_operand(state, instruction, unknown,
					      operand_bytes(instruction));
	a = state->reg[to];
	b = state->reg[from];
	if (operation == 0 && instruction->is_wide)
		value = sum_of_values(a, b).kind ? sum_of_values(a, b) : sum_of_values(b, a);
	else if (operation == 5 && instruction->is_wide && frame_value_is_stack(a) &&
		 b.kind == VALUE_CONSTANT)
		value = frame_value_moved(a, -(s64)b.offset);
	else if ((operation == 6 || operation == 5) && to == from)
		value = (struct frame_value){.kind = VALUE_CONSTANT};
	if (to == X86_RSP && !frame_value_is_stack(value))
		return set_rsp(state, unknown);
	return set_register(state, to, value);
}

static enum frame_step_result exchange_registers(struct frame_state *state,
						 const struct x86_instruction *instruction, u8 a,
						 u8 b)
{
	struct frame_value first = value_by_operand_size(instruction, state->reg[a]);
	struct frame_value second = value_by_operand_size(instruction, state->reg[b]);
	enum frame_step_result result = set_register(state, a, second);

	return result == FRAME_STEPPED ? set_register(state, b, first) : result;
}

/* Forgets the stack words and the registers that an instruction of another kind writes. */
static enum frame_step_result step_other_instruction(struct frame_state *state,
						     const struct x86_instruction *instruction)
{
	u8 opcode = instruction->opcode;
	struct frame_value place;
	u32 bytes = 0;

	if (instruction->map == X86_MAP_ONE_BYTE &&
	    (opcode == 0xc0 || opcode == 0xc1 || (opcode >= 0xd0 && opcode <= 0xd3) ||
	     opcode == 0xf6 || opcode == 0xf7 || opcode == 0xfe || opcode == 0xff))
		bytes = operand_bytes(instruction);
	if ((instruction->map == X86_MAP_0F || instruction->map == X86_MAP_VECTOR) &&
	    (opcode == 0x11 || opcode == 0x29 || opcode == 0x7f)) {
		/* The number of bytes that a move out of a vector register stores: movss, movsd and
		 * movq of an MMX register count as 8 bytes, all other moves as 16, even of larger
		 * vectors. */
		bool is_half = instruction->map == X86_MAP_0F &&
			       ((instruction->opcode == 0x11 && instruction->repeat) ||
				(instruction->opcode == 0x7f && !instruction->repeat &&
				 !instruction->is_narrow));

		bytes = is_half ? FRAME_WORD : 2 * FRAME_WORD;
	}
	if (bytes && stack_address_of_operand(state, instruction, &place) &&
	    !(place.kind == VALUE_CFA && place.offset >= -FRAME_WORD))
		store_to_stack(state, place, unknown, bytes);
	return forget_written_registers(state, instruction);
}

static enum frame_step_result step_one_byte(struct frame_state *state,
					    const struct x86_instruction *instruction, u32 address,
					    struct frame_compared *compared)
{
	u8 opcode = instruction->opcode, rm = instruction->rm, reg = instruction->reg;
	enum frame_step_result result;
	struct frame_value value;

	if (opcode < 0x40 && instruction->has_modrm && (opcode & 1))
		return step_register_arithmetic(state, instruction, compared);
	if (opcode >= 0x50 && opcode <= 0x57)
		return push_value(state, state->reg[rm]);
	if (opcode >= 0x58 && opcode <= 0x5f)
		return pop_register(state, rm);
	if (opcode >= 0x91 && opcode <= 0x97)
		return exchange_registers(state, instruction, X86_RAX, rm);
	if (opcode >= 0xb0 && opcode <= 0xb3 && rm < 4 && state->reg[rm].kind == VALUE_CONSTANT) {
		value = state->reg[rm];
		value.offset = (value.offset & ~0xff) | (instruction->immediate & 0xff);
		return set_register(state, rm, value);
	}
	if (opcode >= 0xb8 && opcode <= 0xbf)
		return set_register(state, rm,
				    instruction->immediate == (s32)instruction->immediate ||
						    instruction->immediate_bytes == 4
					    ? (struct frame_value){.kind = VALUE_CONSTANT,
								   .offset = instruction->immediate}
					    : unknown);
	switch (opcode) {
	case 0x3c:
	case 0x3d:
		*compared = (struct frame_compared){.reg = X86_RAX,
						    .other = X86_NO_REGISTER,
						    .immediate = instruction->immediate};
		return FRAME_STEPPED;
	case 0x63:
		value = instruction->is_memory
				? jump_table_entry(state, instruction, 4, VALUE_DISTANCE)
				: value_of_lower_half(state->reg[rm]);
		return set_register(state, reg, value);
	case 0x68:
	case 0x6a:
	case 0x9c:
		return push_value(state, unknown);
	case 0x9d:
		return pop_register(state, X86_NO_REGISTER);
	case 0x8f:
		return pop_register(state, instruction->is_memory ? X86_NO_REGISTER : rm);
	case 0x80:
	case 0x81:
	case 0x83:
		return step_arithmetic(state, instruction, address, compared);
	case 0x85:
		if (!instruction->is_memory && rm == reg)
			*compared = (struct frame_compared){
				.reg = rm, .other = X86_NO_REGISTER, .is_test = true};
		return FRAME_STEPPED;
	case 0x87:
		if (!instruction->is_memory)
			return exchange_registers(state, instruction, rm, reg);
		result = write_operand(state, instruction, unknown, operand_bytes(instruction));
		return result == FRAME_STEPPED ? set_register(state, reg, unknown) : result;
	case 0x88:
	case 0xc6:
		if (!instruction->is_memory)
			return forget_written_registers(state, instruction);
		return write_operand(state, instruction, unknown, 1);
	case 0x89:
		return write_operand(state, instruction,
				     value_by_operand_size(instruction, state->reg[reg]),
				     operand_bytes(instruction));
	case 0x8b:
		value = frame_state_operand(state, instruction, address);
		return set_register(state, reg, value_by_operand_size(instruction, value));
	case 0x8d:
		value = address_of_operand(state, instruction, address);
		if (reg == X86_RSP && !frame_value_is_stack(value))
			return set_rsp(state, unknown);
		return set_register(state, reg, value);
	case 0xc7:
		value = (struct frame_value){.kind = VALUE_CONSTANT,
					     .offset = instruction->immediate};
		return write_operand(state, instruction, value, operand_bytes(instruction));
	case 0xc8:
		if (instruction->immediate >> 16 & 0xff)
			return FRAME_CONTRADICTED;
		result = push_value(state, state->reg[X86_RBP]);
		state->reg[X86_RBP] = state->reg[X86_RSP];
		return result == FRAME_STEPPED
			       ? set_rsp(state,
					 frame_value_moved(state->reg[X86_RSP],
							   -(instruction->immediate & 0xffff)))
			       : result;
	case 0xc9:
		if (!frame_value_is_stack(state->reg[X86_RBP]))
			return set_register(state, X86_RSP, unknown);
		result = set_rsp(state, state->reg[X86_RBP]);
		return result == FRAME_STEPPED ? pop_register(state, X86_RBP) : result;
	case 0xff:
		if ((reg & 7) == 6) {
			value = frame_state_operand(state, instruction, address);
			return push_value(state, value.kind == VALUE_POINTER ? unknown : value);
		}
		return step_other_instruction(state, instruction);
	default:
		return step_other_instruction(state, instruction);
	}
}

static enum frame_step_result step_two_byte(struct frame_state *state,
					    const struct x86_instruction *instruction)
{
	u8 opcode = instruction->opcode;
	struct frame_value value = unknown;
	s32 bound = opcode == 0xb6 ? 0x100 : 0x10000;

	if (opcode == 0xa0 || opcode == 0xa8) /* push fs, gs */
		return push_value(state, unknown);
	if (opcode == 0xa1 || opcode == 0xa9)
		return pop_register(state, X86_NO_REGISTER);
	if (opcode != 0xb6 && opcode != 0xb7)
		return step_other_instruction(state, instruction);
	if (!instruction->is_memory && state->reg[instruction->rm].kind == VALUE_BELOW &&
	    state->reg[instruction->rm].offset < bound)
		value = state->reg[instruction->rm];
	return set_register(state, instruction->reg, value);
}

/* True if the instruction (for example a move) does not change the flags that a comparison has set.
 */
static bool keeps_flags(const struct x86_instruction *instruction)
{
	u8 opcode = instruction->opcode;

	if (instruction->map == X86_MAP_0F)
		return (opcode >= 0x40 && opcode <= 0x4f) || (opcode >= 0x90 && opcode <= 0x9f) ||
		       opcode == 0xb6 || opcode == 0xb7 || opcode == 0xbe || opcode == 0xbf ||
		       opcode == 0x10 || opcode == 0x11 || opcode == 0x28 || opcode == 0x29 ||
		       opcode == 0x6f || opcode == 0x7f || opcode == 0x1f;
	return instruction->map == X86_MAP_ONE_BYTE &&
	       ((opcode >= 0x88 && opcode <= 0x8d) || opcode == 0xc6 || opcode == 0xc7 ||
		(opcode >= 0xb0 && opcode <= 0xbf) || (opcode >= 0x50 && opcode <= 0x5f) ||
		opcode == 0x63 || opcode == 0x90);
}

enum frame_step_result frame_state_step(struct frame_state *state,
					const struct x86_instruction *instruction, u32 address,
					struct frame_compared *compared)
{
	enum frame_step_result result;

	if (!keeps_flags(instruction) ||
	    (compared->reg < X86_REGISTERS && instruction->writes >> compared->reg & 1))
		compared->reg = X86_NO_REGISTER;

	switch (instruction->map) {
	case X86_MAP_ONE_BYTE:
		result = step_one_byte(state, instruction, address, compared);
		break;
	case X86_MAP_0F:
		result = step_two_byte(state, instruction);
		break;
	default:
		result = step_other_instruction(state, instruction);
	}
	return result;
}

void frame_state_apply_call(struct frame_state *state, u32 lost)
{
	static const u8 scratch[] = {X86_RAX, X86_RCX, X86_RDX, X86_RSI, X86_RDI,
				     X86_R8,  X86_R9,  X86_R10, X86_R11};

	for (u32 i = 0; i < sizeof(scratch); i++)
		state->reg[scratch[i]] = unknown;
	frame_state_set_registers_unknown(state, lost);
	drop_words_below_rsp(state);
}

/* Gives the bound that the register is less than, on this side of the conditional jump. False:
 * there is no bound. */
static bool bound_on_branch_side(u32 condition, bool is_taken, s32 immediate, s32 *bound)
{
	if (immediate < 0 || immediate > 0xffff)
		return false;
	*bound = immediate + (condition == 6 || condition == 7);
	return is_taken ? condition == 2 || condition == 6 : condition == 3 || condition == 7;
}

void frame_state_branch(struct frame_state *state, const struct x86_instruction *instruction,
			const struct frame_compared *compared, bool is_taken)
{
	u32 condition = instruction->opcode & 15;
	bool is_equal = condition == (is_taken ? 4U : 5U);
	struct frame_value *value;
	s32 bound;

	if (compared->reg >= X86_REGISTERS || (instruction->opcode & 0xf0) == 0xe0)
		return;
	value = &state->reg[compared->reg];
	if (compared->other != X86_NO_REGISTER) {
		if (is_equal && compared->reg == X86_RSP &&
		    frame_value_is_stack(state->reg[compared->other]))
			set_rsp(state, state->reg[compared->other]);
		if (is_equal && compared->other == X86_RSP && frame_value_is_stack(*value))
			set_rsp(state, *value);
		return;
	}
	if (compared->is_test) {
		if (is_equal && value->kind == VALUE_CHILD)
			state->flags |= FRAME_OUTERMOST;
		return;
	}
	if ((value->kind == VALUE_UNKNOWN || value->kind == VALUE_BELOW) &&
	    bound_on_branch_side(condition, is_taken, compared->immediate, &bound) &&
	    (!value->kind || bound < value->offset))
		*value = (struct frame_value){.kind = VALUE_BELOW, .offset = bound};
}
