/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A CIE gets the id 0, a version that .eh_frame has (1 or 3) and an augmentation that begins with
 * z, so that a signal frame (S) is understood. Each FDE gets augmentation data of length 0, and the
 * distance back to its CIE in place of the CIE's offset in the section.
 */
#include "debug_frame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file_section.h"

#define LENGTH_BYTES 4
#define LENGTH_RESERVED 0xfffffff0U /* from here on: of 64-bit DWARF */
#define CIE_ID 0xffffffffU
#define ADDRESS_BYTES 8

/* A CIE that was written. */
struct cie {
	u32 offset; /* in the section */
	u32 record; /* among the records */
};

struct writing {
	const u8 *section;
	u32 end; /* of the current record, in the section */
	struct debug_frame *frame;
	struct cie *cies;
	u32 cie_count, cie_room;
	u64 base;
};

static int put(struct debug_frame *frame, const void *data, u32 bytes)
{
	if (array_make_rooms(frame->records, (u64)frame->bytes + bytes, frame->room))
		return -ENOMEM;
	memcpy(frame->records + frame->bytes, data, bytes);
	frame->bytes += bytes;
	return 0;
}

/* Writes the length of the record that begins at `record` and has just been put. */
static void record_end(struct debug_frame *frame, u32 record)
{
	u32 length = frame->bytes - record - LENGTH_BYTES;

	memcpy(frame->records + record, &length, sizeof(length));
}

/* The offset behind the LEB128 number at `at`; 0: the number does not end within the record. */
static u32 leb128_end(const struct writing *writing, u32 at)
{
	while (at && at < writing->end)
		if (!(writing->section[at++] & 0x80))
			return at;
	return 0;
}

/* Adds the CIE at `offset` of the section; its version is at `at`. A CIE not understood is skipped.
 */
static int add_cie(struct writing *writing, u32 offset, u32 at)
{
	const u8 *section = writing->section, *text = section + at + 1;
	u8 version = at < writing->end ? section[at] : 0, eh_version = version == 1 ? 1 : 3;
	const u8 *text_end = at < writing->end ? memchr(text, 0, writing->end - at - 1) : NULL;
	struct debug_frame *frame = writing->frame;
	u32 record = frame->bytes, numbers, column, end;
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
	column = leb128_end(writing, leb128_end(writing, numbers));
	end = version == 1 ? column + 1 : leb128_end(writing, column);
	if (!column || !end || end > writing->end)
		return 0;
	if (array_make_room(writing->cies, writing->cie_count, writing->cie_room))
		return -ENOMEM;
	writing->cies[writing->cie_count++] = (struct cie){offset, record};
	result = put(frame, zeroes, LENGTH_BYTES + 4);
	result = result ?: put(frame, &eh_version, 1);
	result = result ?: put(frame, is_signal ? "zS" : "z", is_signal ? 3 : 2);
	result = result ?: put(frame, section + numbers, end - numbers);
	result = result ?: put(frame, zeroes, 1); /* no data for the augmentation */
	result = result ?: put(frame, section + end, writing->end - end);
	if (!result)
		record_end(frame, record);
	return result;
}

static int by_offset(const void *key, const void *member)
{
	const u32 *offset = key;
	const struct cie *cie = member;

	return (*offset > cie->offset) - (*offset < cie->offset);
}

/* Adds the FDE whose address is at `at`. `cies` is sorted by offset, so the CIE is bisected. */
static int add_fde(struct writing *writing, u32 cie_offset, u32 at)
{
	struct debug_frame *frame = writing->frame;
	const struct cie *cie = NULL;
	u32 record = frame->bytes, back;
	u64 address;
	int result;

	if (writing->cie_count)
		cie = bsearch(&cie_offset, writing->cies, writing->cie_count, sizeof(*cie),
			      by_offset);
	if (!cie || writing->end - at < 2 * ADDRESS_BYTES)
		return 0;
	memcpy(&address, writing->section + at, sizeof(address));
	address += writing->base;
	back = record + LENGTH_BYTES - cie->record;
	result = put(frame, &back, LENGTH_BYTES); /* the length, in a moment */
	result = result ?: put(frame, &back, sizeof(back));
	result = result ?: put(frame, &address, sizeof(address));
	result = result ?: put(frame, writing->section + at + ADDRESS_BYTES, ADDRESS_BYTES);
	result = result ?: put(frame, "", 1);
	result = result
			 ?: put(frame, writing->section + at + 2 * ADDRESS_BYTES,
				writing->end - at - 2 * ADDRESS_BYTES);
	if (!result)
		record_end(frame, record);
	return result;
}

static int write_records(struct writing *writing, u32 bytes)
{
	u32 at = 0, length, id;
	int result = 0;

	while (!result && bytes - at > LENGTH_BYTES + sizeof(id)) {
		u32 offset = at;

		memcpy(&length, writing->section + at, sizeof(length));
		at += LENGTH_BYTES;
		if (length >= LENGTH_RESERVED || length < sizeof(id) || length > bytes - at)
			break;
		memcpy(&id, writing->section + at, sizeof(id));
		writing->end = at + length;
		result = id == CIE_ID ? add_cie(writing, offset, at + sizeof(id))
				      : add_fde(writing, id, at + sizeof(id));
		at += length;
	}
	return result;
}

int debug_frame_read(int file, u64 base, struct debug_frame *frame)
{
	struct file_section section = {};
	struct writing writing = {.frame = frame, .base = base};
	int result = file_section_read(file, ".debug_frame", &section);

	if (result)
		return result;
	*frame = (struct debug_frame){};
	writing.section = section.bytes;
	result = write_records(&writing, section.count);
	if (result) {
		free(frame->records);
		*frame = (struct debug_frame){};
	}
	free(writing.cies);
	free(section.bytes);
	return result;
}
