/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules from SFrame sections of each version, made by their specifications. */
#include "sframe_section.h"
#include "unwind_memory.h"

#include <string.h>

#include "unit_test.h"

#define FUNCTIONS 0x4000 /* behind the section */

static struct unwind unwind;
static struct sframe_section section;
static const struct unwind_rule *const rule = &unwind.rule;

static void take(int version)
{
	sframe_section_make(&section, version, FUNCTIONS);
	memory_set(&unwind, section.byte, section.bytes);
	unwind.image.sframe = (struct image_range){MEMORY_BASE, MEMORY_BASE + section.bytes};
}

static u32 rule_at(u64 offset)
{
	unwind.lookup_pc = MEMORY_BASE + FUNCTIONS + offset;
	return sframe_make_rule(&unwind, &unwind.rule);
}

static void assert_rule(u64 offset, u32 cfa_register, s32 cfa_offset, u8 rbp_slot)
{
	assert_int_equal(rule_at(offset), STOP_NONE);
	assert_int_equal(rule->cfa_kind, CFA_REGISTER);
	assert_int_equal(rule->cfa_register, cfa_register);
	assert_int_equal(rule->cfa_offset, cfa_offset);
	assert_int_equal(rule->slot[SLOT_RBP], rbp_slot);
	assert_int_equal(rule->slot[SLOT_RETURN], 1);
	assert_int_equal(rule->base, RULE_BASE_CFA);
}

TEST(rows_hold_from_their_start)
{
	for (int version = 1; version <= 3; version++) {
		take(version);
		assert_rule(0, REGISTER_RSP, 8, 0);
		assert_rule(1, REGISTER_RSP, 16, 2);
		assert_rule(3, REGISTER_RSP, 16, 2);
		assert_rule(4, REGISTER_RBP, 16, 2);
		assert_rule(29, REGISTER_RBP, 16, 2);
		assert_rule(31, REGISTER_RSP, 8, 0);
	}
}

TEST(blocks_repeat)
{
	for (int version = 1; version <= 3; version++) {
		take(version);
		for (u64 block = 0x20; block < 0x60; block += 16) {
			assert_rule(block, REGISTER_RSP, 8, 0);
			assert_rule(block + 10, REGISTER_RSP, 8, 0);
			assert_rule(block + 11, REGISTER_RSP, 16, 0);
			assert_rule(block + 15, REGISTER_RSP, 16, 0);
		}
	}
}

TEST(wide_addresses_and_words)
{
	for (int version = 1; version <= 3; version++) {
		take(version);
		assert_rule(0x61, REGISTER_RSP, 8, 0);
		assert_rule(0x60 + 289, REGISTER_RSP, 1000, 0);
	}
}

TEST(a_row_without_words_is_the_outermost)
{
	take(2);
	assert_int_equal(rule_at(0x60 + 290), STOP_NONE);
	assert_int_equal(rule->flags, RULE_OUTERMOST);
}

TEST(outside_of_functions_there_is_no_rule)
{
	for (int version = 1; version <= 3; version++) {
		take(version);
		assert_int_equal(rule_at(-1), STOP_NO_RULE);
		assert_int_equal(rule_at(0x60 + 300), STOP_NO_RULE);
		assert_int_equal(rule_at(0x1000), STOP_NO_RULE);
	}
}

TEST(flexible_rows_name_their_registers)
{
	take(3);
	assert_rule(0x203, REGISTER_R10, 0, 0);
	assert_int_equal(rule_at(0x204), STOP_NONE);
	assert_int_equal(rule->cfa_kind, CFA_DEREF);
	assert_int_equal(rule->cfa_register, REGISTER_RBP);
	assert_int_equal(rule->cfa_offset, -8);
	assert_int_equal(rule->operand, 0);
	assert_int_equal(rule->base, REGISTER_RBP);
	assert_int_equal(rule->slot[SLOT_RBP], 1);
	assert_int_equal(rule->slot[SLOT_RETURN], 1);
}

TEST(signal_frames_are_marked)
{
	take(3);
	assert_rule(0x210, REGISTER_RSP, 24, 0);
	assert_int_equal(rule->flags, RULE_SIGNAL);
	assert_rule(0, REGISTER_RSP, 8, 0);
	assert_int_equal(rule->flags, 0);
}

TEST(other_registers_are_lost)
{
	take(2);
	assert_rule(0, REGISTER_RSP, 8, 0);
	for (u32 slot = 0; slot < SLOT_RETURN; slot++)
		if (slot != SLOT_RBP)
			assert_int_equal(rule->slot[slot], SLOT_LOST);
}

TEST(unsupported_rows_are_reported)
{
	take(2);
	section.byte[2] = 4; /* version */
	assert_int_equal(rule_at(0), STOP_UNSUPPORTED);
	take(2);
	section.byte[3] = 0; /* not sorted */
	assert_int_equal(rule_at(0), STOP_UNSUPPORTED);
	take(2);
	section.byte[4] = 2; /* ABI */
	assert_int_equal(rule_at(0), STOP_UNSUPPORTED);
	take(2);
	unwind.image.sframe.end--;
	assert_int_equal(rule_at(0), STOP_BAD_TABLE);
}

/* The rule of a function whose last rows are cut off. The window still has earlier content behind
 * them, which must not count. */
static u32 rule_of_cut(int version, u32 row_bytes, u64 offset, u8 left_behind)
{
	take(version);
	memcpy(section.byte + offsetof(struct sframe_header, row_bytes), &row_bytes, 4);
	memset(unwind.bytes.window, left_behind, sizeof(unwind.bytes.window));
	memset(&unwind.rule, 0, sizeof(unwind.rule));
	return rule_at(offset);
}

TEST(earlier_content_of_the_window_does_not_count)
{
	for (int version = 1; version <= 3; version++)
		for (u32 row_bytes = 0; row_bytes < 80; row_bytes++)
			for (u64 offset = 0; offset < 0x60 + 300; offset += 3) {
				u32 stop = rule_of_cut(version, row_bytes, offset, 0xff);
				struct unwind_rule by_ones = unwind.rule;

				assert_int_equal(rule_of_cut(version, row_bytes, offset, 0), stop);
				if (!stop)
					assert_memory_equal(&by_ones, rule, sizeof(by_ones));
			}
}
