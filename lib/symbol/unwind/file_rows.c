/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of a whole file: rows of its tables, and rows of the analysis for code that no table
 * covers. Code without either is read at the event.
 *
 * An analysis reads all code, since calls from code with tables give starts of functions. The
 * headers decide, before code is read, whether the file is analysed: the code that no table covers
 * must be a large enough share of all code, and the estimated memory must fit into 1/MEMORY_PARTS
 * of the sandbox's memory.
 *
 * All instances on a machine share one table of a file. A process without enough memory for all
 * rows therefore makes a partial table, and a process with more memory makes the table anew.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "code_analysis.h"
#include "code_file.h"
#include "code_functions.h"
#include "code_rows.h"
#include "file_image.h"
#include "privilege/memory_limit.h"
#include "symbol/unwind/script_loop.h"
#include "x86_decode.h"

#define GAP_BYTES_MIN 32     /* a file with fewer bytes of code without tables is not analysed */
#define PADDING_BYTES_MAX 15 /* the most bytes of padding between functions aligned to 16 bytes */
#define PADDING_LOOK 256     /* longer gaps are not searched for padding */
/* In code without a table, the code of crtbegin.o begins within this many bytes, or the file does
 * not have it. */
#define START_CODE_LOOK 128
#define START_CODE_FIRST 24  /* bytes of deregister_tm_clones() that are compared */
#define START_CODE_BYTES 256 /* the most bytes of crtbegin.o's code */
/* An analysis is done only if at least 1/4096 of all code is without a table. */
#define GAP_SHARE 4096
/* If less code than this is without a table, GAP_SMALL_SHARE counts in place of GAP_SHARE: the
 * analysis is worth while only if the file is small. */
#define GAP_SMALL 512
/* Code of less than GAP_SMALL bytes is analysed only if this code is at least 1/512 of all code. */
#define GAP_SMALL_SHARE 512
/* The most bytes of code without a table; their analysis takes some seconds. */
#define GAP_BYTES_MAX (32U << 20)
#define COST_OF_CODE 3	   /* estimated memory of an analysis, bytes for each byte of code */
#define COST_OF_GAP 5	   /* additional memory, bytes for each byte of code without a table */
#define CLONE_CALL_BYTES 3 /* bytes without a row: the system call, and the first byte after it */
#define MEMORY_PARTS 2	   /* an analysis takes at most 1/2 of the sandbox's memory */

static int compare_span_starts(const void *left, const void *right)
{
	const struct file_span *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Sorts spans and cuts overlaps. */
static void sort_spans(struct file_spans *covered)
{
	u32 kept = 0;

	if (covered->count)
		qsort(covered->spans, covered->count, sizeof(*covered->spans), compare_span_starts);
	for (u32 i = 0; i < covered->count; i++) {
		struct file_span span = covered->spans[i];

		if (kept && span.start < covered->spans[kept - 1].end)
			span.start = covered->spans[kept - 1].end;
		if (span.start < span.end)
			covered->spans[kept++] = span;
	}
	covered->count = kept;
}

static int add_row_for_code(const struct file_image *image, struct code_rows *rows, u32 start,
			    u32 end, const struct unwind_rule *rule)
{
	u64 code_end = FILE_IMAGE_BASE + end, offset;

	if (start >= end ||
	    !file_image_code_offset(image, FILE_IMAGE_BASE + start, &code_end, &offset))
		return 0;
	return code_rows_add(rows, offset, offset + (code_end - FILE_IMAGE_BASE - start), rule);
}

/* The first system call in [at, end) from which clone() returns in two threads; or `end`. The code
 * after the call tells the threads apart by rax (core/arch/x86_64/code_rule.c), so the call and
 * the place after it have no row. */
static u32 find_system_call_of_clone(const struct code_image *code, u32 at, u32 end)
{
	static const u8 wanted[] = {0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c}; /* syscall; test; jl */
	u32 left = code->end - at, bytes = end - at + sizeof(wanted) - 1;
	const u8 *from = code->bytes + (at - code->start);
	const u8 *found = memmem(from, bytes < left ? bytes : left, wanted, sizeof(wanted));

	return found ? at + (u32)(found - from) : end;
}

/* Adds rows of the analysis for the part [start, end), which no table covers. */
static int add_analysed_rows(const struct code_analysis *analysis, const struct code_image *code,
			     const struct file_image *image, struct code_rows *rows, u32 start,
			     u32 end)
{
	struct unwind_rule rule;
	int result = 0;
	u32 next;

	for (u32 at = start; !result && code_analysis_next_rule(analysis, &at, end, &rule, &next);
	     at = next) {
		rule.flags |= RULE_ANALYSED;
		for (u32 row_end; !result && at < next; at = row_end + CLONE_CALL_BYTES) {
			row_end = find_system_call_of_clone(code, at, next);
			result = add_row_for_code(image, rows, at, row_end, &rule);
		}
	}
	return result;
}

/* Finds the next part of a section that no table covers, from *at on. */
static bool next_uncovered_part(const struct file_spans *covered, u32 *span, u32 *at, u32 limit,
				u32 *end)
{
	for (; *at < limit && *span < covered->count; ++*span) {
		if (covered->spans[*span].start > *at)
			break;
		if (covered->spans[*span].end > limit) {
			*at = limit;
			break;
		}
		if (covered->spans[*span].end > *at)
			*at = covered->spans[*span].end;
	}
	if (*at >= limit)
		return false;
	*end = *span < covered->count && covered->spans[*span].start < limit
		       ? covered->spans[*span].start
		       : limit;
	return true;
}

/* True for the instructions adrp x0; add x0, x0; adrp x1; add x1, x1; cmp x1, x0; b.eq. */
static bool is_crtbegin_code_of_arm64(const u8 *bytes)
{
	static const u32 masks[] = {0x9f00001f, 0xffc003ff, 0x9f00001f,
				    0xffc003ff, 0xffffffff, 0xff00001f};
	static const u32 wanted[] = {0x90000000, 0x91000000, 0x90000001,
				     0x91000021, 0xeb00003f, 0x54000000};
	u32 code[6];

	memcpy(code, bytes, sizeof(code));
	for (u32 i = 0; i < 6; i++)
		if ((code[i] & masks[i]) != wanted[i])
			return false;
	return true;
}

/* True if crtbegin.o's functions begin within START_CODE_LOOK bytes: the first of them,
 * deregister_tm_clones(), compares two addresses and leaves if they are equal. These functions have
 * no table in any program, and the unwinder reads their code at the event. */
static bool has_crtbegin_code_near(const struct code_image *image, u32 at)
{
	u8 code[START_CODE_LOOK + START_CODE_FIRST];

	if (!image->read(image->context, at, code, sizeof(code)))
		return false;
	for (u32 i = 0; i < START_CODE_LOOK; i++) {
		const u8 *here = code + i;

		if (image->machine == EM_AARCH64) {
			if (i % 4 == 0 && is_crtbegin_code_of_arm64(here))
				return true;
			continue;
		}
		/* lea X(%rip),%rdi; lea Y(%rip),%rax; cmp %rdi,%rax; je */
		if (!memcmp(here, "\x48\x8d\x3d", 3) && !memcmp(here + 7, "\x48\x8d\x05", 3) &&
		    !memcmp(here + 14, "\x48\x39\xf8\x74", 4))
			return true;
		/* mov $X,%eax; cmp $Y,%rax; je */
		if (here[0] == 0xb8 && !memcmp(here + 5, "\x48\x3d", 2) && here[11] == 0x74)
			return true;
	}
	return false;
}

/* True if [at, end) is padding only. Functions that are aligned to more than 16 bytes have much
 * padding between them: 1.7 KB in Debian's libc, nearly all of whose code has tables. */
static bool is_padding_only(const struct code_image *image, u32 at, u32 end)
{
	u8 code[PADDING_LOOK];
	struct x86_instruction instruction;
	u32 bytes = end - at;

	if (bytes > sizeof(code) || !image->read(image->context, at, code, bytes))
		return false;
	for (u32 i = 0; i < bytes; i += instruction.length)
		if (!x86_decode(code + i, bytes - i, &instruction) ||
		    !code_is_padding(&instruction))
			return false;
	return true;
}

/* The number of bytes of [at, end) whose analysis is worth while. */
static u64 count_bytes_worth_analysis(const struct code_image *image, u32 at, u32 end)
{
	u64 bytes = end - at;

	if (bytes <= PADDING_BYTES_MAX || is_padding_only(image, at, end))
		return 0;
	if (!has_crtbegin_code_near(image, at))
		return bytes;
	return bytes > START_CODE_BYTES ? bytes - START_CODE_BYTES : 0;
}

static u64 uncovered_bytes_worth_analysis(const struct code_image *image,
					  const struct file_spans *covered)
{
	u64 bytes = 0;

	for (u32 i = 0, span = 0; i < image->section_count; i++) {
		u32 at = image->sections[i].start, end;

		for (; next_uncovered_part(covered, &span, &at, image->sections[i].end, &end);
		     at = end)
			bytes += count_bytes_worth_analysis(image, at, end);
	}
	return bytes;
}

static bool is_analysis_wanted(const struct code_image *code, const struct file_spans *covered)
{
	u64 bytes = code->end - code->start, gap = uncovered_bytes_worth_analysis(code, covered);
	u64 share = gap < GAP_SMALL ? GAP_SMALL_SHARE : GAP_SHARE;

	return gap >= GAP_BYTES_MIN && gap >= bytes / share && gap <= GAP_BYTES_MAX;
}

/* Analyses the code that no table covers. -ENOMEM: the sandbox's memory is too little. */
static int analyse_uncovered_code(struct code_file *file, const struct file_spans *covered,
				  const struct file_image *image, struct code_rows *rows)
{
	const struct code_image *code = code_file_image(file);
	u64 bytes = code->end - code->start;
	struct code_analysis *analysis;
	int result;

	if (!is_analysis_wanted(code, covered))
		return 0;
	if (COST_OF_CODE * bytes + COST_OF_GAP * uncovered_bytes_worth_analysis(code, covered) >
	    memory_limit_of_this_process() / MEMORY_PARTS)
		return -ENOMEM;
	result = code_file_load(file) ?: code_analysis_create(code, &analysis);
	if (result)
		return result;
	for (u32 i = 0, span = 0; i < code->section_count && !result; i++) {
		u32 at = code->sections[i].start, end;

		for (; !result &&
		       next_uncovered_part(covered, &span, &at, code->sections[i].end, &end);
		     at = end)
			result = add_analysed_rows(analysis, code, image, rows, at, end);
	}
	code_analysis_free(&analysis);
	return result;
}

/* Reads the file's code and adds rows for the code that no table covers. */
static int add_rows_of_uncovered_code(int file, const struct file_spans *covered,
				      struct code_rows *rows, struct file_spans *found)
{
	struct file_image *image = NULL;
	struct code_file *code = NULL;
	int result = file_image_create(file, &image);

	(void)found;
	result = result ?: code_file_open(file, covered->spans, covered->count, &code);
	result = result ?: analyse_uncovered_code(code, covered, image, rows);
	code_file_free(&code);
	file_image_free(&image);
	return result;
}

/* Adds the rows that the function `read` gives for code that is not covered yet, and adds that code
 * to *covered. If `read` fails, all its rows are left out. -ENOMEM. */
static int add_rows_of_reader(int file,
			      int (*read)(int file, const struct file_spans *covered,
					  struct code_rows *rows, struct file_spans *found),
			      struct file_spans *covered, struct code_rows *rows)
{
	struct code_rows part = {}, both = {};
	struct file_spans found = {};
	int failure = read(file, covered, &part, &found);
	int result = failure == -ENOMEM ? -ENOMEM : 0;

	if (!failure && part.count) {
		result = code_rows_merge(&both, rows, &part);
		if (!result && array_make_rooms(covered->spans, (u64)covered->count + found.count,
						covered->room))
			result = -ENOMEM;
		for (u32 i = 0; i < found.count && !result; i++)
			covered->spans[covered->count++] = found.spans[i];
		sort_spans(covered);
		code_rows_clear(rows);
		*rows = both;
	}
	code_rows_clear(&part);
	free(found.spans);
	return result;
}

/* True if the code that no table covers is to be analysed, here or by a process with more memory.
 */
static bool is_worth_analysis(int file, const struct file_spans *covered)
{
	struct code_file *code = NULL;
	int result = code_file_open(file, covered->spans, covered->count, &code);
	bool is_worth = result == -ENOMEM ||
			(!result && is_analysis_wanted(code_file_image(code), covered));

	code_file_free(&code);
	return is_worth;
}

/* Reads all tables; then either analyses code that no table covers, or sets is_partial if an
 * analysis is worth its time or memory was too little for a table. */
static int read_all_rows(int file, bool is_analysed, struct code_rows *rows)
{
	struct code_rows tables = {}, others = {};
	struct file_spans covered = {};
	bool is_partial = false;
	int script = -ENOENT, result = code_rows_read_tables(file, &tables, &covered);

	if (!result || result == -ENOEXEC) {
		int error;

		sort_spans(&covered);
		script = script_rows_mark(file, &covered, &tables);
		error = add_rows_of_reader(file, code_rows_read_go, &covered, &others);
		error = error
				?: add_rows_of_reader(file, code_rows_read_debug_frame, &covered,
						      &others);
		if (is_analysed)
			error = error
					?: add_rows_of_reader(file, add_rows_of_uncovered_code,
							      &covered, &others);
		else
			is_partial = error ? error == -ENOMEM : is_worth_analysis(file, &covered);
		if (error)
			code_rows_clear(&others);
		if (is_partial)
			result = 0;
		else if (error == -ENOMEM)
			result = -ENOMEM;
	}
	if (!result && script != -ENOENT && script != -EOPNOTSUPP)
		result = script;
	if (others.count && (!result || result == -ENOEXEC)) {
		result = code_rows_merge(rows, &others, &tables);
		rows->script = tables.script;
	} else if (!result) {
		*rows = tables;
		tables = (struct code_rows){};
	}
	rows->is_partial = is_partial;
	mark_rules_of_v8_code(rows);
	code_rows_clear(&tables);
	code_rows_clear(&others);
	free(covered.spans);
	return result;
}

int code_rows_read(int file, struct code_rows *rows)
{
	return read_all_rows(file, true, rows);
}

int code_rows_read_unanalysed(int file, struct code_rows *rows)
{
	return read_all_rows(file, false, rows);
}
