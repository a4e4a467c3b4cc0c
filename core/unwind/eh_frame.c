/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The index (.eh_frame_hdr) is a sorted table of (function, FDE): each step of a binary search
 * reads one entry. An FDE points to its CIE. Neighbouring FDEs share a CIE, so the last CIE is
 * kept, with the row that its instructions make.
 */
#include "unwind.h"

#define HDR_VERSION 1
#define HDR_ENCODING_SORTED 0x3b /* data-relative, s32 */
/* Index entries are data-relative, s64: lld, for files beyond 2 GiB. */
#define HDR_ENCODING_SORTED_WIDE 0x3c
#define HDR_FIXED_BYTES 64
#define CIE_VERSION_GCC 1
#define CIE_VERSION_DWARF3 3
#define LENGTH_BYTES 4
#define LENGTH_EXTENDED 0xffffffff
/*
 * Least bytes of a record after its length field: an id, and two pointers or the beginning of a
 * CIE.
 */
#define RECORD_BYTES_MIN 8
#define RECORD_BYTES_MAX (1U << 24)
#define AUGMENTATION_MAX 8
#define RECORD_ALIGNMENT 4
#define RECORD_HEAD_BYTES 12 /* length, id, and the distance to the function */
/* bytes of a block, which the scan gets by one read */
#define SCAN_BLOCK (BYTES_WINDOW - BYTES_STEP)
#define SCAN_BLOCKS_MAX ((128U << 10) / SCAN_BLOCK)
/* number of blocks that are scanned before a CIE which was found: records are rarely longer */
#define SCAN_BLOCKS_NEAR (4096 / SCAN_BLOCK)
#define SCAN_STEPS_MAX (1U << 17)
#define NOTE_GO 0x00006f4700000004ULL /* type 4, "Go" */
/* First bytes of a usual CIE: id 0, version 1, "zR". */
#define CIE_ID_VERSION_ZR 0x00527a0100000000ULL
#define SEARCH_STEPS_MAX 32

/*
 * Opens the record at an address; the position is then after its length field. STOP_NO_RULE: the
 * record is the terminator.
 */
CORE_PART u32 open_eh_frame_record(struct unwind *unwind, u64 address)
{
	struct unwind_bytes *bytes = &unwind->bytes;
	u32 length, stop;

	bytes_set_range(bytes, address,
			end_of_mapped_image_memory(&unwind->image, address, LENGTH_BYTES));
	stop = bytes_make_ready(unwind);
	if (stop)
		return stop;
	length = bytes_take(bytes, LENGTH_BYTES);
	if (length == 0)
		return STOP_NO_RULE;
	if (length < RECORD_BYTES_MIN || length > RECORD_BYTES_MAX)
		return length == LENGTH_EXTENDED ? STOP_UNSUPPORTED : STOP_BAD_TABLE;
	bytes->end = bytes->at + length;
	unwind->eh.record_end = bytes->end;
	return bytes_make_ready(unwind);
}

/* Reads one letter of the augmentation string and its data. */
static long read_augmentation_letter(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct cfi_entry *entry = &unwind->cfi.entry;
	u8 letter = unwind->augmentation >> (8 * i & 63);

	switch (letter) {
	case 'R':
		entry->pointer_encoding = bytes_take_u8(&unwind->bytes);
		break;
	case 'P':
		/* The pointer to the personality routine is read only to skip it. */
		unwind->cfi.stop =
			bytes_take_encoded_pointer(unwind, bytes_take_u8(&unwind->bytes) & 0x7f, 0);
		break;
	case 'L':
		bytes_take_u8(&unwind->bytes);
		break;
	case 'S':
		entry->is_signal = true;
		break;
	case 'B':
	case 'z':
		break;
	default:
		/*
		 * The end of the string, or a letter with unknown data. The length of the
		 * augmentation data leads over that data.
		 */
		return 1;
	}
	return unwind->cfi.stop != STOP_NONE;
}

/* Reads a string of up to seven letters into one word, and moves the position after its end. */
CORE_PART u64 read_augmentation_string(struct unwind_bytes *bytes)
{
	u64 text = bytes_peek(bytes);
	u64 zero = (text - 0x0101010101010101ULL) & ~text & 0x8080808080808080ULL;
	u64 kept = (zero & -zero) - 1;
	u64 length = ((kept & 0x0101010101010101ULL) * 0x0101010101010101ULL) >> 56;

	bytes->at += zero ? length : LEB128_TOO_LONG;
	return zero ? text & kept >> 7 : 0;
}

CORE_PART void read_augmentation_data(struct unwind *unwind)
{
	struct cfi_entry *entry = &unwind->cfi.entry;
	const struct leb128 *length = &unwind->cfi.operands.first;

	entry->augmented = (u8)unwind->augmentation == 'z';
	if (!entry->augmented)
		return;
	cfi_read_operands(unwind);
	unwind->bytes.at += length->bytes;
	entry->start = unwind->bytes.at + length->value;
	unwind->cfi.stop = bytes_make_ready(unwind);
	if (unwind->cfi.stop)
		return;
	core_rare_loop(AUGMENTATION_MAX, read_augmentation_letter, &unwind);
	if (bytes_are_beyond_end(&unwind->bytes))
		unwind->cfi.stop = STOP_BAD_TABLE;
}

/* Reads the fields of the CIE at the position, which is after the CIE's length field. */
CORE_PART u32 read_cie_fields(struct unwind *unwind)
{
	struct cfi_entry *entry = &unwind->cfi.entry;
	const struct cfi_operands *operands = &unwind->cfi.operands;
	struct unwind_bytes *bytes = &unwind->bytes;
	u32 id = bytes_take(bytes, 4);
	u32 version = bytes_take_u8(bytes);
	u64 column;

	if (id != 0 || (version != CIE_VERSION_GCC && version != CIE_VERSION_DWARF3))
		return id ? STOP_BAD_TABLE : STOP_UNSUPPORTED;
	unwind->augmentation = read_augmentation_string(bytes);
	cfi_read_operands(unwind);
	entry->code_alignment = operands->first.value;
	entry->data_alignment = operands->second.signed_value;
	bytes->at += operands->first.bytes + operands->second.bytes;
	cfi_read_operands(unwind);
	column = version == CIE_VERSION_GCC ? (u8)operands->raw : operands->first.value;
	bytes->at += version == CIE_VERSION_GCC ? 1 : operands->first.bytes;
	if (bytes_are_beyond_end(bytes))
		return STOP_BAD_TABLE;
	if (column != RETURN_COLUMN)
		return STOP_UNSUPPORTED;
	entry->start = bytes->at;
	entry->end = bytes->end;
	entry->pointer_encoding = 0;
	entry->is_signal = false;
	unwind->cfi.stop = STOP_NONE;
	read_augmentation_data(unwind);
	return unwind->cfi.stop;
}

/* Runs the CIE's instructions, once for all its FDEs. */
CORE_PART u32 run_cie_instructions(struct unwind *unwind)
{
	struct cfi *cfi = &unwind->cfi;
	u32 stop;

	cfi->row = (struct cfi_row){};
	cfi->entry.row = (struct cfi_row){};
	cfi->location = 0;
	cfi->pc = ~0ULL;
	stop = cfi_run_instructions(unwind, cfi->entry.start, cfi->entry.end);
	cfi->entry.row = cfi->row;
	return stop;
}

/* Sets cfi.entry to the CIE at an address. */
CORE_PART u32 cie_load(struct unwind *unwind, u64 address)
{
	struct cfi_entry *entry = &unwind->cfi.entry;
	u32 stop;

	if (entry->cie == address)
		return STOP_NONE;
	entry->cie = 0;
	stop = open_eh_frame_record(unwind, address);
	if (stop)
		return stop;
	stop = read_cie_fields(unwind);
	if (stop)
		return stop;
	entry->cie = address;
	stop = run_cie_instructions(unwind);
	if (stop)
		entry->cie = 0;
	return stop;
}

/*
 * Opens the FDE at an address and its CIE. The position is then after the fields with the
 * function's range, which must cover the pc.
 */
CORE_OUTLINED u32 fde_open(struct unwind *unwind, u64 address)
{
	struct cfi *cfi = &unwind->cfi;
	u64 fields, end;
	u32 id, stop;

	stop = open_eh_frame_record(unwind, address);
	if (stop)
		return stop;
	id = bytes_take(&unwind->bytes, 4);
	if (id == 0)
		return STOP_NO_RULE;
	fields = unwind->bytes.at;
	end = unwind->bytes.end;
	stop = cie_load(unwind, fields - 4 - id);
	unwind->eh.record_end = end;
	if (stop)
		return stop;
	bytes_set_range(&unwind->bytes, fields, end);
	stop = bytes_make_ready(unwind);
	if (!stop)
		stop = bytes_take_encoded_pointer(unwind, cfi->entry.pointer_encoding, 0);
	cfi->location = unwind->pointer;
	if (!stop)
		stop = bytes_take_encoded_pointer(unwind, cfi->entry.pointer_encoding & 0x0f, 0);
	if (stop)
		return stop;
	if (bytes_are_beyond_end(&unwind->bytes))
		return STOP_BAD_TABLE;
	cfi->next = cfi->location + unwind->pointer;
	return unwind->lookup_pc - cfi->location < unwind->pointer ? STOP_NONE : STOP_NO_RULE;
}

/* Runs the opened FDE up to the pc. */
CORE_PART u32 run_fde_instructions(struct unwind *unwind)
{
	struct cfi *cfi = &unwind->cfi;
	u64 start = unwind->bytes.at;

	if (cfi->entry.augmented) {
		cfi_read_operands(unwind);
		start += cfi->operands.first.bytes + cfi->operands.first.value;
	}
	cfi->row = cfi->entry.row;
	cfi->pc = unwind->lookup_pc;
	return cfi_run_instructions(unwind, start, unwind->bytes.end);
}

/* Makes the rule of the opened FDE. */
CORE_PART u32 make_fde_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	u32 stop = run_fde_instructions(unwind);

	if (stop)
		return stop;
	unwind->same_from = unwind->cfi.location;
	unwind->same_to = unwind->cfi.next;
	return cfi_rule(unwind, rule);
}

/*
 * The address of the function address, or of the FDE address, in index entry i. Eight bytes are
 * read there. Both fields of a narrow entry fit into these eight bytes.
 */
CORE_PART u64 index_field_address(const struct eh_search *search, u64 i, bool is_fde)
{
	return search->is_wide ? search->index + 16 * i + (is_fde ? 8 : 0) : search->index + 8 * i;
}

/*
 * Decodes a field of search->entry, which was read at index_field_address(): the function's
 * address, or that of its FDE if is_fde is set.
 */
CORE_PART u64 decode_index_field(const struct eh_search *search, bool is_fde)
{
	u64 entry = search->entry;

	if (!search->is_wide)
		entry = (s64)(s32)(is_fde ? entry >> 32 : entry);
	return search->header + entry;
}

static long halve_index_range(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct eh_search *search = &unwind->eh;
	u64 middle = search->low + (search->high - search->low) / 2;

	(void)i;
	if (search->high - search->low <= 1)
		return 1;
	if (!unwind_fetch(unwind, index_field_address(search, middle, false), &search->entry,
			  sizeof(search->entry))) {
		search->stop = stop_reason_of_failed_table_read(unwind);
		return 1;
	}
	if (decode_index_field(search, false) <= unwind->lookup_pc)
		search->low = middle;
	else
		search->high = middle;
	return 0;
}

/*
 * Searches the opened index. The FDE of the last function that begins at or before the pc becomes
 * the only record to open.
 */
CORE_PART u32 search_eh_frame_hdr(struct unwind *unwind)
{
	struct eh_search *search = &unwind->eh;

	search->stop = STOP_NONE;
	core_rare_loop(SEARCH_STEPS_MAX, halve_index_range, &unwind);
	if (search->stop)
		return search->stop;
	if (!unwind_fetch(unwind, index_field_address(search, search->low, true), &search->entry,
			  sizeof(search->entry)))
		return stop_reason_of_failed_table_read(unwind);
	search->record_end = decode_index_field(search, true);
	search->records_end = ~0ULL;
	search->records = 1;
	return STOP_NONE;
}

/*
 * Opens .eh_frame_hdr and its index, and sets image.eh_frame to the section that the header names.
 * STOP_NO_RULE: the header has no index that can be searched.
 */
CORE_PART u32 open_eh_frame_hdr(struct unwind *unwind, const struct image_range *range)
{
	struct eh_search *search = &unwind->eh;
	u32 frame_encoding, count_encoding, table_encoding, stop;
	u64 bytes = range->end - range->start, start;

	bytes_set_range(&unwind->bytes, range->start,
			range->start + (bytes < HDR_FIXED_BYTES ? bytes : HDR_FIXED_BYTES));
	stop = bytes_make_ready(unwind);
	if (stop)
		return stop;
	if (bytes_take_u8(&unwind->bytes) != HDR_VERSION)
		return STOP_UNSUPPORTED;
	frame_encoding = bytes_take_u8(&unwind->bytes);
	count_encoding = bytes_take_u8(&unwind->bytes);
	table_encoding = bytes_take_u8(&unwind->bytes);
	stop = bytes_take_encoded_pointer(unwind, frame_encoding, range->start);
	if (stop || bytes_are_beyond_end(&unwind->bytes))
		return STOP_UNSUPPORTED;
	start = unwind->pointer;
	unwind->image.eh_frame = (struct image_range){
		start, end_of_mapped_image_memory(&unwind->image, start, LENGTH_BYTES)};
	search->is_empty = 0;
	search->is_wide = table_encoding == HDR_ENCODING_SORTED_WIDE;
	if ((table_encoding != HDR_ENCODING_SORTED && !search->is_wide) ||
	    bytes_take_encoded_pointer(unwind, count_encoding, range->start) ||
	    bytes_are_beyond_end(&unwind->bytes))
		return STOP_NO_RULE;
	search->header = range->start;
	search->index = unwind->bytes.at;
	search->low = 0;
	search->high = unwind->pointer;
	search->is_empty = !search->high;
	return search->high && search->high <= bytes / (search->is_wide ? 16 : 8) ? STOP_NONE
										  : STOP_NO_RULE;
}

/* Opens one record: the FDE that the index gave, or the next record of a section without index. */
static long open_next_record(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct eh_search *search = &unwind->eh;
	u64 record = search->record_end;

	(void)i;
	search->stop = STOP_NO_RULE;
	if (record >= search->records_end)
		return 1;
	search->stop = unwind_spend_budget(unwind) ? fde_open(unwind, record) : STOP_BUDGET;
	/* A record that is not understood is skipped: its length leads to the next record. */
	if (search->stop == STOP_UNSUPPORTED && search->records > 1 && search->record_end > record)
		search->stop = STOP_NO_RULE;
	/*
	 * If a record such as the terminator could not be opened, record_end is still the end of
	 * the record before.
	 */
	return search->stop != STOP_NO_RULE || search->record_end <= record;
}

/* Opens the FDE of the pc: one of the search->records records that begin at search->record_end. */
CORE_PART u32 search_eh_frame_records(struct unwind *unwind)
{
	struct eh_search *search = &unwind->eh;

	search->stop = STOP_NO_RULE;
	core_rare_loop(search->records, open_next_record, &unwind);
	return search->stop;
}

/* True if a record is a CIE in the form that all compilers and assemblers write for 64-bit code. */
CORE_PART bool is_usual_cie(struct unwind *unwind, u64 record)
{
	unwind->word = 0;
	if (!unwind_fetch(unwind, record + LENGTH_BYTES, &unwind->word, sizeof(unwind->word)) ||
	    unwind->word != CIE_ID_VERSION_ZR)
		return false;
	unwind->word = 0;
	return unwind_fetch(unwind, record + LENGTH_BYTES + 8, &unwind->word, 3) &&
	       are_usual_cie_alignments(unwind->word);
}

/*
 * The address of the CIE of the record at an address; 0: no record begins there. `head` holds the
 * record's length and id: the id of a CIE is 0, and the id of an FDE is the distance back to its
 * CIE. The distance to the function follows. Data that passes these checks is almost always an FDE.
 * The checks come before the CIE is read, because reads at random addresses would keep rules from
 * being cached.
 */
CORE_PART u64 cie_of_record(struct unwind *unwind, u64 record, u64 head, s32 distance)
{
	u64 id = head >> 32, field = record + LENGTH_BYTES, function = record + 8 + distance;
	u32 length = head;

	if (!length || length > RECORD_BYTES_MAX || (length | id) % RECORD_ALIGNMENT ||
	    id > field - unwind->eh.segment)
		return 0;
	if (id && end_of_mapped_image_memory(&unwind->image, function, 0) == function)
		return 0;
	record = id ? field - id : record;
	return is_usual_cie(unwind, record) ? record : 0;
}

/* Moves the scan to the block before the current block. */
CORE_PART bool move_scan_to_previous_block(struct unwind *unwind)
{
	struct eh_search *search = &unwind->eh;
	u64 left = search->block - search->segment;

	if (!search->blocks || search->block <= search->segment)
		return false;
	search->blocks--;
	search->block_end = search->block;
	search->block -= left < SCAN_BLOCK ? left : SCAN_BLOCK;
	unwind->bytes.at = search->block;
	return true;
}

/*
 * Examines one address where a record may begin. If the block overlaps an .eh_frame section, or
 * lies close after one, a record begins near this address. The record leads to its CIE, and more
 * CIEs may lie close before that CIE.
 */
static long scan_address_for_eh_frame(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct eh_search *search = &unwind->eh;
	struct unwind_bytes *bytes = &unwind->bytes;
	u64 record, head, cie;

	(void)i;
	if (bytes->at >= search->block_end && !move_scan_to_previous_block(unwind))
		return 1;
	if (!unwind_spend_budget(unwind))
		return 1;
	if (bytes_make_ready(unwind)) {
		search->is_unreadable = 1;
		return 1;
	}
	record = bytes->at;
	head = bytes_take(bytes, 8);
	cie = cie_of_record(unwind, record, head, bytes_peek(bytes));
	bytes->at = record + RECORD_ALIGNMENT;
	if (!cie)
		return 0;
	unwind->image.eh_frame.start = cie;
	search->block = search->block_end = bytes->at = cie;
	search->blocks = SCAN_BLOCKS_NEAR;
	return 0;
}

/*
 * Scans a segment for the section. The section lies after the other constants, so the last segment
 * is scanned first, from its end. Only tables of exceptions may lie after the section.
 */
static long scan_segment_for_eh_frame(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	u32 index = unwind->image.segment_count - 1 - i;
	struct eh_search *search = &unwind->eh;
	const struct image_range *segment;

	core_one_register(index);
	if (index >= IMAGE_SEGMENTS_MAX)
		return 1;
	segment = &unwind->image.segment[index];
	search->segment = segment->start & -(u64)RECORD_ALIGNMENT;
	search->block = search->block_end =
		(segment->end - RECORD_HEAD_BYTES + RECORD_ALIGNMENT) & -(u64)RECORD_ALIGNMENT;
	search->blocks = SCAN_BLOCKS_MAX;
	bytes_set_range(&unwind->bytes, search->block_end, segment->end);
	core_rare_loop(SCAN_STEPS_MAX, scan_address_for_eh_frame, &unwind);
	unwind->image.eh_frame.end = segment->end;
	return unwind->image.eh_frame.start != 0;
}

/* True if the file has the note of Go's linker: such a file has no tables. */
CORE_PART bool is_linked_by_go(struct unwind *unwind)
{
	u64 note = unwind->image.note;

	unwind->word = 0;
	return note && unwind_fetch(unwind, note + 8, &unwind->word, sizeof(unwind->word)) &&
	       unwind->word == NOTE_GO;
}

/* Sets image.eh_frame to the result of an earlier search in the same file. */
CORE_PART bool find_cached_eh_frame(struct unwind *unwind)
{
	u64 start;

	if (unwind->is_compat || !unwind->image.header || !unwind_find_cached_rule(unwind))
		return false;
	start = unwind->image.header + unwind->rule.cfa_offset;
	unwind->image.eh_frame = (struct image_range){};
	if (unwind->rule.cfa_offset)
		unwind->image.eh_frame = (struct image_range){
			start, end_of_mapped_image_memory(&unwind->image, start, LENGTH_BYTES)};
	return true;
}

CORE_PART void cache_found_eh_frame(struct unwind *unwind)
{
	u64 start = unwind->image.eh_frame.start;
	s64 offset = start ? start - unwind->image.header : 0;

	unwind->rule = (struct unwind_rule){.cfa_offset = offset};
	if (unwind->image.header && (s32)offset == offset)
		unwind_cache_rule(unwind);
}

/* Finds .eh_frame in a file whose headers do not say where the section is. */
CORE_PART void search_eh_frame_without_headers(struct unwind *unwind)
{
	if (unwind->image.searched)
		return;
	unwind->is_search = true;
	unwind->image.searched = find_cached_eh_frame(unwind);
	if (!unwind->image.searched) {
		unwind->eh.is_unreadable = 0;
		if (!is_linked_by_go(unwind))
			core_rare_loop(IMAGE_SEGMENTS_MAX, scan_segment_for_eh_frame, &unwind);
		unwind->image.searched = unwind->budget && !unwind->eh.is_unreadable;
		if (unwind->image.searched)
			cache_found_eh_frame(unwind);
	}
	unwind->is_search = false;
}

/*
 * Opens the FDE of the pc. All records are opened by one call, so the verifier follows that code
 * once.
 */
CORE_PART u32 fde_find(struct unwind *unwind)
{
	struct eh_search *search = &unwind->eh;
	u32 stop = STOP_NO_RULE;

	if (unwind->image.eh_frame_hdr.start) {
		stop = open_eh_frame_hdr(unwind, &unwind->image.eh_frame_hdr);
		if (!stop)
			stop = search_eh_frame_hdr(unwind);
	} else {
		search->is_empty = 0;
		search_eh_frame_without_headers(unwind);
	}
	if (stop == STOP_NO_RULE) {
		/* a linear search through all records of the section */
		search->record_end = unwind->image.eh_frame.start;
		search->records_end = unwind->image.eh_frame.end;
		search->records = search->record_end ? EH_ENTRIES_MAX : 0;
	} else if (stop) {
		return stop;
	}
	if (!core_reload(search->records))
		return unwind->image.searched ? STOP_NO_RULE
					      : stop_reason_of_failed_table_read(unwind);
	stop = search_eh_frame_records(unwind);
	return stop == STOP_BAD_TABLE && search->is_empty ? STOP_NO_RULE : stop;
}

CORE_INLINE u32 eh_frame_make_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	u32 stop = fde_find(unwind);

	return stop ? stop : make_fde_rule(unwind, rule);
}
