/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder of core/ makes the rows: it runs on the file, function by function, and goes on
 * where it would stop at the end of a row. A row is therefore always equal to the rule that the
 * unwinder would find. A function of the index reaches to the next function of the index, as far as
 * its FDE covers the range. A file whose index cannot be searched is read record by record.
 *
 * The unwinder prefers an SFrame section and falls back to .eh_frame at each pc that the section
 * does not cover. Rows of .eh_frame therefore count only where the section has no row.
 *
 * This file embeds its own copy of the core (CORE_EMBEDDED).
 */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "array.h"
#include "code_rows.h"
#include "file_image.h"
#include "file_table.h"
#include "hash_index.h"
#include "order.h"
#include "scalar.h"

/* One section of an ELF file, unpacked. The file may hold any bytes. */

struct file_section {
	u8 *bytes; /* unpacked bytes of the section, for the caller to free */
	u64 count;
	u64 address; /* address at which the section is mapped; 0 = the section is not mapped */
};

/* The file is not trusted, so each size is checked before memory is allocated. Deflate makes at
 * most 1032 bytes of one byte; a section with a larger ratio is rejected, for zstd too. */

#define SECTIONS_MAX 4096
#define SECTION_BYTES_MAX (128ULL << 20)
#define INFLATED_MAX(bytes) (1032 * (bytes) + 1024)
#define TYPE_ZSTD 2 /* the value of ELFCOMPRESS_ZSTD, which older versions of elf.h lack */

/* Reads a part of the file and puts a zero byte after it, for the caller to free; NULL: it cannot
 * be read.
 */
static void *read_file_part(int file, u64 offset, u64 bytes)
{
	u8 *part;

	if (!bytes || bytes > SECTION_BYTES_MAX || offset > INT64_MAX - bytes)
		return NULL;
	part = malloc(bytes + 1);
	if (part && pread(file, part, bytes, offset) != (ssize_t)bytes) {
		free(part);
		return NULL;
	}
	if (part)
		part[bytes] = 0;
	return part;
}

/* Finds the header of the first section whose name ends with `name`. 0 or -ENOENT. */
static int find_section(int file, const char *name, Elf64_Shdr *found)
{
	Elf64_Ehdr header;
	Elf64_Shdr *sections = NULL;
	char *names = NULL;
	int result = -ENOENT;
	u64 bytes;

	if (pread(file, &header, sizeof(header), 0) != sizeof(header) ||
	    header.e_shentsize != sizeof(*sections) || header.e_shnum > SECTIONS_MAX ||
	    header.e_shstrndx >= header.e_shnum)
		return -ENOENT;
	sections = read_file_part(file, header.e_shoff, (u64)header.e_shnum * sizeof(*sections));
	bytes = sections ? sections[header.e_shstrndx].sh_size : 0;
	if (sections)
		names = read_file_part(file, sections[header.e_shstrndx].sh_offset, bytes);
	for (u32 i = 0; names && i < header.e_shnum && result; i++) {
		const char *end = NULL;

		if (sections[i].sh_name < bytes && sections[i].sh_type != SHT_NOBITS)
			end = strchr(names + sections[i].sh_name, 0) - strlen(name);
		if (end && end >= names + sections[i].sh_name && !strcmp(end, name)) {
			*found = sections[i];
			result = 0;
		}
	}
	free(names);
	free(sections);
	return result;
}

/* Replaces the compressed bytes of a section by the unpacked ones. */
static int unpack_section(struct file_section *section)
{
	Elf64_Chdr packed;
	unsigned long count, left;
	bool is_unpacked = false;
	const u8 *content;
	u8 *unpacked;

	if (section->count <= sizeof(packed))
		return -EBADMSG;
	memcpy(&packed, section->bytes, sizeof(packed));
	if (!packed.ch_size || packed.ch_size > SECTION_BYTES_MAX ||
	    packed.ch_size > INFLATED_MAX(section->count))
		return -EBADMSG;
	unpacked = malloc(packed.ch_size);
	if (!unpacked)
		return -ENOMEM;
	content = section->bytes + sizeof(packed);
	left = section->count - sizeof(packed);
	count = packed.ch_size;
	if (packed.ch_type == TYPE_ZSTD)
		is_unpacked = ZSTD_decompress(unpacked, count, content, left) == count;
	else if (packed.ch_type == ELFCOMPRESS_ZLIB)
		is_unpacked = uncompress(unpacked, &count, content, left) == Z_OK &&
			      count == packed.ch_size;
	if (!is_unpacked) {
		free(unpacked);
		return -EBADMSG;
	}
	free(section->bytes);
	section->bytes = unpacked;
	section->count = packed.ch_size;
	return 0;
}

/* Reads the first section whose name ends with `name`. -ENOENT: no such section; -EBADMSG: the
 * section cannot be read or unpacked, or is larger than 128 MiB; -ENOMEM. */
static int file_section_read(int file, const char *name, struct file_section *section)
{
	struct file_section made = {};
	Elf64_Shdr header = {};
	int result = find_section(file, name, &header);

	if (result)
		return result;
	made = (struct file_section){.bytes =
					     read_file_part(file, header.sh_offset, header.sh_size),
				     .count = header.sh_size,
				     .address = header.sh_flags & SHF_ALLOC ? header.sh_addr : 0};
	if (!made.bytes)
		return -EBADMSG;
	if (header.sh_flags & SHF_COMPRESSED)
		result = unpack_section(&made);
	if (result)
		free(made.bytes);
	else
		*section = made;
	return result;
}

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

/*
 * .debug_frame is rewritten as records of an .eh_frame, so that one parser reads both (DWARF
 * 5, 6.4.1; Linux Standard Base, .eh_frame). Programs that are built with
 * -fno-asynchronous-unwind-tables and -g have only .debug_frame.
 *
 * A CIE gets the id 0, a version of .eh_frame (1 or 3) and an augmentation that begins with z, so
 * that a signal frame (S) is understood. Each FDE gets augmentation data of length 0, and the
 * distance back to its CIE in place of the CIE's offset in the section.
 */

#define LENGTH_BYTES 4
/* In the length field of a record, values from here on mark 64-bit DWARF. */
#define LENGTH_RESERVED 0xfffffff0U
#define CIE_ID 0xffffffffU
#define ADDRESS_BYTES 8

/* A CIE that was converted. */
struct cie {
	u32 offset; /* offset of the CIE in .debug_frame */
	u32 record; /* offset of the converted CIE in the written records */
};

struct writing {
	const u8 *section;
	u32 end;     /* end of the current record in .debug_frame */
	u8 *records; /* the converted records */
	u32 bytes, room;
	struct cie *cies; /* the converted CIEs, by ascending offset in .debug_frame */
	u32 cie_count, cie_room;
	u64 base;
};

static int append_bytes(struct writing *writing, const void *data, u32 bytes)
{
	if (array_make_rooms(writing->records, (u64)writing->bytes + bytes, writing->room))
		return -ENOMEM;
	memcpy(writing->records + writing->bytes, data, bytes);
	writing->bytes += bytes;
	return 0;
}

/* Sets the length of the record that begins at `record` and has just been written. */
static void set_length_of_written_record(struct writing *writing, u32 record)
{
	u32 length = writing->bytes - record - LENGTH_BYTES;

	memcpy(writing->records + record, &length, sizeof(length));
}

/* The offset after the LEB128 number at `at`; 0: the number does not end within the record. */
static u32 offset_after_leb128(const struct writing *writing, u32 at)
{
	while (at && at < writing->end)
		if (!(writing->section[at++] & 0x80))
			return at;
	return 0;
}

/* Converts the CIE at `offset` of .debug_frame, whose version is at `at`, to a record of .eh_frame.
 * A CIE that is not understood is skipped. */
static int convert_cie(struct writing *writing, u32 offset, u32 at)
{
	const u8 *section = writing->section, *text = section + at + 1;
	u8 version = at < writing->end ? section[at] : 0, eh_version = version == 1 ? 1 : 3;
	const u8 *text_end = at < writing->end ? memchr(text, 0, writing->end - at - 1) : NULL;
	u32 record = writing->bytes, numbers, column, end;
	static const u8 zeroes[8];
	bool is_signal;
	int result;

	if (!text_end || (version != 1 && version != 3 && version != 4))
		return 0;
	is_signal = text_end - text == 1 && *text == 'S';
	if (text_end != text && !is_signal)
		return 0;
	numbers = text_end + 1 - section;
	if (version == 4) {
		if (writing->end - numbers < 2 || section[numbers] != ADDRESS_BYTES ||
		    section[numbers + 1])
			return 0;
		numbers += 2;
	}
	column = offset_after_leb128(writing, offset_after_leb128(writing, numbers));
	end = version == 1 ? column + 1 : offset_after_leb128(writing, column);
	if (!column || !end || end > writing->end)
		return 0;
	if (array_make_room(writing->cies, writing->cie_count, writing->cie_room))
		return -ENOMEM;
	writing->cies[writing->cie_count++] = (struct cie){offset, record};
	result = append_bytes(writing, zeroes, LENGTH_BYTES + 4);
	result = result ?: append_bytes(writing, &eh_version, 1);
	result = result ?: append_bytes(writing, is_signal ? "zS" : "z", is_signal ? 3 : 2);
	result = result ?: append_bytes(writing, section + numbers, end - numbers);
	result = result ?: append_bytes(writing, zeroes, 1); /* length 0 of the augmentation data */
	result = result ?: append_bytes(writing, section + end, writing->end - end);
	if (!result)
		set_length_of_written_record(writing, record);
	return result;
}

/* Converts the FDE of .debug_frame whose address is at `at` to a record of .eh_frame. An FDE whose
 * CIE was skipped is skipped. */
static int convert_fde(struct writing *writing, u32 cie_offset, u32 at)
{
	const struct cie *cies = writing->cies;
	u32 i = bisect(writing->cie_count, cie, cies[cie].offset < cie_offset);
	u32 record = writing->bytes, back;
	u64 address;
	int result;

	if (i == writing->cie_count || cies[i].offset != cie_offset ||
	    writing->end - at < 2 * ADDRESS_BYTES)
		return 0;
	memcpy(&address, writing->section + at, sizeof(address));
	address += writing->base;
	back = record + LENGTH_BYTES - cies[i].record;
	/* Room for the record's length, which set_length_of_written_record() sets. */
	result = append_bytes(writing, &back, LENGTH_BYTES);
	result = result ?: append_bytes(writing, &back, sizeof(back));
	result = result ?: append_bytes(writing, &address, sizeof(address));
	result = result
			 ?: append_bytes(writing, writing->section + at + ADDRESS_BYTES,
					 ADDRESS_BYTES);
	result = result ?: append_bytes(writing, "", 1);
	result = result
			 ?: append_bytes(writing, writing->section + at + 2 * ADDRESS_BYTES,
					 writing->end - at - 2 * ADDRESS_BYTES);
	if (!result)
		set_length_of_written_record(writing, record);
	return result;
}

/* Converts .debug_frame of a file to records, for the caller to free; `base` is added to addresses
 * of functions. CIEs that are not understood are left out with their FDEs. -ENOENT: the file has no
 * .debug_frame; -EBADMSG, -ENOMEM. */
static int convert_debug_frame_to_eh_frame_records(int file, u64 base, u8 **records, u32 *bytes)
{
	struct file_section section = {};
	struct writing writing = {.base = base};
	int result = file_section_read(file, ".debug_frame", &section);
	u32 at = 0, length, id;

	if (result)
		return result;
	writing.section = section.bytes;
	while (!result && (u32)section.count - at > LENGTH_BYTES + sizeof(id)) {
		u32 offset = at;

		memcpy(&length, section.bytes + at, sizeof(length));
		at += LENGTH_BYTES;
		if (length >= LENGTH_RESERVED || length < sizeof(id) || length > section.count - at)
			break;
		memcpy(&id, section.bytes + at, sizeof(id));
		writing.end = at + length;
		result = id == CIE_ID ? convert_cie(&writing, offset, at + sizeof(id))
				      : convert_fde(&writing, id, at + sizeof(id));
		at += length;
	}
	if (result) {
		free(writing.records);
	} else {
		*records = writing.records;
		*bytes = writing.bytes;
	}
	free(writing.cies);
	free(section.bytes);
	return result;
}

/* Unwinder's budget for all functions of an SFrame section. */
#define SFRAME_BUDGET (2 * CODE_ROWS_MAX)

/* A function of a section without a search table. */
struct function {
	u64 start;
	u64 end;
	u64 fde;
};

#define KNOWN_RULES 256 /* entries of the cache of rules; a power of two */

/* The number of cells that decide the rule of a row: the CFA, COLUMN_SAVED and the columns after
 * it. */
#define ROW_CELLS (1 + COLUMN_SP)

/* A cached rule. The CIE and the cells of a row determine the rule, since the bytes of expressions
 * follow the CIE. */
struct known_rule {
	u64 cie; /* address of the CIE; 0: the entry is unused */
	u64 cells[ROW_CELLS];
	struct unwind_rule rule;
};

struct reading {
	struct known_rule known[KNOWN_RULES];
	struct file_image *image;
	struct code_rows *rows;
	struct unwind unwind;
	struct function *functions;
	u32 count, room;
	struct file_spans *covered;
};

/* Records that a table covers [start, end). */
static int add_covered_range(struct reading *reading, u64 start, u64 end)
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

/* Adds a row for the parts of [start, end) that are code. */
static int add_row_for_code(struct reading *reading, u64 start, u64 end,
			    const struct unwind_rule *rule)
{
	u64 code_end = end, offset;

	if (!file_image_code_offset(reading->image, start, &code_end, &offset))
		return 0;
	return code_rows_add(reading->rows, offset, offset + (code_end - start), rule);
}

_Static_assert(sizeof(struct cfi_cell) == sizeof(u64), "cells are compared as words");
_Static_assert(COLUMN_IGNORED == 0 && COLUMN_SAVED == 1, "the other cells lie side by side");

/* Computes the rule of the row at unwind->cfi; NULL: the row has none. Rules repeat (a file of
 * 480,000 rows has 800 rules), so they are cached. The position in the table, which an expression
 * moves, is restored. */
static const struct unwind_rule *compute_rule_of_current_row(struct reading *reading)
{
	struct unwind *unwind = &reading->unwind;
	u64 cie = unwind->cfi.entry.cie, at = unwind->bytes.at, end = unwind->bytes.end;
	u64 cells[ROW_CELLS], mixed = 0;
	struct known_rule *known;
	u32 stop;

	memcpy(cells, &unwind->cfi.row.cfa, sizeof(*cells));
	memcpy(cells + 1, &unwind->cfi.row.column[COLUMN_SAVED], sizeof(cells) - sizeof(*cells));
	for (u32 i = 0; i < ROW_CELLS; i++)
		mixed = (mixed << 7 | mixed >> 57) ^ cells[i];
	known = &reading->known[hash_end(mixed) & (KNOWN_RULES - 1)];
	if (known->cie == cie && !memcmp(known->cells, cells, sizeof(cells)))
		return &known->rule;
	stop = cfi_rule(unwind, &known->rule);
	bytes_set_range(&unwind->bytes, at, end);
	known->cie = stop ? 0 : cie;
	memcpy(known->cells, cells, sizeof(cells));
	return stop ? NULL : &known->rule;
}

/* Adds the rows of an FDE for [start, limit), up to the first row that cannot be read. Code after
 * the end of the FDE gets a rule by which the unwinder reads the machine code at the event. */
static int add_function_of_fde(struct reading *reading, u64 start, u64 limit, u64 fde)
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
	result = add_covered_range(reading, start, end < limit ? end : limit);
	for (stop = run_fde_instructions(unwind); !stop && !result;
	     stop = cfi_run_to_next_row(unwind, end)) {
		/* Adds the row at unwind->cfi, which holds at most up to `limit`. */
		const struct cfi *cfi = &reading->unwind.cfi;
		u64 next = cfi->next < limit ? cfi->next : limit;

		result = add_row_for_code(reading, cfi->pc, next,
					  compute_rule_of_current_row(reading));
		if (result || unwind->cfi.next >= end || unwind->cfi.next >= limit)
			break;
	}
	if (result || end <= start || end >= limit)
		return result;
	return add_row_for_code(reading, end, limit, &by_code);
}

static bool read_index_entry(struct reading *reading, u64 i, bool is_fde, u64 *address)
{
	struct eh_search *search = &reading->unwind.eh;
	bool is_read = file_image_read(reading->image, index_field_address(search, i, is_fde),
				       &search->entry, sizeof(search->entry));

	*address = decode_index_field(search, is_fde);
	return is_read;
}

/* Adds the functions of the search table (.eh_frame_hdr), whose addresses must ascend, as a search
 * assumes. -ENOEXEC: the addresses do not ascend, or cannot be read. */
static int add_functions_by_index(struct reading *reading)
{
	u64 count = reading->unwind.eh.high, start, next = ~0ULL, fde;
	int result = 0;

	if (!read_index_entry(reading, 0, false, &start))
		return -ENOEXEC;
	for (u64 i = 0; i < count && !result; i++, start = next) {
		if (!read_index_entry(reading, i, true, &fde))
			return -ENOEXEC;
		if (i + 1 == count)
			next = ~0ULL;
		else if (!read_index_entry(reading, i + 1, false, &next) || next < start)
			return -ENOEXEC;
		result = add_function_of_fde(reading, start, next, fde);
	}
	return result;
}

/* Collects the functions of all records of .eh_frame, up to the first record whose length cannot be
 * read, at which a search by the unwinder stops, too. True: all records were read. */
static bool collect_functions(struct reading *reading)
{
	struct unwind *unwind = &reading->unwind;
	const struct cfi *cfi = &unwind->cfi;
	u64 record = unwind->image.eh_frame.start;

	for (u32 i = 0; i < EH_ENTRIES_MAX && record < unwind->image.eh_frame.end; i++) {
		u32 stop;

		unwind->budget = UNWIND_BUDGET;
		unwind->lookup_pc = unwind->pointer = 0;
		stop = fde_open(unwind, record);
		if (stop == STOP_NO_RULE && unwind->pointer && cfi->next > cfi->location) {
			if (array_make_room(reading->functions, reading->count, reading->room))
				return false;
			reading->functions[reading->count++] =
				(struct function){cfi->location, cfi->next, record};
		}
		if (stop != STOP_NO_RULE &&
		    (stop != STOP_UNSUPPORTED || unwind->eh.record_end <= record))
			return false;
		if (unwind->eh.record_end <= record) /* the terminator */
			return true;
		record = unwind->eh.record_end;
	}
	return record >= unwind->image.eh_frame.end;
}

static int compare_function_starts(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Adds the functions of all records of .eh_frame. If two cover the same code, a search would take
 * the first one in the file, so the whole table is rejected. */
static int add_functions_by_records(struct reading *reading)
{
	bool is_whole;
	int result = 0;

	if (!reading->unwind.image.eh_frame.start)
		return -ENOEXEC;
	is_whole = collect_functions(reading);
	if (!reading->count)
		return 0;
	qsort(reading->functions, reading->count, sizeof(*reading->functions),
	      compare_function_starts);
	for (u32 i = 0; i < reading->count && !result; i++) {
		const struct function *function = &reading->functions[i];
		u64 limit = i + 1 < reading->count ? function[1].start : ~0ULL;

		if (i && function->start < function[-1].end)
			return -EBADMSG;
		if (!is_whole && limit > function->end)
			limit = function->end;
		result = add_function_of_fde(reading, function->start, limit, function->fde);
	}
	return result;
}

/* Adds the functions of .eh_frame, by the search table or by the records. A file with an unknown
 * .eh_frame_hdr has no table.
 */
static int add_eh_frame(struct reading *reading)
{
	struct unwind *unwind = &reading->unwind;
	u32 stop = STOP_NO_RULE;
	int result;

	unwind->budget = UNWIND_BUDGET;
	if (unwind->image.eh_frame_hdr.start)
		stop = open_eh_frame_hdr(unwind, &unwind->image.eh_frame_hdr);
	else
		search_eh_frame_without_headers(unwind);
	if (stop != STOP_NO_RULE && stop != STOP_NONE)
		return -ENOEXEC;
	result = stop ? -ENOEXEC : add_functions_by_index(reading);
	if (result != -ENOEXEC)
		return result;
	code_rows_clear(reading->rows);
	return add_functions_by_records(reading);
}

static int errno_of_stop(u32 stop)
{
	return stop == STOP_BUDGET ? -E2BIG : stop == STOP_BAD_TABLE ? -EBADMSG : -ENOEXEC;
}

/* The distance from the start of a function to the begin of the SFrame row that the unwinder reads
 * next. */
static u32 row_offset_in_function(struct unwind *unwind)
{
	struct unwind_bytes *bytes = &unwind->bytes;
	u64 at = bytes->at, offset = 0;

	if (!bytes_make_ready(unwind))
		offset = bytes_take(bytes, FUNCTION_ADDRESS_BYTES(unwind->sframe.info));
	bytes->at = at;
	return offset;
}

/* Adds the SFrame rows that the unwinder reads next, for a function or a block [start, end). The
 * unwinder applies the row before the first row that begins after the pc. Therefore a row that
 * begins no later than its predecessor replaces the predecessor. */
static int add_sframe_rows(struct reading *reading, u64 start, u64 end)
{
	struct unwind *unwind = &reading->unwind;
	const struct unwind_rule *rule = NULL;
	struct unwind_rule found;
	int result = 0;
	u64 from = start;

	unwind->sframe.stop = STOP_NONE;
	unwind->sframe.pc_offset = UINT32_MAX;
	for (u32 i = 0; i < ROWS_MAX && i < unwind->sframe.rows_left && from < end; i++) {
		u64 next = start + row_offset_in_function(unwind);

		if (read_next_sframe_row(i, &unwind))
			return errno_of_stop(unwind->sframe.stop);
		if (next > from) {
			result = add_row_for_code(reading, from, next < end ? next : end, rule);
			from = next;
		}
		if (result)
			return result;
		rule = make_row_rule(&unwind->sframe, &found) ? NULL : &found;
	}
	return from < end ? add_row_for_code(reading, from, end, rule) : 0;
}

/* Adds the SFrame rows of a function. In a PLT the same rows hold for each block. */
static int add_sframe_blocks(struct reading *reading, u64 start, u64 end)
{
	struct unwind *unwind = &reading->unwind;
	const struct sframe_search *search = &unwind->sframe;
	bool is_block = FUNCTION_IS_BLOCK(search->info) && search->block_bytes;
	u64 bytes = is_block ? search->block_bytes : end - start;
	u64 rows = unwind->bytes.at, rows_end = unwind->bytes.end;
	int result = 0;

	for (; start < end && !result; start += bytes) {
		if (!unwind_spend_budget(unwind))
			return -E2BIG;
		bytes_set_range(&unwind->bytes, rows, rows_end);
		result = add_sframe_rows(reading, start, end - start < bytes ? end : start + bytes);
	}
	return result;
}

/* Adds function i of the SFrame section, up to `limit`. All of the function must be code, or the
 * section is damaged: code that is left out would get the rows of .eh_frame. */
static int add_sframe_function(struct reading *reading, u64 i, u64 limit)
{
	struct unwind *unwind = &reading->unwind;
	const struct sframe_search *search = &unwind->sframe;
	u32 stop = read_function_address(unwind, i);
	u64 start = search->function, end, code_end, offset;

	if (!stop)
		stop = read_sframe_entry_fields(unwind);
	if (stop)
		return errno_of_stop(stop);
	if (FUNCTION_ROW_TYPE(search->info) > ROW_TYPE_MAX || limit < start)
		return -EBADMSG;
	end = limit - start < search->function_bytes ? limit : start + search->function_bytes;
	code_end = end;
	if (start >= end)
		return 0;
	if (!file_image_code_offset(reading->image, start, &code_end, &offset) || code_end < end)
		return -EBADMSG;
	return add_covered_range(reading, start, end) ?: add_sframe_blocks(reading, start, end);
}

/* Adds the functions of an SFrame section. A section that the unwinder does not understand has no
 * rows. A section that contradicts itself leaves the file without a table, as the rule that the
 * unwinder finds depends on its search. */
static int add_sframe(struct reading *reading)
{
	struct unwind *unwind = &reading->unwind;
	u32 stop = open_sframe_section(unwind);
	int result = 0;

	if (stop)
		return stop == STOP_TABLE_UNREADABLE ? -ENOEXEC : 0;
	unwind->budget = SFRAME_BUDGET;
	for (u64 i = 0, count = unwind->sframe.high; i < count && !result; i++) {
		u64 limit = UINT64_MAX;

		stop = i + 1 < count ? read_function_address(unwind, i + 1) : STOP_NONE;
		if (stop)
			return errno_of_stop(stop);
		if (i + 1 < count)
			limit = unwind->sframe.function;
		result = add_sframe_function(reading, i, limit);
	}
	/* The list of rules is full, so some rows may have lost their rule. */
	if (reading->rows->rule_count == FILE_TABLE_RULES_MAX)
		return -E2BIG;
	return result;
}

/* Adds the rows of the SFrame section, and for code without such rows those of .eh_frame, which may
 * be missing. */
static int add_sframe_and_eh_frame(struct reading *reading)
{
	struct code_rows *rows = reading->rows, sframe = {}, eh_frame = {};
	int result;

	reading->rows = &sframe;
	result = add_sframe(reading);
	reading->rows = &eh_frame;
	result = result ?: add_eh_frame(reading);
	reading->rows = rows;
	if (result == -ENOEXEC && sframe.count) {
		code_rows_clear(&eh_frame);
		result = 0;
	}
	result = result ?: code_rows_merge(rows, &sframe, &eh_frame);
	code_rows_clear(&eh_frame);
	code_rows_clear(&sframe);
	return result;
}

/* Reads the ELF header. If no segment maps the header, the header's address does not give the load
 * address; but the load address of an image is known. */
static u32 read_elf_header(struct unwind *unwind)
{
	u32 stop = image_read_headers(unwind);

	if (stop || unwind->mapping.image != FILE_IMAGE_HEADER)
		return stop;
	unwind->image = (struct unwind_image){.header = FILE_IMAGE_HEADER, .bias = FILE_IMAGE_BASE};
	core_loop(SEGMENTS_MAX, read_program_header, &unwind);
	return unwind->image.header ? STOP_NONE : STOP_TABLE_UNREADABLE;
}

int code_rows_read_tables(int file, struct code_rows *rows, struct file_spans *covered)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	int result = reading ? file_image_create(file, &reading->image) : -ENOMEM;

	if (!result) {
		struct unwind *unwind = &reading->unwind;

		reading->rows = rows;
		reading->covered = covered;
		unwind->memory = reading->image;
		unwind->budget = UNWIND_BUDGET;
		unwind->mapping.image = file_image_header_address(reading->image);
		if (read_elf_header(unwind))
			result = -ENOEXEC;
		else
			result = unwind->image.sframe.start ? add_sframe_and_eh_frame(reading)
							    : add_eh_frame(reading);
		file_image_free(&reading->image);
		free(reading->functions);
	}
	free(reading);
	return result;
}

/* True if [start, end) is code of one segment and no span of `covered` overlaps it. */
static bool is_uncovered_code(const struct reading *reading, u64 start, u64 end,
			      const struct file_spans *covered)
{
	u64 code_end = end, offset;
	u32 first;

	if (end - FILE_IMAGE_BASE > INT32_MAX ||
	    !file_image_code_offset(reading->image, start, &code_end, &offset) || code_end != end)
		return false;
	start -= FILE_IMAGE_BASE;
	end -= FILE_IMAGE_BASE;
	first = bisect(covered->count, i, covered->spans[i].end <= start);
	return first == covered->count || covered->spans[first].start >= end;
}

/* Adds the functions of .debug_frame that no other table covers. If functions overlap, the first
 * one counts: functions that the linker removed all begin at 0. */
static int add_debug_frame_functions(struct reading *reading, u32 bytes,
				     const struct file_spans *covered)
{
	struct unwind *unwind = &reading->unwind;
	const struct image_range range = {FILE_IMAGE_LENT, FILE_IMAGE_LENT + bytes};
	u64 behind = 0;
	int result = 0;

	unwind->memory = reading->image;
	unwind->image.bias = FILE_IMAGE_BASE;
	unwind->image.segment_count = 1;
	unwind->image.segment[0] = unwind->image.eh_frame = range;
	collect_functions(reading);
	if (reading->count)
		qsort(reading->functions, reading->count, sizeof(*reading->functions),
		      compare_function_starts);
	for (u32 i = 0; i < reading->count && !result; i++) {
		const struct function *function = &reading->functions[i];

		if (function->start < behind ||
		    !is_uncovered_code(reading, function->start, function->end, covered))
			continue;
		behind = function->end;
		result =
			add_function_of_fde(reading, function->start, function->end, function->fde);
	}
	return result;
}

int code_rows_read_debug_frame(int file, const struct file_spans *covered, struct code_rows *rows,
			       struct file_spans *found)
{
	struct reading *reading;
	u8 *records;
	u32 bytes;
	int result =
		convert_debug_frame_to_eh_frame_records(file, FILE_IMAGE_BASE, &records, &bytes);

	if (result)
		return result;
	reading = calloc(1, sizeof(*reading));
	result = reading ? file_image_create(file, &reading->image) : -ENOMEM;
	if (!result) {
		reading->rows = rows;
		reading->covered = found;
		file_image_borrow_bytes(reading->image, records, bytes);
		result = add_debug_frame_functions(reading, bytes, covered);
		file_image_free(&reading->image);
		free(reading->functions);
	}
	free(reading);
	free(records);
	return result;
}
