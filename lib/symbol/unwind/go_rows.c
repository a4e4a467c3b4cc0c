/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of Go code, from .gopclntab: for each function the section says how far the stack
 * pointer is below the return address, at each pc (pcsp; runtime/symtab.go, runtime/runtime2.go,
 * debug/gosym of Go 1.18 to 1.25). Stripping keeps the section, as Go's runtime needs it.
 *
 * Go keeps no registers for its callers but rbp. A compiled function with a frame saves rbp at
 * CFA - 16, right behind the instruction that makes the frame, and restores it right before the one
 * that undoes the frame. A function that the assembler marks as writing rsp (SPWRITE) changes the
 * stack, so the depth does not give its CFA. If the function sets rbp in its first bytes, rbp gives
 * the CFA. Else the rule says that the return address is lost, and the walk ends there; without a
 * rule the bytes of the function would be analysed, which gives a wrong caller.
 */
#include "code_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file_image.h"
#include "file_section.h"

#define MAGIC_1_18 0xfffffff0U
#define MAGIC_1_20 0xfffffff1U
#define WORD 8
#define DEPTH_MAX (1 << 28)

/* The header: magic, two zeroes, quantum, bytes of a word; then words. */
enum header_word { FUNCTIONS, FILES, TEXT_START, NAMES, UNITS, FILE_NAMES, PC_TABLES, RECORDS };
#define HEADER_BYTES (8 + 8 * WORD)

/* A function's record. */
#define RECORD_PCSP 16
#define RECORD_FLAG_1_18 37
#define RECORD_FLAG_1_20 41

enum function_flag {
	IS_OUTERMOST = 1 << 0, /* TOPFRAME */
	WRITES_RSP = 1 << 1,   /* SPWRITE */
	IS_ASSEMBLER = 1 << 2, /* ASM */
};

/* The most bytes of a prologue until rbp is stored and until rbp is set, and of an epilogue from
 * where it restores rbp. */
#define STORE_BYTES_MAX 8
#define SET_BYTES_MAX 16
#define UNDO_BYTES_MAX 7

struct go_table {
	const u8 *bytes;
	u64 count;
	u64 word[RECORDS + 1];
	u32 flag_at;
	struct file_image *image;
	struct code_rows *rows;
	struct file_spans *covered;
};

static bool take(const struct go_table *table, u64 offset, void *value, u32 bytes)
{
	if (offset > table->count || table->count - offset < bytes)
		return false;
	memcpy(value, table->bytes + offset, bytes);
	return true;
}

static bool header_read(struct go_table *table)
{
	u8 head[8];
	u32 magic;

	if (!take(table, 0, head, sizeof(head)) ||
	    !take(table, sizeof(head), table->word, sizeof(table->word)))
		return false;
	memcpy(&magic, head, sizeof(magic));
	table->flag_at = magic == MAGIC_1_18 ? RECORD_FLAG_1_18 : RECORD_FLAG_1_20;
	return (magic == MAGIC_1_18 || magic == MAGIC_1_20) && head[6] == 1 && head[7] == WORD &&
	       table->word[FUNCTIONS] < table->count / WORD && table->word[TEXT_START] &&
	       table->word[TEXT_START] <= INT32_MAX && table->word[RECORDS] < table->count &&
	       table->word[PC_TABLES] < table->count;
}

/* Reads the start of function i and its record. Entry word[FUNCTIONS] is the end of the code. */
static bool entry_read(const struct go_table *table, u64 i, u64 *address, u32 *record)
{
	u32 entry[2] = {};
	u32 bytes = i < table->word[FUNCTIONS] ? sizeof(entry) : sizeof(entry[0]);

	if (!take(table, table->word[RECORDS] + WORD * i, entry, bytes))
		return false;
	*address = table->word[TEXT_START] + entry[0];
	*record = entry[1];
	return *address <= INT32_MAX;
}

static bool leb128_take(const struct go_table *table, u64 *at, u32 *value)
{
	u8 byte = 0x80;

	*value = 0;
	for (u32 shift = 0; shift < 35 && byte & 0x80; shift += 7) {
		if (!take(table, (*at)++, &byte, 1))
			return false;
		*value |= shift < 32 ? (u32)(byte & 0x7f) << shift : 0;
	}
	return !(byte & 0x80);
}

/* In [start, end) the stack pointer is `depth` bytes below the return address. */
struct run {
	u64 start, end;
	s32 depth;
};

/* The next run of a function; false: there is none, or the table is not understood. */
static bool run_next(const struct go_table *table, u64 *at, struct run *run)
{
	bool is_first = run->depth == -1;
	u32 change, bytes;

	if (!leb128_take(table, at, &change) || (!change && !is_first) ||
	    !leb128_take(table, at, &bytes))
		return false;
	run->depth += change & 1 ? ~(change >> 1) : change >> 1;
	run->start = run->end;
	run->end += bytes;
	return run->depth >= 0 && run->depth < DEPTH_MAX && run->end <= INT32_MAX;
}

/* Adds what is code of [start, end) of the file. NULL: it has no rule. */
static int add(const struct go_table *table, u64 start, u64 end, const struct unwind_rule *rule)
{
	u64 code_end = FILE_IMAGE_BASE + end, offset;

	if (start >= end ||
	    !file_image_code(table->image, FILE_IMAGE_BASE + start, &code_end, &offset))
		return 0;
	return code_rows_add(table->rows, offset, offset + (code_end - FILE_IMAGE_BASE - start),
			     rule);
}

static struct unwind_rule rule_by_depth(s32 depth, u8 rbp_slot)
{
	return (struct unwind_rule){
		.cfa_register = REGISTER_RSP,
		.cfa_offset = depth + WORD,
		.base = RULE_BASE_CFA,
		.slot = {SLOT_LOST, rbp_slot, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, 1},
	};
}

/* The frame was made by push %rbp (Go 1.21 on): nothing is left to be stored. */
static bool is_pushed(const struct go_table *table, u64 start)
{
	u8 before = 0;

	return file_image_read(table->image, FILE_IMAGE_BASE + start - 1, &before, 1) &&
	       before == 0x55;
}

/* A run with a frame; *stored_at is where rbp is stored at the latest, 0: not known yet. */
static int add_framed(const struct go_table *table, const struct run *run, u8 flags, u64 *stored_at)
{
	struct unwind_rule rule = rule_by_depth(run->depth, flags & IS_ASSEMBLER ? SLOT_LOST : 0);
	u64 stored, set;
	int result;

	if (!*stored_at)
		*stored_at = run->start + (is_pushed(table, run->start) ? 0 : STORE_BYTES_MAX);
	stored = *stored_at < run->start ? run->start
		 : *stored_at < run->end ? *stored_at
					 : run->end;
	if (!(flags & WRITES_RSP)) {
		result = add(table, run->start, stored, &rule);
		rule.slot[SLOT_RBP] = flags & IS_ASSEMBLER ? SLOT_LOST : 2;
		return result ?: add(table, stored, run->end, &rule);
	}
	rule.cfa_register = REGISTER_RBP;
	rule.cfa_offset = 2 * WORD;
	rule.slot[SLOT_RBP] = 2;
	set = *stored_at + SET_BYTES_MAX - STORE_BYTES_MAX;
	set = set < run->start ? run->start : set;
	return run->end - run->start > UNDO_BYTES_MAX
		       ? add(table, set, run->end - UNDO_BYTES_MAX, &rule)
		       : 0;
}

/* Whether a function that writes rsp sets up rbp in its first bytes: mov %rbp,N(%rsp) and
 * lea N(%rsp),%rbp. */
static bool sets_pointer(const struct go_table *table, u64 start, u64 end)
{
	u8 code[64] = {};
	u32 count = end - start < sizeof(code) ? end - start : sizeof(code);

	if (!file_image_read(table->image, FILE_IMAGE_BASE + start, code, count))
		return false;
	for (u32 i = 0; i + 10 <= count; i++)
		if (!memcmp(code + i, "\x48\x89\x6c\x24", 4) &&
		    !memcmp(code + i + 5, "\x48\x8d\x6c\x24", 4) && code[i + 4] == code[i + 9])
			return true;
	return false;
}

/* The return from a signal handler has no caller: it is known by its bytes (core/unwind). */
static bool is_trampoline(const struct go_table *table, u64 start, u64 end)
{
	u8 code[16] = {};
	u32 count = end - start < sizeof(code) ? end - start : sizeof(code);

	return file_image_read(table->image, FILE_IMAGE_BASE + start, code, count) &&
	       (!memcmp(code, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9) ||
		!memcmp(code, "\xb8\x0f\0\0\0\x0f\x05", 7));
}

static int add_function(const struct go_table *table, u64 start, u64 end, u32 record)
{
	static const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	static const struct unwind_rule elsewhere = {
		.cfa_register = REGISTER_RSP,
		.cfa_offset = WORD,
		.base = RULE_BASE_CFA,
		.slot = {SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST, SLOT_LOST,
			 SLOT_LOST},
	};
	struct run run = {.end = start, .depth = -1};
	u64 fields = table->word[RECORDS] + record, at, stored_at = 0;
	u32 pcsp;
	u8 flags;
	int result = 0;

	if (!take(table, fields + RECORD_PCSP, &pcsp, sizeof(pcsp)) ||
	    !take(table, fields + table->flag_at, &flags, sizeof(flags)))
		return 0;
	if (flags & IS_OUTERMOST)
		return add(table, start, end, &outermost);
	if (flags & WRITES_RSP && !sets_pointer(table, start, end))
		return add(table, start, end, &elsewhere);
	if (!pcsp || is_trampoline(table, start, end))
		return 0;
	at = table->word[PC_TABLES] + pcsp;
	while (!result && run.end < end && run_next(table, &at, &run)) {
		struct unwind_rule rule = rule_by_depth(0, flags & IS_ASSEMBLER ? SLOT_LOST : 0);

		if (run.end > end)
			run.end = end;
		if (run.depth)
			result = add_framed(table, &run, flags, &stored_at);
		else if (!(flags & WRITES_RSP))
			result = add(table, run.start, run.end, &rule);
	}
	return result;
}

static int add_covered(struct file_spans *covered, u64 start, u64 end)
{
	if (start >= end)
		return 0;
	if (array_make_room(covered->spans, covered->count, covered->room))
		return -ENOMEM;
	covered->spans[covered->count++] = (struct file_span){start, end};
	return 0;
}

/* -EBADMSG if the addresses of functions do not ascend. */
static int add_functions(struct go_table *table)
{
	u64 start, next;
	u32 record, next_record;
	int result = 0;

	if (!entry_read(table, 0, &start, &record))
		return -EBADMSG;
	for (u64 i = 0; i < table->word[FUNCTIONS] && !result; i++) {
		if (!entry_read(table, i + 1, &next, &next_record) || next < start)
			return -EBADMSG;
		result = add_function(table, start, next, record);
		result = result ?: add_covered(table->covered, start, next);
		start = next;
		record = next_record;
	}
	return result;
}

int code_rows_read_go(int file, const struct file_spans *covered, struct code_rows *rows,
		      struct file_spans *found)
{
	struct file_section section = {};
	struct go_table table = {.rows = rows, .covered = found};
	int result = file_section_read(file, ".gopclntab", &section);

	(void)covered;
	if (result)
		return result;
	table.bytes = section.bytes;
	table.count = section.count;
	result = header_read(&table) ? file_image_create(file, &table.image) : -ENOENT;
	result = result ?: add_functions(&table);
	file_image_free(&table.image);
	free(section.bytes);
	return result;
}
