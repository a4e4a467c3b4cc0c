/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections with many functions, found through an index, without one, and damaged. Function i covers
 * 16 bytes from FUNCTIONS + 32 * i on, and has CFA = rsp + 8 * (i + 1).
 */
#include "unwind/cached_rule.h"
#include "unwind_memory.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

#define COUNT 1000
#define FUNCTIONS (MEMORY_BASE + 0x100000)
#define HDR_BYTES (12 + 8 * COUNT)
#define EH_FRAME 0x4000 /* offset */
#define WIDE_INDEX 0x1a00c

static struct unwind unwind;
static u8 memory[0x20000];
static u32 used; /* bytes of the section */

static void put(u64 value, u32 bytes)
{
	memcpy(memory + used, &value, bytes);
	used += bytes;
}

static void put_text(const char *text)
{
	memcpy(memory + used, text, strlen(text) + 1);
	used += strlen(text) + 1;
}

/* Fills a record up to eight bytes and sets its length. */
static void end_record(u32 start)
{
	u32 length;

	while ((used - start) % 8)
		put(0, 1);
	length = used - start - 4;
	memcpy(memory + start, &length, 4);
}

static u32 put_cie(const char *augmentation, u32 version)
{
	u32 start = used;

	put(0, 4);
	put(0, 4);
	put(version, 1);
	put_text(augmentation);
	put(1, 1);    /* code alignment */
	put(0x78, 1); /* data alignment: -8 */
	put(16, 1);   /* return address: rip */
	if (strchr(augmentation, 'P')) {
		put(7, 1);
		put(0x9b, 1);
		put(0x12345678, 4);
		put(0x1b, 1);
	} else if (augmentation[0] == 'z') {
		put(1, 1);
	}
	if (augmentation[0] == 'z')
		put(0x1b, 1);
	put(0x08070c, 3); /* def_cfa rsp 8 */
	put(0x0190, 2);	  /* offset rip 1 */
	end_record(start);
	return start;
}

static u32 put_fde(u32 cie, u32 i, bool is_augmented)
{
	u32 start = used;

	put(0, 4);
	put(used - cie, 4);
	if (is_augmented) {
		put(FUNCTIONS + 32 * i - (MEMORY_BASE + used), 4);
		put(16, 4);
		put(4, 1); /* a pointer to the LSDA */
		put(0, 4);
	} else {
		put(FUNCTIONS + 32 * i, 8);
		put(16, 8);
	}
	put(0x0e, 1); /* def_cfa_offset */
	put((8 * (i + 1) & 0x7f) | 0x80, 1);
	put(8 * (i + 1) >> 7, 1);
	end_record(start);
	return start;
}

/* Makes the index and the section. */
static void make(const char *augmentation, u32 version)
{
	u32 cie;

	memset(memory, 0, sizeof(memory));
	used = EH_FRAME;
	cie = put_cie(augmentation, version);
	memcpy(memory, "\1\x1b\3\x3b", 4);
	memcpy(memory + 4, &(s32){EH_FRAME - 4}, 4);
	memcpy(memory + 8, &(u32){COUNT}, 4);
	for (u32 i = 0; i < COUNT; i++) {
		s32 entry[2] = {FUNCTIONS + 32 * i - MEMORY_BASE,
				put_fde(cie, i, augmentation[0] == 'z')};

		memcpy(memory + 12 + 8 * i, entry, 8);
	}
	put(0, 4);
	memory_set(&unwind, memory, sizeof(memory));
}

static void use_index(void)
{
	unwind.image.eh_frame_hdr = (struct image_range){MEMORY_BASE, MEMORY_BASE + HDR_BYTES};
}

static void use_segment(void)
{
	unwind.image.segment_count = 1;
	unwind.image.segment[0] = (struct image_range){MEMORY_BASE, MEMORY_BASE + sizeof(memory)};
}

static u32 rule_at(u32 function, u32 offset)
{
	unwind.lookup_pc = FUNCTIONS + 32 * function + offset;
	return eh_frame_make_rule(&unwind, &unwind.rule);
}

static void assert_finds(u32 function)
{
	for (u32 offset = 0; offset < 16; offset += 15) {
		assert_int_equal(rule_at(function, offset), STOP_NONE);
		assert_int_equal(unwind.rule.cfa_offset, 8 * (function + 1));
	}
	assert_int_equal(rule_at(function, 16), STOP_NO_RULE);
}

/* Offset of a function whose rows end at 0x40, at 0x3a8 and at its end. */
#define LONG_FUNCTION 0x10000
#define LONG_BYTES 0x400

/* Makes the index and the section of one function in this memory. */
static void make_long_function(void)
{
	u32 cie, start;

	make("zR", 1);
	used = EH_FRAME;
	cie = put_cie("zR", 1);
	start = used;
	put(0, 4);
	put(used - cie, 4);
	put(LONG_FUNCTION - used, 4);
	put(LONG_BYTES, 4);
	put(0, 1);
	put(0x100e40, 3);	  /* advance 0, def_cfa_offset 16 */
	put(0x180e0000004004, 7); /* advance4 0x40, def_cfa_offset 24 */
	put(0x200e036803, 5);	  /* advance2 0x368, def_cfa_offset 32 */
	end_record(start);
	put(0, 4);
	memcpy(memory + 8, &(u32){1}, 4);
	memcpy(memory + 12, (s32[]){LONG_FUNCTION, (s32)start}, 8);
	use_index();
	unwind.image.header = MEMORY_BASE;
}

/* The number of code bytes for which the cache keeps the rule of an offset: 1, or a granule. The
 * rule comes from a table, or from the code. */
static u32 cached_bytes_of_rule_at_offset(struct rule_cache *cache, u32 offset, bool is_by_code)
{
	struct rule_key key = {.place = MEMORY_FRAME(MEMORY_BASE + LONG_FUNCTION + offset) |
					RULE_KEY_INTERRUPTED};
	struct unwind_rule rule;
	u32 count = 0;

	memset(cache, 0, sizeof(*cache));
	unwind.registers.known = (1U << REGISTER_COUNT) - 1;
	unwind.registers.value[REGISTER_RIP] = MEMORY_BASE + LONG_FUNCTION + offset;
	unwind_stack(&unwind, 1);
	key.place -= offset;
	for (u32 i = 0; i < LONG_BYTES; i++, key.place++) {
		struct rule_key by_code = rule_key_by_code(&key);

		count += is_by_code ? rule_cache_get_exact(cache, &by_code, &rule)
				    : rule_cache_get(cache, &key, &rule);
	}
	return count;
}

/* The rule of a granule does not hold for an interrupted pc at its first byte. */
TEST(rules_are_kept_for_granules_of_a_row)
{
	static struct rule_cache cache;

	make_long_function();
	memory_rules = &cache;
	memory_image = MEMORY_BASE;
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x08, false), 63);
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x41, false), 63);
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x190, false), 255);
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x345, false), 63);
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x140, false), 255);
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x200, false), 1);
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x392, false), 15);
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x3a1, false), 1);
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x3a9, false), 1);
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x3c1, false), 63);
	unwind.image.eh_frame_hdr.start = 0; /* a rule by code holds for the pc alone */
	assert_int_equal(cached_bytes_of_rule_at_offset(&cache, 0x3d0, true), 1);
	memory_rules = NULL;
	memory_image = 0;
}

TEST(the_index_finds_every_function)
{
	make("zR", 1);
	use_index();
	for (u32 i = 0; i < COUNT; i++)
		assert_finds(i);
	assert_int_equal(rule_at(-1, 0), STOP_NO_RULE);
	assert_int_equal(rule_at(COUNT, 0), STOP_NO_RULE);
}

TEST(a_search_is_short)
{
	make("zR", 1);
	use_index();
	rule_at(COUNT / 3, 0);
	assert_true(UNWIND_BUDGET - unwind.budget <= 40);
}

TEST(augmentations_are_skipped)
{
	make("zPLR", 1);
	use_index();
	assert_finds(17);
	make("zR", 3);
	use_index();
	assert_finds(17);
	make("", 1);
	use_index();
	assert_finds(17);
	assert_int_equal(unwind.rule.flags, 0);
	make("zRS", 1);
	use_index();
	assert_finds(17);
	assert_int_equal(rule_at(17, 0), STOP_NONE);
	assert_int_equal(unwind.rule.flags, RULE_SIGNAL);
	make("zR", 2);
	use_index();
	assert_int_equal(rule_at(17, 0), STOP_UNSUPPORTED);
}

TEST(without_an_index_all_records_are_searched)
{
	make("zR", 1);
	use_segment();
	assert_finds(0);
	assert_finds(COUNT / 2);
	assert_finds(COUNT - 1);
	assert_int_equal(rule_at(COUNT, 0), STOP_NO_RULE);
	memset(memory + EH_FRAME, 0, 16);
	unwind_drop_mapping_and_tables(&unwind);
	unwind.image = (struct unwind_image){};
	use_segment();
	assert_int_equal(rule_at(0, 0), STOP_NO_RULE);
}

/* Makes the section of two functions, with a record between them that is not understood. */
static void make_with_odd_record(u32 return_column)
{
	u32 cie, odd;

	memset(memory, 0, sizeof(memory));
	used = EH_FRAME;
	cie = put_cie("zR", 1);
	put_fde(cie, 0, true);
	odd = put_cie("zR", 1);
	assert_int_equal(memory[odd + 14], 16);
	memory[odd + 14] = return_column;
	put_fde(odd, 1, true);
	put_fde(cie, 2, true);
	put(0, 4);
	memory_set(&unwind, memory, sizeof(memory));
	use_segment();
}

/* arm64's libgcc has records that return by x15; a linker may leave out the index. */
TEST(records_that_are_not_understood_do_not_hide_the_next_ones)
{
	make_with_odd_record(15);
	assert_int_equal(rule_at(2, 0), STOP_NONE);
	assert_int_equal(unwind.rule.cfa_offset, 24);
	make_with_odd_record(15);
	assert_int_equal(rule_at(1, 0), STOP_NO_RULE);
	make_with_odd_record(16);
	assert_int_equal(rule_at(1, 0), STOP_NONE);
}

#define BEHIND (120 << 10) /* bytes of tables of exceptions */

/* The search starts at any FDE; the first record may be far before. */
/* lld writes such an index for files beyond 2 GiB. */
TEST(an_index_of_wide_entries_is_searched)
{
	static u8 narrow[HDR_BYTES];

	make("zR", 1);
	memcpy(narrow, memory, sizeof(narrow));
	memory[3] = 0x3c;
	for (u32 i = 0; i < COUNT; i++) {
		s32 entry[2];
		s64 wide[2];

		memcpy(entry, narrow + 12 + 8 * i, sizeof(entry));
		wide[0] = entry[0];
		wide[1] = entry[1];
		memcpy(memory + WIDE_INDEX + 16 * i, wide, sizeof(wide));
	}
	memcpy(memory + WIDE_INDEX - 12, memory, 12);
	memory_set(&unwind, memory, sizeof(memory));
	unwind.image.eh_frame_hdr = (struct image_range){MEMORY_BASE + WIDE_INDEX - 12,
							 MEMORY_BASE + WIDE_INDEX + 16 * COUNT};
	/* the numbers are relative to the header */
	for (u32 i = 0; i < 2 * COUNT; i++) {
		s64 number;

		memcpy(&number, memory + WIDE_INDEX + 8 * i, 8);
		number -= WIDE_INDEX - 12;
		memcpy(memory + WIDE_INDEX + 8 * i, &number, 8);
	}
	for (u32 i = 0; i < COUNT; i += 9)
		assert_finds(i);
	assert_finds(COUNT - 1);
	assert_int_equal(rule_at(5, 16), STOP_NO_RULE);
}

/* The header says where the section begins. */
TEST(without_a_usable_index_the_section_is_read)
{
	for (u32 i = 0; i < 4; i++) {
		make("zR", 1);
		if (i == 0)
			memset(memory + 2, 0xff, 2); /* no count, no index */
		else if (i == 1)
			memset(memory + 8, 0, 4); /* an index without entries */
		else if (i == 2)
			memset(memory + 8, 0xff, 4); /* more entries than fit */
		else
			memory[3] = 0x1b; /* entries in another form */
		use_index();
		use_segment();
		assert_finds(0);
		assert_finds(COUNT - 1);
		assert_int_equal(rule_at(5, 16), STOP_NO_RULE);
	}
}

/* A linker may leave out the section of such an index. */
TEST(an_empty_index_is_no_damage)
{
	make("zR", 1);
	memset(memory + 8, 0, 4);
	memset(memory + EH_FRAME, 0x41, 64);
	use_index();
	use_segment();
	assert_int_equal(rule_at(0, 0), STOP_NO_RULE);
	memset(memory + EH_FRAME, 0, 64);
	assert_int_equal(rule_at(0, 0), STOP_NO_RULE);
}

TEST(a_section_is_found_from_any_record)
{
	static u8 whole[0x40000];
	u32 bytes;

	for (u32 before = 0; before < 0x200; before += 0x1fc) {
		u64 moved = FUNCTIONS + before - EH_FRAME;

		make("zR", 1);
		bytes = before + used - EH_FRAME + BEHIND;
		memset(whole, 0x55, sizeof(whole));
		memcpy(whole + before, memory + EH_FRAME, used - EH_FRAME);
		memory_set(&unwind, whole, bytes);
		unwind.image.segment_count = 2;
		unwind.image.segment[0] = (struct image_range){moved, moved + 32 * COUNT};
		unwind.image.segment[1] = (struct image_range){MEMORY_BASE, MEMORY_BASE + bytes};
		unwind.lookup_pc = moved + 32 * 7;
		assert_int_equal(eh_frame_make_rule(&unwind, &unwind.rule), STOP_NONE);
		assert_int_equal(unwind.image.eh_frame.start, MEMORY_BASE + before);
	}
}

#define NOTE "\4\0\0\0\x53\0\0\0\4\0\0\0Go\0"

/* The remaining budget must suffice to scan the code. */
TEST(a_file_without_tables_costs_little)
{
	static u8 constants[8 << 20];
	u32 cost;

	srandom(1);
	for (u32 i = 0; i < sizeof(constants); i += 4)
		constants[i] = random() % 64; /* small numbers, as at the heads of records */
	for (u32 is_go = 0; is_go < 2; is_go++) {
		memcpy(constants, NOTE, is_go ? sizeof(NOTE) : 0);
		memory_set(&unwind, constants, sizeof(constants));
		unwind.image.note = MEMORY_BASE;
		unwind.image.segment_count = 2;
		unwind.image.segment[0] =
			(struct image_range){MEMORY_BASE, MEMORY_BASE + (4 << 20)};
		unwind.image.segment[1] =
			(struct image_range){MEMORY_BASE + (4 << 20), MEMORY_BASE + (8 << 20)};
		assert_int_equal(rule_at(0, 0), STOP_NO_RULE);
		cost = UNWIND_BUDGET - unwind.budget;
		assert_in_range(cost, 1, is_go ? 1 : UNWIND_BUDGET / 2);
		assert_int_equal(rule_at(1, 0), STOP_NO_RULE);
		assert_int_equal(UNWIND_BUDGET - unwind.budget, cost);
	}
}

/* The work of the search in another walk of the same file, whose caches are empty. */
static u32 count_work_of_repeated_search(const u8 *file, u32 bytes, u64 pc, u32 stop)
{
	memory_set(&unwind, file, bytes);
	unwind.image.header = MEMORY_BASE;
	unwind.image.segment_count = 1;
	unwind.image.segment[0] = (struct image_range){MEMORY_BASE, MEMORY_BASE + bytes};
	unwind.registers.value[REGISTER_RIP] = unwind.lookup_pc = pc;
	assert_int_equal(eh_frame_make_rule(&unwind, &unwind.rule), stop);
	return UNWIND_BUDGET - unwind.budget;
}

TEST(a_file_is_searched_once)
{
	static const u8 none[256 << 10];
	static struct rule_cache rules;
	u64 pc = FUNCTIONS + 32 * 7, start;
	u32 cost;

	memory_rules = &rules;
	make("zR", 1);
	cost = count_work_of_repeated_search(memory, used, pc, STOP_NONE);
	start = unwind.image.eh_frame.start;
	assert_true(count_work_of_repeated_search(memory, used, pc + 16, STOP_NO_RULE) != 0);
	assert_true(count_work_of_repeated_search(memory, used, pc, STOP_NONE) < cost);
	assert_int_equal(rule_at(7, 0), STOP_NONE);
	assert_int_equal(unwind.image.eh_frame.start, start);
	assert_int_equal(unwind.image.eh_frame.end, MEMORY_BASE + used);
	memset(&rules, 0, sizeof(rules));
	assert_true(count_work_of_repeated_search(none, sizeof(none), pc, STOP_NO_RULE) > 10000);
	assert_int_equal(count_work_of_repeated_search(none, sizeof(none), pc + 1, STOP_NO_RULE),
			 0);
	assert_false(unwind.is_search);
	memory_rules = NULL;
}

/* The rule of a function after the memory has changed. */
static u32 find_rule_after_memory_change(u32 function)
{
	unwind_drop_mapping_and_tables(&unwind);
	return rule_at(function, 0);
}

TEST(damage_is_reported)
{
	make("zR", 1);
	use_index();
	memory[0] = 2;
	assert_int_equal(find_rule_after_memory_change(3), STOP_UNSUPPORTED);
	memory[0] = 1;
	memset(memory + 12 + 8 * 3 + 4, 0x7f, 4); /* the FDE of function 3 */
	assert_int_equal(find_rule_after_memory_change(3), STOP_TABLE_UNREADABLE);
	assert_int_equal(find_rule_after_memory_change(4), STOP_NONE);
	memset(memory + EH_FRAME, 0xff, 4); /* the CIE's length */
	assert_int_equal(find_rule_after_memory_change(4), STOP_UNSUPPORTED);
	memory[EH_FRAME + 3] = 0x7f;
	assert_int_equal(find_rule_after_memory_change(4), STOP_BAD_TABLE);
}

/* Searches a segment of `bytes` bytes. The window still has earlier content behind them, which must
 * not count. */
static u32 find_rule_in_cut_segment(u32 bytes, u8 left_behind)
{
	memory_set(&unwind, memory, sizeof(memory));
	memset(unwind.bytes.window, left_behind, sizeof(unwind.bytes.window));
	unwind.image.segment_count = 1;
	unwind.image.segment[0] = (struct image_range){MEMORY_BASE, MEMORY_BASE + bytes};
	return rule_at(0, 0);
}

TEST(earlier_content_of_the_window_does_not_count)
{
	make("zR", 1);
	for (u32 bytes = EH_FRAME; bytes < used; bytes++) {
		u32 stop = find_rule_in_cut_segment(bytes, 0xff);
		u64 start = unwind.image.eh_frame.start;

		assert_int_equal(find_rule_in_cut_segment(bytes, 0), stop);
		assert_int_equal(unwind.image.eh_frame.start, start);
	}
}
