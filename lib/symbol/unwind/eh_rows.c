/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of a file are what the unwinder itself makes of each FDE: it is run on the file,
 * function by function, and where it would stop at the end of a row, it is run on. So a table says
 * what the unwinder would say, or nothing: each function of the index has what lies between it and
 * the next one, as far as its FDE covers that; of a file without index each FDE has its own.
 *
 * As an embedder it has a copy of the core of its own (CORE_EMBEDDED).
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "code_rows.h"
#include "file_image.h"

#define CORE_EMBEDDED
#include "unwind/unwind.h"

bool unwind_read(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return file_image_read(unwind->memory, address, buffer, bytes);
}

bool unwind_refill(struct unwind *unwind)
{
	(void)unwind;
	return false;
}

bool unwind_find_mapping(struct unwind *unwind, u64 pc)
{
	(void)unwind;
	(void)pc;
	return false;
}

u64 unwind_frame(struct unwind *unwind, u64 pc)
{
	(void)unwind;
	return pc;
}

bool unwind_recall(struct unwind *unwind)
{
	(void)unwind;
	return false;
}

void unwind_remember(struct unwind *unwind)
{
	(void)unwind;
}

#include "unwind/cfi.c"
#include "unwind/cfi_rule.c"
#include "unwind/code_scan.c"
#include "unwind/dwarf_expr.c"
#include "unwind/eh_frame.c"
#include "unwind/sframe.c"
#include "unwind/unwind.c"
#include "unwind/unwind_bytes.c"
#include "unwind/unwind_code.c"
#include "unwind/unwind_image.c"
#include "unwind/unwind_step.c"

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
};

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

/* What an FDE says of [start, limit); nothing from where on it cannot be read. */
static int add_function(struct reading *reading, u64 start, u64 limit, u64 fde)
{
	struct unwind *unwind = &reading->unwind;
	u32 stop;
	u64 end;

	unwind->budget = UNWIND_BUDGET;
	unwind->lookup_pc = start;
	stop = fde_open(unwind, fde);
	if (stop)
		return 0;
	end = unwind->cfi.next;
	for (stop = fde_run(unwind); !stop; stop = cfi_run_on(unwind, end)) {
		int result = add_row(reading, limit);

		if (result || unwind->cfi.next >= end || unwind->cfi.next >= limit)
			return result;
	}
	return 0;
}

static bool entry_read(struct reading *reading, u64 i, struct eh_index_entry *entry)
{
	return file_image_read(reading->image, reading->unwind.eh.index + i * sizeof(*entry), entry,
			       sizeof(*entry));
}

/* The index counts if it ascends, as a search takes for granted. */
static int add_index(struct reading *reading)
{
	struct eh_search *search = &reading->unwind.eh;
	struct eh_index_entry entry, next = {};
	u64 count, header;
	int result = 0;

	if (index_open(&reading->unwind, &reading->unwind.image.eh_frame_hdr) ||
	    !entry_read(reading, 0, &entry))
		return -ENOEXEC;
	count = search->high;
	header = search->header;
	for (u64 i = 0; i < count && !result; i++, entry = next) {
		u64 start = header + entry.function, limit = ~0ULL;

		if (i + 1 < count && !entry_read(reading, i + 1, &next))
			return -ENOEXEC;
		if (i + 1 < count)
			limit = header + next.function;
		if (limit < start)
			return -EBADMSG;
		result = add_function(reading, start, limit, header + entry.fde);
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

/* A record that cannot be read hides those behind it, as it does from a search. */
static void functions_note(struct reading *reading)
{
	u64 record = reading->unwind.image.eh_frame.start;

	for (u32 i = 0; i < EH_ENTRIES_MAX && record < reading->unwind.image.eh_frame.end; i++) {
		if (function_note(reading, record) != STOP_NO_RULE ||
		    reading->unwind.eh.record_end <= record)
			return;
		record = reading->unwind.eh.record_end;
	}
}

static int by_start(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Of code that two of them cover the search would take the first one in the file. */
static int add_records(struct reading *reading)
{
	int result = 0;

	eh_frame_find(&reading->unwind);
	if (!reading->unwind.image.eh_frame.start)
		return -ENOEXEC;
	functions_note(reading);
	if (!reading->count)
		return 0;
	qsort(reading->functions, reading->count, sizeof(*reading->functions), by_start);
	for (u32 i = 0; i < reading->count && !result; i++) {
		const struct function *function = &reading->functions[i];

		if (i && function->start < function[-1].end)
			return -EBADMSG;
		result = add_function(reading, function->start, function->end, function->fde);
	}
	return result;
}

/* SFrame sections count before .eh_frame, and are not read here. */
static int read_tables(struct reading *reading)
{
	struct unwind *unwind = &reading->unwind;

	unwind->memory = reading->image;
	unwind->budget = UNWIND_BUDGET;
	unwind->mapping.image = file_image_header(reading->image);
	if (!unwind->mapping.image || image_enter(unwind) || unwind->image.sframe.start)
		return -ENOEXEC;
	return unwind->image.eh_frame_hdr.start ? add_index(reading) : add_records(reading);
}

int code_rows_read(int file, struct code_rows *rows)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	int result = reading ? 0 : -ENOMEM;

	if (!result) {
		reading->rows = rows;
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
