/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind_memory.h"

#include <string.h>

#include "unit_test.h"

static struct unwind unwind;

/* The reference for the branchless decoder: decodes bit by bit, as DWARF 5 defines (section 7.6).
 */
static struct leb128 plain_decode(const u8 *bytes)
{
	struct leb128 leb = {.bytes = LEB128_TOO_LONG};
	u64 value = 0;

	for (u32 i = 0; i < 8; i++) {
		value |= (u64)(bytes[i] & 0x7f) << 7 * i;
		if (bytes[i] & 0x80)
			continue;
		leb.bytes = i + 1;
		leb.value = value;
		leb.signed_value = value;
		if (bytes[i] & 0x40)
			leb.signed_value = value | ~0ULL << 7 * (i + 1);
		break;
	}
	return leb;
}

static void assert_decodes(u64 raw)
{
	struct leb128 expected = plain_decode((const u8 *)&raw), leb = leb128_decode(raw);

	assert_int_equal(leb.bytes, expected.bytes);
	if (expected.bytes == LEB128_TOO_LONG)
		return;
	assert_int_equal(leb.value, expected.value);
	assert_int_equal(leb.signed_value, expected.signed_value);
}

TEST(leb128_of_every_length)
{
	u64 random = 1;

	for (u32 bytes = 0; bytes <= 8; bytes++) {
		u64 more = bytes < 8 ? 0x8080808080808080ULL >> 8 * (8 - bytes) % 64 : ~0ULL;

		if (bytes == 0)
			more = 0;
		for (int i = 0; i < 1000; i++) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			assert_decodes(random | more);
		}
		assert_decodes(more);
		assert_decodes(~more & 0x7f7f7f7f7f7f7f7fULL);
	}
	assert_decodes(~0ULL);
}

static void take(const u8 *bytes, u32 count)
{
	memory_set(&unwind, bytes, count);
	bytes_set_range(&unwind.bytes, MEMORY_BASE, MEMORY_BASE + count);
}

TEST(the_window_never_passes_the_end)
{
	static u8 memory[1000];

	for (u32 i = 0; i < sizeof(memory); i++)
		memory[i] = i * 7;
	take(memory, sizeof(memory));
	for (u32 i = 0; i < sizeof(memory); i++) {
		assert_int_equal(bytes_make_ready(&unwind), STOP_NONE);
		assert_int_equal(bytes_take_u8(&unwind.bytes), (u8)(i * 7));
	}
	assert_int_equal(bytes_make_ready(&unwind), STOP_BAD_TABLE);
	assert_true(UNWIND_BUDGET - unwind.budget <= 6);
}

TEST(unreadable_and_budget_are_told_apart)
{
	static u8 memory[10];

	take(memory, sizeof(memory));
	unwind.bytes.end++;
	assert_int_equal(bytes_make_ready(&unwind), STOP_TABLE_UNREADABLE);
	unwind.bytes.end--;
	unwind.budget = 0;
	assert_int_equal(bytes_make_ready(&unwind), STOP_BUDGET);
}

static u32 pointer(u32 encoding)
{
	unwind.bytes.at = MEMORY_BASE + 8;
	assert_int_equal(bytes_make_ready(&unwind), STOP_NONE);
	return bytes_take_encoded_pointer(&unwind, encoding, 0x5000);
}

static void assert_pointer(u32 encoding, u64 expected, u32 bytes)
{
	assert_int_equal(pointer(encoding), STOP_NONE);
	assert_int_equal(unwind.pointer, expected);
	assert_int_equal(unwind.bytes.at, MEMORY_BASE + 8 + bytes);
}

TEST(pointers_of_every_encoding)
{
	static const u8 memory[48] = {[8] = 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
	static const u8 target[48] = {[8] = 0x20, 0, 1, [32] = 0x78, 0x56, 0x34, 0x12};

	take(memory, sizeof(memory));
	assert_pointer(0x00, -2, 8);
	assert_pointer(0x04, -2, 8);
	assert_pointer(0x0c, -2, 8);
	assert_pointer(0x03, 0xfffffffe, 4);
	assert_pointer(0x0b, -2, 4);
	assert_pointer(0x02, 0xfffe, 2);
	assert_pointer(0x0a, -2, 2);
	assert_pointer(0x1b, MEMORY_BASE + 8 - 2, 4);
	assert_pointer(0x3b, 0x5000 - 2, 4);
	assert_int_equal(pointer(0xff), STOP_UNSUPPORTED);
	assert_int_equal(pointer(0x2b), STOP_UNSUPPORTED);
	assert_int_equal(pointer(0x05), STOP_UNSUPPORTED);
	take(target, sizeof(target));
	assert_pointer(0x83, 0x12345678, 4);
}
