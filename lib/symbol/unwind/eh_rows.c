/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of a file are what the unwinder itself makes of each FDE: it is run on the file,
 * function by function, and where it would stop at the end of a row, it is run on. So a table says
 * what the unwinder would say, or nothing: each function of the index has what lies between it and
 * the next one, as far as its FDE covers that. A file whose index cannot be searched is read record
 * by record; of an index that does not ascend the table knows more than a search in it.
 *
 * The unwinder prefers an SFrame section and falls back to .eh_frame at each pc of which the
 * section says nothing. So does a table: the rows of .eh_frame lie below those of the section.
 *
 * As an embedder it has a copy of the core of its own (CORE_EMBEDDED).
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "code_rows.h"
#include "debug_frame.h"
#include "file_image.h"
#include "file_table.h"

#define CORE_EMBEDDED
#include "unwind/unwind.h"

bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return file_image_read(unwind->memory, address, buffer, bytes);
}

bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	(void)unwind;
	(void)pc;
	return false;
}

#include "unwind/unwind_alone.c"

#define SFRAME_BUDGET (2 * CODE_ROWS_MAX) /* for a whole section */

/* Of a section without index. */
struct function {
	u64 start;
	u64 end;
	u64 fde;
};

struct reading {
	struct file_image *image;
	struct code_rows *rows;
	struct unwind unwind;
	struct function *functions;
	u32 count, room;
	struct file_spans *covered;
};

/* A table covers [start, end). */
static int add_covered(struct reading *reading, u64 start, u64 end)
{
	struct file_spans *covered = reading->covered;

	start -= FILE_IMAGE_BASE;
	end -= FILE_IMAGE_BASE;
	if (start >= end || end > INT32_MAX)
		return 0;
	if (array_make_room(covered->spans, covered->count, covered->room))
		return -ENOMEM;
	covered->spans[covered->count++] = (struct file_span){start, end};
	return 0;
}

/* Adds what is code of [start, end). */
static int add_code(struct reading *reading, u64 start, u64 end, const struct unwind_rule *rule)
{
	u64 code_end = end, offset;

	if (!file_image_code(reading->image, start, &code_end, &offset))
		return 0;
	return code_rows_add(reading->rows, offset, offset + (code_end - start), rule);
}

/* The row that unwind->cfi is at, up to `limit`. Where its expressions lie matters to nobody
 * else. */
static int add_row(struct reading *reading, u64 limit)
{
	struct unwind *unwind = &reading->unwind;
	u64 at = unwind->bytes.at, end = unwind->bytes.end;
	u64 next = unwind->cfi.next < limit ? unwind->cfi.next : limit;
	struct unwind_rule rule;
	u32 stop = cfi_rule(unwind, &rule);

	bytes_open(&unwind->bytes, at, end);
	return add_code(reading, unwind->cfi.pc, next, stop ? NULL : &rule);
}

/* What an FDE says of [start, limit); nothing from where on it cannot be read. Behind its end no
 * table covers the code. */
static int add_function(struct reading *reading, u64 start, u64 limit, u64 fde)
{
	static const struct unwind_rule by_code = {.cfa_kind = CFA_BY_CODE};
	struct unwind *unwind = &reading->unwind;
	int result = 0;
	u32 stop;
	u64 end;

	unwind->budget = UNWIND_BUDGET;
	unwind->lookup_pc = start;
	stop = fde_open(unwind, fde);
	if (stop)
		return 0;
	end = unwind->cfi.next;
	result = add_covered(reading, start, end < limit ? end : limit);
	for (stop = fde_run(unwind); !stop && !result; stop = cfi_run_on(unwind, end)) {
		result = add_row(reading, limit);
		if (result || unwind->cfi.next >= end || unwind->cfi.next >= limit)
			break;
	}
	if (result || end <= start || end >= limit)
		return result;
	return add_code(reading, end, limit, &by_code);
}

static bool entry_read(struct reading *reading, u64 i, bool is_fde, u64 *address)
{
	struct eh_search *search = &reading->unwind.eh;
	bool is_read = file_image_read(reading->image, entry_place(search, i, is_fde),
				       &search->entry, sizeof(search->entry));

	*address = entry_address(search, is_fde);
	return is_read;
}

/* The index counts if it ascends, as a search takes for granted. -ENOEXEC: none that does. */
static int add_index(struct reading *reading)
{
	u64 count = reading->unwind.eh.high, start, next = ~0ULL, fde;
	int result = 0;

	if (!entry_read(reading, 0, false, &start))
		return -ENOEXEC;
	for (u64 i = 0; i < count && !result; i++, start = next) {
		if (!entry_read(reading, i, true, &fde))
			return -ENOEXEC;
		if (i + 1 == count)
			next = ~0ULL;
		else if (!entry_read(reading, i + 1, false, &next) || next < start)
			return -ENOEXEC;
		result = add_function(reading, start, next, fde);
	}
	return result;
}

/* One record, opened for what it covers: an FDE, or something else. */
static u32 function_note(struct reading *reading, u64 record)
{
	struct unwind *unwind = &reading->unwind;
	u32 stop;

	unwind->budget = UNWIND_BUDGET;
	unwind->lookup_pc = unwind->pointer = 0;
	stop = fde_open(unwind, record);
	if (stop != STOP_NO_RULE || !unwind->pointer || unwind->cfi.next <= unwind->cfi.location)
		return stop;
	if (array_make_room(reading->functions, reading->count, reading->room))
		return STOP_BUDGET;
	reading->functions[reading->count++] =
		(struct function){unwind->cfi.location, unwind->cfi.next, record};
	return stop;
}

/* A record that cannot be read hides those behind it, as it does from a search. True: none did. */
static bool functions_note(struct reading *reading)
{
	u64 record = reading->unwind.image.eh_frame.start;

	for (u32 i = 0; i < EH_ENTRIES_MAX && record < reading->unwind.image.eh_frame.end; i++) {
		if (function_note(reading, record) != STOP_NO_RULE)
			return false;
		if (reading->unwind.eh.record_end <= record) /* the terminator */
			return true;
		record = reading->unwind.eh.record_end;
	}
	return record >= reading->unwind.image.eh_frame.end;
}

static int by_start(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Of code that two of them cover the search would take the first one in the file. */
static int add_records(struct reading *reading)
{
	bool is_whole;
	int result = 0;

	if (!reading->unwind.image.eh_frame.start)
		return -ENOEXEC;
	is_whole = functions_note(reading);
	if (!reading->count)
		return 0;
	qsort(reading->functions, reading->count, sizeof(*reading->functions), by_start);
	for (u32 i = 0; i < reading->count && !result; i++) {
		const struct function *function = &reading->functions[i];
		u64 limit = i + 1 < reading->count ? function[1].start : ~0ULL;

		if (i && function->start < function[-1].end)
			return -EBADMSG;
		if (!is_whole && limit > function->end)
			limit = function->end;
		result = add_function(reading, function->start, limit, function->fde);
	}
	return result;
}

/* By the index, or without it. A header that is not understood leaves the file without a table. */
static int add_eh_frame(struct reading *reading)
{
	struct unwind *unwind = &reading->unwind;
	u32 stop = STOP_NO_RULE;
	int result;

	unwind->budget = UNWIND_BUDGET;
	if (unwind->image.eh_frame_hdr.start)
		stop = index_open(unwind, &unwind->image.eh_frame_hdr);
	else
		eh_frame_find(unwind);
	if (stop != STOP_NO_RULE && stop != STOP_NONE)
		return -ENOEXEC;
	result = stop ? -ENOEXEC : add_index(reading);
	if (result != -ENOEXEC)
		return result;
	code_rows_clear(reading->rows);
	return add_records(reading);
}

/* Why a section is not read to its end. */
static int stop_error(u32 stop)
{
	return stop == STOP_BUDGET ? -E2BIG : stop == STOP_BAD_TABLE ? -EBADMSG : -ENOEXEC;
}

/* From where on, in its function, the row at the position holds. */
static u32 row_offset(struct unwind *unwind)
{
	struct unwind_bytes *bytes = &unwind->bytes;
	u64 at = bytes->at, offset = 0;

	if (!bytes_ready(unwind))
		offset = bytes_take(bytes, FUNCTION_ADDRESS_BYTES(unwind->sframe.info));
	bytes->at = at;
	return offset;
}

/* The rows at the position, of a function or one of its blocks, which is [start, end). The unwinder
 * goes on to the first row that begins behind the pc: one that begins before its predecessor takes
 * its place. */
static int add_frame_rows(struct reading *reading, u64 start, u64 end)
{
	struct unwind *unwind = &reading->unwind;
	const struct unwind_rule *rule = NULL;
	struct unwind_rule found;
	int result = 0;
	u64 from = start;

	unwind->sframe.stop = STOP_NONE;
	unwind->sframe.pc_offset = UINT32_MAX;
	for (u32 i = 0; i < ROWS_MAX && i < unwind->sframe.rows_left && from < end; i++) {
		u64 next = start + row_offset(unwind);

		if (row_step(i, &unwind))
			return stop_error(unwind->sframe.stop);
		if (next > from) {
			result = add_code(reading, from, next < end ? next : end, rule);
			from = next;
		}
		if (result)
			return result;
		rule = row_rule(&unwind->sframe, &found) ? NULL : &found;
	}
	return from < end ? add_code(reading, from, end, rule) : 0;
}

/* The rows at the position: in a PLT they hold for each block anew. */
static int add_frame_blocks(struct reading *reading, u64 start, u64 end)
{
	struct unwind *unwind = &reading->unwind;
	const struct sframe_search *search = &unwind->sframe;
	bool is_block = FUNCTION_IS_BLOCK(search->info) && search->block_bytes;
	u64 bytes = is_block ? search->block_bytes : end - start;
	u64 rows = unwind->bytes.at, rows_end = unwind->bytes.end;
	int result = 0;

	for (; start < end && !result; start += bytes) {
		if (!unwind_spend(unwind))
			return -E2BIG;
		bytes_open(&unwind->bytes, rows, rows_end);
		result = add_frame_rows(reading, start, end - start < bytes ? end : start + bytes);
	}
	return result;
}

/* Function i of the section, up to `limit`. It is code, or the section lies: what were left out of
 * it would be taken from .eh_frame. */
static int add_frame_function(struct reading *reading, u64 i, u64 limit)
{
	struct unwind *unwind = &reading->unwind;
	const struct sframe_search *search = &unwind->sframe;
	u32 stop = function_read(unwind, i);
	u64 start = search->function, end, code_end, offset;

	if (!stop)
		stop = entry_fields(unwind);
	if (stop)
		return stop_error(stop);
	if (FUNCTION_ROW_TYPE(search->info) > ROW_TYPE_MAX || limit < start)
		return -EBADMSG;
	end = limit - start < search->function_bytes ? limit : start + search->function_bytes;
	code_end = end;
	if (start >= end)
		return 0;
	if (!file_image_code(reading->image, start, &code_end, &offset) || code_end < end)
		return -EBADMSG;
	return add_covered(reading, start, end) ?: add_frame_blocks(reading, start, end);
}

/* A section that the unwinder does not understand has no rows. One that contradicts itself leaves
 * the file without a table: what the unwinder finds there depends on the way of its search. */
static int add_sframe(struct reading *reading)
{
	struct unwind *unwind = &reading->unwind;
	u32 stop = section_open(unwind);
	int result = 0;

	if (stop)
		return stop == STOP_TABLE_UNREADABLE ? -ENOEXEC : 0;
	unwind->budget = SFRAME_BUDGET;
	for (u64 i = 0, count = unwind->sframe.high; i < count && !result; i++) {
		u64 limit = UINT64_MAX;

		stop = i + 1 < count ? function_read(unwind, i + 1) : STOP_NONE;
		if (stop)
			return stop_error(stop);
		if (i + 1 < count)
			limit = unwind->sframe.function;
		result = add_frame_function(reading, i, limit);
	}
	if (reading->rows->rule_count == FILE_TABLE_RULES_MAX) /* some may have found no place */
		return -E2BIG;
	return result;
}

/* .eh_frame below what the section says, which may be all that there is. */
static int add_below(struct reading *reading, const struct code_rows *sframe)
{
	struct code_rows *rows = reading->rows, eh_frame = {};
	int result;

	reading->rows = &eh_frame;
	result = add_eh_frame(reading);
	reading->rows = rows;
	if (result == -ENOEXEC && sframe->count) {
		code_rows_clear(&eh_frame);
		result = 0;
	}
	result = result ?: code_rows_merge(rows, sframe, &eh_frame);
	code_rows_clear(&eh_frame);
	return result;
}

static int add_both(struct reading *reading)
{
	struct code_rows *rows = reading->rows, sframe = {};
	int result;

	reading->rows = &sframe;
	result = add_sframe(reading);
	reading->rows = rows;
	result = result ?: add_below(reading, &sframe);
	code_rows_clear(&sframe);
	return result;
}

/* A header that no segment holds does not say where the file would be mapped, which is known. */
static u32 enter_file(struct unwind *unwind)
{
	u32 stop = image_enter(unwind);

	if (stop || unwind->mapping.image != FILE_IMAGE_HEADER)
		return stop;
	unwind->image = (struct unwind_image){.header = FILE_IMAGE_HEADER, .bias = FILE_IMAGE_BASE};
	core_loop(SEGMENTS_MAX, segment_take, &unwind);
	return unwind->image.header ? STOP_NONE : STOP_TABLE_UNREADABLE;
}

static int read_tables(struct reading *reading)
{
	struct unwind *unwind = &reading->unwind;

	unwind->memory = reading->image;
	unwind->budget = UNWIND_BUDGET;
	unwind->mapping.image = file_image_header(reading->image);
	if (enter_file(unwind))
		return -ENOEXEC;
	return unwind->image.sframe.start ? add_both(reading) : add_eh_frame(reading);
}

int code_rows_read_tables(int file, struct code_rows *rows, struct file_spans *covered)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	int result = reading ? 0 : -ENOMEM;

	if (!result) {
		reading->rows = rows;
		reading->covered = covered;
		result = file_image_create(file, &reading->image);
	}
	if (!result) {
		result = read_tables(reading);
		file_image_free(&reading->image);
		free(reading->functions);
	}
	free(reading);
	return result;
}

/* True if [start, end) is code of one segment and no span of `covered` overlaps it. */
static bool is_free(const struct reading *reading, u64 start, u64 end,
		    const struct file_spans *covered)
{
	u32 low = 0, high = covered->count;
	u64 code_end = end, offset;

	if (end - FILE_IMAGE_BASE > INT32_MAX ||
	    !file_image_code(reading->image, start, &code_end, &offset) || code_end != end)
		return false;
	start -= FILE_IMAGE_BASE;
	end -= FILE_IMAGE_BASE;
	while (low < high) {
		u32 middle = (low + high) / 2;

		if (covered->spans[middle].end <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low == covered->count || covered->spans[low].start >= end;
}

/* Where functions overlap the first one counts: functions that the linker dropped all lie at 0. */
static int add_debug(struct reading *reading, u32 bytes, const struct file_spans *covered)
{
	struct unwind *unwind = &reading->unwind;
	const struct image_range range = {FILE_IMAGE_LENT, FILE_IMAGE_LENT + bytes};
	u64 behind = 0;
	int result = 0;

	unwind->memory = reading->image;
	unwind->image.bias = FILE_IMAGE_BASE;
	unwind->image.segment_count = 1;
	unwind->image.segment[0] = unwind->image.eh_frame = range;
	functions_note(reading);
	if (reading->count)
		qsort(reading->functions, reading->count, sizeof(*reading->functions), by_start);
	for (u32 i = 0; i < reading->count && !result; i++) {
		const struct function *function = &reading->functions[i];

		if (function->start < behind ||
		    !is_free(reading, function->start, function->end, covered))
			continue;
		behind = function->end;
		result = add_function(reading, function->start, function->end, function->fde);
	}
	return result;
}

int code_rows_read_debug(int file, const struct file_spans *covered, struct code_rows *rows,
			 struct file_spans *found)
{
	struct debug_frame frame;
	struct reading *reading;
	int result = debug_frame_read(file, FILE_IMAGE_BASE, &frame);

	if (result)
		return result;
	reading = calloc(1, sizeof(*reading));
	result = reading ? file_image_create(file, &reading->image) : -ENOMEM;
	if (!result) {
		reading->rows = rows;
		reading->covered = found;
		file_image_lend(reading->image, frame.records, frame.bytes);
		result = add_debug(reading, frame.bytes, covered);
		file_image_free(&reading->image);
		free(reading->functions);
	}
	free(reading);
	free(frame.records);
	return result;
}
