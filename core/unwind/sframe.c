/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SFrame is a sorted index of functions, each with a sequence of rows. A row has the offset at
 * which it begins and a few data words: CFA, return address if its place is not fixed, frame
 * pointer.
 *
 * The versions differ in the index: an entry has 17 bytes in version 1, 20 in version 2, and 16 in
 * version 3, where the rest of the entry is stored directly before the rows. A function's address
 * is relative to the section or, with the flag FUNC_START_PCREL, to the address of its own field.
 * Version 3 has "flexible" functions: a control word before each data word names a register and
 * says whether it is dereferenced.
 */
#include "unwind.h"

#define SFRAME_MAGIC 0xdee2
#define SFRAME_SORTED 0x1
#define SFRAME_RELATIVE_TO_FIELD 0x4
#define SFRAME_FIXED_NONE 0
#define SEARCH_STEPS_MAX 32
#define ROWS_MAX (1U << 17)

#define FUNCTION_ADDRESS_BYTES(info) (1U << ((info)&3))
#define FUNCTION_ROW_TYPE(info) ((info)&0xf)
#define FUNCTION_IS_BLOCK(info) ((info)&0x10) /* rows repeat for each block, as in a PLT */
#define FUNCTION_IS_SIGNAL(info) ((info)&0x80)
#define FUNCTION_IS_FLEXIBLE(info2) (((info2)&0x1f) == 1)
#define ROW_TYPE_MAX 2

#define ROW_BASE_IS_SP(info) ((info)&1)
#define ROW_WORDS(info) (((info) >> 1) & 0xf)
#define ROW_WORD_SIZE(info) (((info) >> 5) & 3)
#define ROW_WORD_SIZE_MAX 2
#define ROW_WORDS_MAX 6

#define CONTROL_IS_REGISTER(word) ((word)&1)
#define CONTROL_IS_DEREF(word) ((word)&2)
#define CONTROL_REGISTER(word) ((word) >> 3)

/* Reads the section's header and finds its parts. */
CORE_OUTLINED u32 open_sframe_section(struct unwind *unwind)
{
	struct sframe_search *search = &unwind->sframe;
	const struct sframe_header *header = &search->header;
	u64 first;

	search->section = unwind->image.sframe.start;
	if (!unwind_fetch(unwind, search->section, &search->header, sizeof(search->header)))
		return stop_reason_of_failed_table_read(unwind);
	if (!(header->magic == SFRAME_MAGIC && header->version >= 1 && header->version <= 3 &&
	      header->abi == SFRAME_ABI && header->flags & SFRAME_SORTED && header->function_count))
		return STOP_UNSUPPORTED;
	first = search->section + sizeof(*header) + header->extra_bytes;
	search->functions = first + header->functions;
	search->rows = first + header->rows;
	search->rows_end = search->rows + header->row_bytes;
	search->entry_bytes = header->version == 1 ? 17 : header->version == 2 ? 20 : 16;
	search->low = 0;
	search->high = header->function_count;
	return search->rows_end <= unwind->image.sframe.end ? STOP_NONE : STOP_BAD_TABLE;
}

/* Reads the address of the function with this index. */
CORE_OUTLINED u32 read_function_address(struct unwind *unwind, u64 index)
{
	struct sframe_search *search = &unwind->sframe;
	bool is_wide = search->header.version == 3;
	s64 offset;

	search->entry = search->functions + index * search->entry_bytes;
	if (!unwind_fetch(unwind, search->entry, &unwind->word, is_wide ? 8 : 4))
		return stop_reason_of_failed_table_read(unwind);
	offset = is_wide ? (s64)unwind->word : (s32)unwind->word;
	search->function =
		offset +
		(search->header.flags & SFRAME_RELATIVE_TO_FIELD ? search->entry : search->section);
	return STOP_NONE;
}

static long halve_function_range(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct sframe_search *search = &unwind->sframe;
	u64 middle = search->low + (search->high - search->low) / 2;

	(void)i;
	if (search->high - search->low <= 1)
		return 1;
	search->stop = read_function_address(unwind, middle);
	if (search->function <= unwind->lookup_pc)
		search->low = middle;
	else
		search->high = middle;
	return search->stop != STOP_NONE;
}

/* Reads the remaining fields of an entry. In version 3 half of them are stored before the rows. */
CORE_PART u32 read_sframe_entry_fields(struct unwind *unwind)
{
	struct sframe_search *search = &unwind->sframe;
	struct unwind_bytes *bytes = &unwind->bytes;
	u32 stop;

	bytes_set_range(bytes, search->entry, search->entry + search->entry_bytes);
	stop = bytes_make_ready(unwind);
	if (stop)
		return stop;
	bytes->at += search->header.version == 3 ? 8 : 4;
	search->function_bytes = bytes_take(bytes, 4);
	search->first_row = bytes_take(bytes, 4);
	if (search->header.version == 3) {
		bytes_set_range(bytes, search->rows + search->first_row, search->rows_end);
		stop = bytes_make_ready(unwind);
		search->rows_left = bytes_take(bytes, 2);
	} else {
		search->rows_left = bytes_take(bytes, 4);
	}
	search->info = bytes_take_u8(bytes);
	search->flexible = 0;
	if (search->header.version == 3)
		search->flexible = FUNCTION_IS_FLEXIBLE(bytes_take_u8(bytes));
	search->block_bytes = search->header.version == 1 ? 16 : bytes_take_u8(bytes);
	if (bytes_are_beyond_end(bytes))
		return STOP_BAD_TABLE;
	if (search->header.version != 3)
		bytes_set_range(bytes, search->rows + search->first_row, search->rows_end);
	return stop;
}

/* Finds the function that covers the pc. */
CORE_PART u32 find_sframe_function(struct unwind *unwind)
{
	struct sframe_search *search = &unwind->sframe;
	u64 offset;
	u32 stop;

	search->stop = STOP_NONE;
	core_rare_loop(SEARCH_STEPS_MAX, halve_function_range, &unwind);
	stop = search->stop ? search->stop : read_function_address(unwind, search->low);
	if (!stop)
		stop = read_sframe_entry_fields(unwind);
	if (stop)
		return stop;
	offset = unwind->lookup_pc - search->function;
	if (offset >= search->function_bytes)
		return STOP_NO_RULE;
	search->pc_offset = offset;
	if (FUNCTION_IS_BLOCK(search->info) && search->block_bytes)
		search->pc_offset = (u32)offset % search->block_bytes;
	return FUNCTION_ROW_TYPE(search->info) <= ROW_TYPE_MAX ? STOP_NONE : STOP_BAD_TABLE;
}

static long read_next_sframe_row(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct sframe_search *search = &unwind->sframe;
	struct unwind_bytes *bytes = &unwind->bytes;
	u64 next;
	u32 start, info;

	if (i >= search->rows_left)
		return 1;
	search->stop = unwind_spend_budget(unwind) ? bytes_make_ready(unwind) : STOP_BUDGET;
	if (search->stop)
		return 1;
	start = bytes_take(bytes, FUNCTION_ADDRESS_BYTES(search->info));
	info = bytes_take_u8(bytes);
	next = bytes->at + ((u64)ROW_WORDS(info) << ROW_WORD_SIZE(info));
	if (next > bytes->end)
		search->stop = STOP_BAD_TABLE;
	if (search->stop || start > search->pc_offset)
		return 1;
	if (ROW_WORD_SIZE(info) > ROW_WORD_SIZE_MAX) {
		search->stop = STOP_BAD_TABLE;
		return 1;
	}
	search->found = true;
	search->row_info = info;
	for (u32 i = 0, size = 1U << ROW_WORD_SIZE(search->row_info); i < ROW_WORDS_MAX; i++) {
		search->word[i] = bytes_peek(bytes);
		bytes->at += size;
	}
	bytes->at = next;
	return 0;
}

CORE_OUTLINED u32 find_sframe_row(struct unwind *unwind)
{
	struct sframe_search *search = &unwind->sframe;

	search->stop = STOP_NONE;
	search->found = false;
	core_rare_loop(ROWS_MAX, read_next_sframe_row, &unwind);
	if (search->stop)
		return search->stop;
	return search->found ? STOP_NONE : STOP_NO_RULE;
}

/* Data word i of the row, sign-extended; i < ROW_WORDS_MAX. */
CORE_PART s32 row_word_signed(const struct sframe_search *search, u32 i)
{
	u32 unused = 32 - (8U << ROW_WORD_SIZE(search->row_info));

	core_one_register(i);
	return (s32)(search->word[i & 7] << (unused & 31)) >> (unused & 31);
}

CORE_PART u32 row_word_unsigned(const struct sframe_search *search, u32 i)
{
	u32 unused = 32 - (8U << ROW_WORD_SIZE(search->row_info));

	core_one_register(i);
	return search->word[i & 7] << (unused & 31) >> (unused & 31);
}

/*
 * The rule of a row of an ordinary function. Its words are: CFA, return address unless its place is
 * fixed, frame pointer if it was saved.
 */
CORE_PART u32 make_ordinary_rule(const struct sframe_search *search, struct unwind_rule *rule)
{
	u32 count = ROW_WORDS(search->row_info), used = 1;
	s32 fixed_fp = search->header.fixed_fp_offset;
	s32 ra = search->header.fixed_ra_offset;

	rule->cfa_register = ROW_BASE_IS_SP(search->row_info) ? REGISTER_SP : REGISTER_FP;
	rule->cfa_offset = row_word_signed(search, 0);
	if (RETURN_MAY_BE_IN_REGISTER && ra == SFRAME_FIXED_NONE && count == used)
		return STOP_NONE;
	if (ra == SFRAME_FIXED_NONE)
		ra = row_word_signed(search, used++);
	rule->slot[SLOT_RETURN] = slot_of_word_below_base(ra);
	if (used < count)
		rule->slot[SLOT_FP] = slot_of_word_below_base(row_word_signed(search, used));
	else if (fixed_fp != SFRAME_FIXED_NONE)
		rule->slot[SLOT_FP] = slot_of_word_below_base(fixed_fp);
	return count >= used && rule->slot[SLOT_RETURN] != SLOT_LOST ? STOP_NONE : STOP_UNSUPPORTED;
}

/* The slot that a control word and its offset describe. */
CORE_PART u8 slot_of_flexible_word(u32 control, s32 offset, struct unwind_rule *rule)
{
	u32 reg = CONTROL_REGISTER(control);

	if (!CONTROL_IS_REGISTER(control))
		return CONTROL_IS_DEREF(control) ? slot_of_word_below_base(offset) : SLOT_LOST;
	if (!is_table_register(reg))
		return SLOT_LOST;
	if (!CONTROL_IS_DEREF(control))
		return offset ? SLOT_LOST : SLOT_IN_REGISTER + reg;
	if (RETURN_IS_BELOW_BASE)
		return SLOT_LOST;
	rule->base = reg;
	return slot_of_word_below_base((s64)offset - RULE_BASE_BYTES);
}

/*
 * The rule of a row of a "flexible" function. Its words are pairs of control word and offset: for
 * the CFA, the return address, and the frame pointer. A single zero word stands for a return
 * address in its fixed place.
 */
CORE_PART u32 make_flexible_rule(const struct sframe_search *search, struct unwind_rule *rule)
{
	u32 control = row_word_unsigned(search, 0), count = ROW_WORDS(search->row_info), used = 2;

	if (count < 2 || count > ROW_WORDS_MAX || !CONTROL_IS_REGISTER(control) ||
	    !is_table_register(CONTROL_REGISTER(control)))
		return STOP_UNSUPPORTED;
	rule->cfa_kind = CONTROL_IS_DEREF(control) ? CFA_DEREF : CFA_REGISTER;
	rule->cfa_register = CONTROL_REGISTER(control);
	rule->cfa_offset = row_word_signed(search, 1);
	rule->slot[SLOT_RETURN] = slot_of_word_below_base(search->header.fixed_ra_offset);
	if (count > 2 && row_word_unsigned(search, 2) == 0) {
		used = 3;
	} else if (count > 2) {
		rule->slot[SLOT_RETURN] = slot_of_flexible_word(row_word_unsigned(search, 2),
								row_word_signed(search, 3), rule);
		used = 4;
	}
	if (rule->base != RULE_BASE_CFA || rule->slot[SLOT_RETURN] == SLOT_LOST)
		return STOP_UNSUPPORTED;
	if (used + 1 < count)
		rule->slot[SLOT_FP] = slot_of_flexible_word(
			row_word_unsigned(search, used), row_word_signed(search, used + 1), rule);
	return STOP_NONE;
}

/* The rule of the row that covers the pc. */
CORE_PART u32 make_row_rule(const struct sframe_search *search, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.base = RULE_BASE_CFA,
		.slot = {SLOTS_LOST_BUT_FP},
	};
	if (search->header.version == 3 && FUNCTION_IS_SIGNAL(search->info))
		rule->flags = RULE_SIGNAL;
	if (ROW_WORDS(search->row_info) == 0) {
		rule->flags |= RULE_OUTERMOST;
		return STOP_NONE;
	}
	return search->flexible ? make_flexible_rule(search, rule)
				: make_ordinary_rule(search, rule);
}

CORE_SUBPROGRAM u32 sframe_make_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	u32 stop;

	if (!unwind->image.sframe.start)
		return STOP_NO_RULE;
	stop = open_sframe_section(unwind);
	if (!stop)
		stop = find_sframe_function(unwind);
	if (!stop)
		stop = find_sframe_row(unwind);
	return stop ? stop : make_row_rule(&unwind->sframe, rule);
}
