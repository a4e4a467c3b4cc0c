/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rows_compare.h"

#include <libelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/elf_layout.h"
#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_image.h"
#include "symbol/unwind/file_table_pack.h"
#include "unit_test.h"
#include "unwind/table_search.h"
#include "unwind/unwind.h"

static struct unwind unwind;
static struct file_table table;
static struct code_rows rows;
static struct elf_segments segments;
static unsigned int seed = 1;

bool unwind_read(struct unwind *context, u64 address, void *buffer, u32 bytes)
{
	return file_image_read(context->memory, address, buffer, bytes);
}

bool unwind_peek(struct unwind *context, u64 address, void *buffer, u32 bytes)
{
	return unwind_read(context, address, buffer, bytes);
}

bool unwind_wait_for_missing_page(struct unwind *context)
{
	(void)context;
	return false;
}

bool unwind_find_mapping(struct unwind *context, u64 pc)
{
	(void)context;
	(void)pc;
	return false;
}

u64 unwind_frame(struct unwind *context, u64 pc)
{
	(void)context;
	return pc;
}

/* The unwinder's note of where a table begins, found once for each file. */
static struct unwind_rule place;
static bool has_place;

bool unwind_find_cached_rule(struct unwind *context)
{
	context->rule = place;
	return has_place;
}

void unwind_cache_rule(struct unwind *context)
{
	place = context->rule;
	has_place = true;
}

const struct file_table_chunk *file_table_chunk(const struct file_table_search *search, u32 index)
{
	assert_int_equal(search->number, 7);
	return index < table.count ? &table.chunks[index] : NULL;
}

void file_table_mark_used(struct file_table_search *search, const struct file_table_chunk *root)
{
	(void)search;
	(void)root;
}

static int find(u64 offset, struct file_table_search *search)
{
	*search = (struct file_table_search){.number = 7, .offset = offset};
	return file_table_find(search);
}

/* Sets unwind.rule to the unwinder's rule at an address. */
static u32 rule_by_unwinder(struct file_image *image, u64 address)
{
	unwind.memory = image;
	unwind.budget = 64 * UNWIND_BUDGET;
	unwind.is_interrupted = false;
	unwind.registers.value[REGISTER_PC] = address + 1;
	unwind.mapping.image = file_image_header_address(image);
	return unwind_rule(&unwind);
}

/* Compares the byte before: behind a system call, the rule may differ from that of the code before
 * only at the start of a row. */
static void assert_same_before(u64 offset, const struct unwind_rule *rule)
{
	struct file_table_search search;

	assert_true(find(offset - 1, &search));
	assert_memory_equal(&search.rule, rule, sizeof(*rule));
}

static bool is_by_sframe(const struct unwind_rule *rule)
{
	return rule->slot[SLOT_RBX] == SLOT_LOST && rule->slot[SLOT_R12] == SLOT_LOST &&
	       rule->slot[SLOT_R13] == SLOT_LOST && rule->slot[SLOT_R14] == SLOT_LOST &&
	       rule->slot[SLOT_R15] == SLOT_LOST;
}

/* Only the file's table has the mark of an interpreter's loop. */
static void assert_same_rule(const struct unwind_rule *unwinder, struct unwind_rule rule)
{
	if (rule.cfa_kind == CFA_SCRIPT_LOOP)
		rule.cfa_kind = CFA_REGISTER;
	assert_memory_equal(unwinder, &rule, sizeof(rule));
}

static void compare_at(struct file_image *image, const struct elf_segment *segment, u64 at,
		       struct rows_compared *compared)
{
	u64 address = FILE_IMAGE_BASE + segment->address + at;
	struct file_table_search search;
	bool found = find(segment->offset + at, &search);
	u32 stop = rule_by_unwinder(image, address);

	if (found && search.rule.flags & RULE_ANALYSED) {
		/* A rule made from code: no table covers the address, or the table is damaged. */
		compared->analysed++;
		compared->unread += !stop && !unwind.code_seen;
	} else if (stop == STOP_TABLE_UNREADABLE && !unwind.code_seen) {
		compared->unread += found;
	} else if (found && search.rule.cfa_kind == CFA_BY_CODE) {
		assert_int_not_equal(unwind.code_seen, 0);
	} else if (found && unwind.code_seen) { /* an unsorted index hides the function */
		compared->unread++;
	} else if (found) {
		assert_int_equal(stop, STOP_NONE);
		assert_int_equal(unwind.code_seen, 0);
		assert_same_rule(&unwind.rule, search.rule);
	} else {
		compared->unread += !stop && !unwind.code_seen;
	}
	if (found && search.from != search.offset)
		assert_same_before(segment->offset + at, &search.rule);
	compared->looks++;
	compared->found += found;
	compared->by_code += found && search.rule.cfa_kind == CFA_BY_CODE;
	compared->by_sframe += found && is_by_sframe(&search.rule);
}

u64 rows_compare_any(u64 below)
{
	return ((u64)rand_r(&seed) << 31 ^ (u64)rand_r(&seed)) % below;
}

/* Chooses an address, often the start of a row or the byte before, where errors are most likely. */
static u64 any_place(const struct elf_segment *segment)
{
	u64 offset;

	if (rows_compare_any(2))
		return rows_compare_any(segment->bytes);
	offset = rows.rows[rows_compare_any(rows.count)].offset - rows_compare_any(2) -
		 segment->offset;
	return offset < segment->bytes ? offset : rows_compare_any(segment->bytes);
}

static void read_segments(int file)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ, NULL);
	elf_segments_read(elf, &segments);
	elf_end(elf);
}

static void clear_compared_tables(void)
{
	code_rows_clear(&rows);
	file_table_clear(&table);
	memset(&unwind, 0, sizeof(unwind));
	has_place = false;
}

static void compare_all(struct file_image *image, struct rows_compared *compared)
{
	for (u32 i = 0; i < segments.count; i++)
		for (u64 at = 0; at < segments.segment[i].bytes; at++)
			compare_at(image, &segments.segment[i], at, compared);
}

static void compare_looks(struct file_image *image, u32 looks, struct rows_compared *compared)
{
	for (u32 i = 0; i < looks; i++) {
		const struct elf_segment *segment =
			&segments.segment[rows_compare_any(segments.count)];

		compare_at(image, segment, any_place(segment), compared);
	}
}

static void compare(int file, u32 looks, struct rows_compared *compared)
{
	struct file_image *image;

	assert_true(code_rows_are_sound(&rows));
	assert_int_equal(file_table_pack(&rows, &table), 0);
	assert_int_equal(file_image_create(file, &image), 0);
	read_segments(file);
	*compared = (struct rows_compared){
		.rows = rows.count, .rules = rows.rule_count, .chunks = table.count};
	if (looks == ROWS_COMPARE_ALL)
		compare_all(image, compared);
	else if (rows.count)
		compare_looks(image, looks, compared);
	file_image_free(&image);
}

int rows_compare(int file, u32 looks, struct rows_compared *compared)
{
	int result = code_rows_read(file, &rows);

	if (!result)
		compare(file, looks, compared);
	clear_compared_tables();
	return result;
}
