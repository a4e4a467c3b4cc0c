/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interpreter of call frame instructions. It decodes both possible operands before it looks at
 * the instruction, so that the paths through the switch stay short, since the verifier walks each
 * path. All state is in the map value, whose contents the verifier does not track.
 */
#include "unwind.h"

enum cfi_instruction {
	CFA_NOP,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER_,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED,
	/* Instructions with an operand in their lower six bits. */
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
};

#define INSTRUCTION_HIGH 0xc0
#define INSTRUCTION_LOW 0x3f

CORE_PART struct cfi_cell *cfi_cell_of_register(struct cfi_row *row, u64 reg)
{
	u64 column = cfi_column_of(reg);

	core_one_register(column);
	return &row->column[column & (CFI_COLUMNS - 1)];
}

/* Sets the cell of a register in the current row. `in`: the register that holds the value, or 0. */
CORE_PART void set_register_cell(struct cfi *cfi, u64 reg, u32 how, u32 in, s64 offset)
{
	if (offset != (s32)offset)
		cfi->stop = STOP_UNSUPPORTED;
	*cfi_cell_of_register(&cfi->row, reg) =
		(struct cfi_cell){.how = how, .reg = in, .offset = offset};
}

CORE_PART s64 scale_by_data_alignment(const struct cfi *cfi, u64 factor)
{
	return factor * cfi->entry.data_alignment;
}

/*
 * Moves the location, the address of the next row. If the location passes the pc, the current row
 * is the row of the pc.
 */
CORE_PART void advance_location(struct cfi *cfi, u64 location)
{
	if (location <= cfi->pc) {
		cfi->location = location;
		return;
	}
	cfi->found = true;
	if (location < cfi->next)
		cfi->next = location;
}

CORE_PART void restore_remembered_row(struct cfi *cfi)
{
	if (cfi->remembered_count == 0) {
		cfi->stop = STOP_BAD_TABLE;
		return;
	}
	cfi->remembered_count--;
	cfi->row = cfi->remembered[cfi->remembered_count & (CFI_REMEMBERED_MAX - 1)];
}

CORE_PART void restore_initial_cell(struct cfi *cfi, u64 reg)
{
	*cfi_cell_of_register(&cfi->row, reg) = *cfi_cell_of_register(&cfi->entry.row, reg);
}

/*
 * Returns the cell of a DWARF expression, a block of operations, and moves the position after the
 * block.
 */
CORE_PART struct cfi_cell make_expression_cell(struct unwind *unwind, u32 how, u64 at, u64 length)
{
	struct cfi *cfi = &unwind->cfi;
	s64 offset = at - cfi->entry.cie;

	unwind->bytes.at = at + length;
	if (length > 0xffff || offset != (s32)offset)
		cfi->stop = STOP_UNSUPPORTED;
	return (struct cfi_cell){.how = how, .length = length, .offset = offset};
}

/* Runs an instruction that defines the CFA. False: the instruction is another one. */
CORE_PART bool run_cfa_instruction(struct unwind *unwind, u32 instruction,
				   const struct cfi_operands *operands)
{
	struct cfi *cfi = &unwind->cfi;
	const struct leb128 *a = &operands->first, *b = &operands->second;
	u64 taken = a->bytes, reg = a->value;
	s64 offset = b->value;

	switch (instruction) {
	case CFA_DEF_CFA:
		taken += b->bytes;
		break;
	case CFA_DEF_CFA_SF:
		offset = scale_by_data_alignment(cfi, b->signed_value);
		taken += b->bytes;
		break;
	case CFA_DEF_CFA_REGISTER:
		offset = cfi->row.cfa.offset;
		break;
	case CFA_DEF_CFA_OFFSET:
		reg = cfi->row.cfa.reg;
		offset = a->value;
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		reg = cfi->row.cfa.reg;
		offset = scale_by_data_alignment(cfi, a->signed_value);
		break;
	case CFA_DEF_CFA_EXPRESSION:
		cfi->row.cfa = make_expression_cell(unwind, CFI_EXPRESSION,
						    operands->position + taken, a->value);
		return true;
	default:
		return false;
	}
	if (!is_table_register(reg) || offset != (s32)offset)
		cfi->stop = STOP_UNSUPPORTED;
	cfi->row.cfa = (struct cfi_cell){.how = CFI_OFFSET, .reg = reg, .offset = offset};
	unwind->bytes.at = operands->position + taken;
	return true;
}

/*
 * Runs an instruction about a register, with one or two operands. False: the instruction is another
 * one.
 */
CORE_PART bool run_register_instruction(struct unwind *unwind, u32 instruction,
					const struct cfi_operands *operands)
{
	struct cfi *cfi = &unwind->cfi;
	const struct leb128 *a = &operands->first, *b = &operands->second;
	u64 taken = a->bytes + b->bytes, factor = b->value;
	u32 how = CFI_OFFSET, reg = 0;

	switch (instruction) {
	case CFA_OFFSET_EXTENDED:
		break;
	case CFA_OFFSET_EXTENDED_SF:
		factor = b->signed_value;
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		factor = -b->value;
		break;
	case CFA_VAL_OFFSET:
		how = CFI_VALUE_OFFSET;
		break;
	case CFA_VAL_OFFSET_SF:
		how = CFI_VALUE_OFFSET;
		factor = b->signed_value;
		break;
	case CFA_REGISTER_:
		how = CFI_IN_REGISTER;
		reg = b->value;
		factor = 0;
		break;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		*cfi_cell_of_register(&cfi->row, a->value) = make_expression_cell(
			unwind,
			instruction == CFA_EXPRESSION ? CFI_EXPRESSION : CFI_VALUE_EXPRESSION,
			operands->position + taken, b->value);
		return true;
	default:
		return false;
	}
	set_register_cell(cfi, a->value, how, reg, scale_by_data_alignment(cfi, factor));
	unwind->bytes.at = operands->position + taken;
	return true;
}

/* Runs an instruction with at most one operand after it. False: the instruction is another one. */
CORE_PART bool run_one_operand_instruction(struct unwind *unwind, u32 instruction,
					   const struct cfi_operands *operands)
{
	struct cfi *cfi = &unwind->cfi;
	const struct leb128 *a = &operands->first;
	u64 taken = 0;

	switch (instruction) {
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
		taken = 1 << (instruction - CFA_ADVANCE_LOC1);
		advance_location(cfi, cfi->location + (operands->raw & ((1ULL << 8 * taken) - 1)) *
							      cfi->entry.code_alignment);
		break;
	case CFA_RESTORE_EXTENDED:
		restore_initial_cell(cfi, a->value);
		taken = a->bytes;
		break;
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
		set_register_cell(cfi, a->value,
				  instruction == CFA_UNDEFINED ? CFI_UNDEFINED : CFI_SAME, 0, 0);
		taken = a->bytes;
		break;
	case CFA_GNU_ARGS_SIZE:
		taken = a->bytes;
		break;
	case CFA_REMEMBER_STATE:
		cfi->remembered[cfi->remembered_count & (CFI_REMEMBERED_MAX - 1)] = cfi->row;
		if (++cfi->remembered_count > CFI_REMEMBERED_MAX)
			cfi->stop = STOP_UNSUPPORTED;
		break;
	case CFA_RESTORE_STATE:
		restore_remembered_row(cfi);
		break;
	default:
		if (!is_ignored_instruction(instruction))
			return false;
	}
	unwind->bytes.at = operands->position + taken;
	return true;
}

/*
 * Runs an instruction of a single byte. Most instructions have one byte. False: the instruction is
 * longer.
 */
CORE_PART bool run_one_byte_instruction(struct cfi *cfi, u32 instruction)
{
	u32 low = instruction & INSTRUCTION_LOW;

	switch (instruction & INSTRUCTION_HIGH) {
	case CFA_ADVANCE_LOC:
		advance_location(cfi, cfi->location + low * cfi->entry.code_alignment);
		return true;
	case CFA_RESTORE:
		restore_initial_cell(cfi, low);
		return true;
	}
	return instruction == CFA_NOP;
}

/* Runs an instruction that is longer than one byte, except DW_CFA_set_loc. */
CORE_PART void run_long_instruction(struct unwind *unwind, u32 instruction,
				    const struct cfi_operands *operands)
{
	struct cfi *cfi = &unwind->cfi;

	if ((instruction & INSTRUCTION_HIGH) == CFA_OFFSET) {
		set_register_cell(cfi, instruction & INSTRUCTION_LOW, CFI_OFFSET, 0,
				  scale_by_data_alignment(cfi, operands->first.value));
		unwind->bytes.at = operands->position + operands->first.bytes;
	} else if (!run_one_operand_instruction(unwind, instruction, operands) &&
		   !run_cfa_instruction(unwind, instruction, operands) &&
		   !run_register_instruction(unwind, instruction, operands)) {
		cfi->stop = STOP_UNSUPPORTED;
	}
}

CORE_GLOBAL int cfi_read_operands(struct unwind *unwind)
{
	struct cfi_operands *operands;
	struct unwind_bytes *bytes;

	if (core_is_null(unwind))
		return 0;
	bytes = &unwind->bytes;
	operands = &unwind->cfi.operands;
	operands->position = bytes->at;
	operands->raw = bytes_peek(bytes);
	operands->first = bytes_take_leb128(bytes);
	operands->second = bytes_take_leb128(bytes);
	bytes->at = operands->position;
	return 0;
}

/*
 * Runs the instruction at the position. True: the new location follows the instruction as a
 * pointer.
 */
CORE_GLOBAL_PART int run_next_instruction(struct unwind *unwind)
{
	u32 instruction;

	if (core_is_null(unwind))
		return false;
	instruction = bytes_take_u8(&unwind->bytes);
	if (instruction == CFA_SET_LOC)
		return true;
	if (run_one_byte_instruction(&unwind->cfi, instruction))
		return false;
	cfi_read_operands(unwind);
	run_long_instruction(unwind, instruction, &unwind->cfi.operands);
	return false;
}

static long cfi_run_one_instruction(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct cfi *cfi = &unwind->cfi;

	(void)i;
	if (cfi->found || unwind->bytes.at == unwind->bytes.end) {
		cfi->found = true;
		return 1;
	}
	cfi->stop = unwind_spend_budget(unwind) ? bytes_make_ready(unwind) : STOP_BUDGET;
	if (cfi->stop)
		return 1;
	if (run_next_instruction(unwind)) {
		/* the instruction sets a new location, whose address follows */
		cfi->stop = bytes_take_encoded_pointer(unwind, cfi->entry.pointer_encoding, 0);
		if (!cfi->stop)
			advance_location(cfi, unwind->pointer);
	}
	return cfi->stop != STOP_NONE;
}

CORE_PART u32 run_instructions_to_end_of_row(struct unwind *unwind)
{
	struct cfi *cfi = &unwind->cfi;

	cfi->found = false;
	core_rare_loop(CFI_INSTRUCTIONS_MAX, cfi_run_one_instruction, &unwind);
	if (cfi->stop)
		return cfi->stop;
	if (bytes_are_beyond_end(&unwind->bytes))
		return STOP_BAD_TABLE;
	return cfi->found ? STOP_NONE : STOP_BUDGET;
}

CORE_INLINE u32 cfi_run_instructions(struct unwind *unwind, u64 start, u64 end)
{
	struct cfi *cfi = &unwind->cfi;

	cfi->remembered_count = 0;
	cfi->stop = STOP_NONE;
	bytes_set_range(&unwind->bytes, start, end);
	return run_instructions_to_end_of_row(unwind);
}

CORE_INLINE u32 cfi_run_to_next_row(struct unwind *unwind, u64 end)
{
	struct cfi *cfi = &unwind->cfi;

	cfi->location = cfi->pc = cfi->next;
	cfi->next = end;
	return run_instructions_to_end_of_row(unwind);
}
