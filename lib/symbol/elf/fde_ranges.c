/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libdw parses the entries. The CIE of an FDE says in its augmentation how the FDE encodes
 * addresses (Linux Standard Base 5.0, core, section 10.6). Neighbours share a CIE, so the last CIE
 * is kept. An FDE is left out if linkers do not write its encoding of addresses.
 */
#include "fde_ranges.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "elf_layout.h"

#define ENCODING_FORMAT 0x0f
#define ENCODING_BASE 0x70

struct reader {
	const u8 *ident; /* e_ident of the ELF header */
	Elf_Data *data;
	u64 address; /* address of .eh_frame */
	const struct elf_segments *segments;
	struct symbol_table *table;
	Dwarf_Off cie; /* offset of the last FDE's CIE, if has_cie */
	u8 encoding;   /* how this CIE encodes addresses */
	bool has_cie;
};

/* The length of an encoded number in bytes; 0: the length is variable, or the encoding is not
 * known. */
static size_t encoded_number_bytes(const struct reader *reader, u8 encoding)
{
	switch (encoding & ENCODING_FORMAT) {
	case DW_EH_PE_absptr:
		return reader->ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

static u64 read_number(const u8 *at, size_t bytes, bool is_signed)
{
	u64 number = 0;
	u32 unused = 64 - 8 * bytes;

	memcpy(&number, at, bytes);
	return is_signed ? (u64)((s64)(number << unused) >> unused) : number;
}

/* The length in bytes of the data that belongs to an augmentation letter: for P the address of the
 * personality routine and a byte with its encoding, for L one byte. 0: the length is not known. */
static size_t augmentation_data_bytes(const struct reader *reader, char letter, const u8 *data,
				      size_t left)
{
	size_t bytes;

	if (letter != 'P')
		return letter == 'L' && left;
	bytes = left ? encoded_number_bytes(reader, *data) : 0;
	return bytes ? 1 + bytes : 0;
}

static u8 fde_pointer_encoding(const struct reader *reader, const Dwarf_CIE *cie)
{
	const u8 *data = cie->augmentation_data;
	size_t left = data ? cie->augmentation_data_size : 0;

	if (cie->augmentation[0] != 'z')
		return cie->augmentation[0] ? DW_EH_PE_omit : DW_EH_PE_absptr;
	for (const char *letter = cie->augmentation + 1; *letter; letter++) {
		size_t bytes;

		if (*letter == 'S' || *letter == 'B')
			continue;
		if (*letter == 'R')
			return left ? *data : DW_EH_PE_omit;
		bytes = augmentation_data_bytes(reader, *letter, data, left);
		if (!bytes || bytes > left)
			return DW_EH_PE_omit;
		data += bytes;
		left -= bytes;
	}
	return DW_EH_PE_absptr;
}

static int read_cfi_entry(const struct reader *reader, Dwarf_Off at, Dwarf_Off *next,
			  Dwarf_CFI_Entry *entry)
{
	return dwarf_next_cfi(reader->ident, reader->data, true, at, next, entry);
}

static void read_cie_encoding(struct reader *reader, Dwarf_Off at)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (reader->has_cie && reader->cie == at)
		return;
	reader->has_cie = true;
	reader->cie = at;
	reader->encoding = DW_EH_PE_omit;
	if (!read_cfi_entry(reader, at, &next, &entry) && dwarf_cfi_cie_p(&entry))
		reader->encoding = fde_pointer_encoding(reader, &entry.cie);
}

static int add_fde(struct reader *reader, const Dwarf_FDE *fde)
{
	const struct elf_segment *segment;
	u64 address, start, left, code_bytes;
	u8 base, encoding;
	size_t bytes;

	read_cie_encoding(reader, fde->CIE_pointer);
	encoding = reader->encoding;
	base = encoding & ENCODING_BASE;
	bytes = encoded_number_bytes(reader, encoding);
	if (encoding & DW_EH_PE_indirect || (base != DW_EH_PE_absptr && base != DW_EH_PE_pcrel) ||
	    !bytes || (size_t)(fde->end - fde->start) < 2 * bytes)
		return 0;
	address = read_number(fde->start, bytes, encoding & DW_EH_PE_signed);
	if (base == DW_EH_PE_pcrel)
		address += reader->address + (fde->start - (const u8 *)reader->data->d_buf);
	code_bytes = read_number(fde->start + bytes, bytes, false);
	segment = elf_segment_of_address(reader->segments, address);
	if (!segment || !code_bytes)
		return 0;
	left = segment->bytes - (address - segment->address);
	start = segment->offset + (address - segment->address);
	return symbol_table_add(reader->table, &(struct symbol){.start = start,
								.size = code_bytes,
								.limit = start + left,
								.name = ""});
}

int fde_ranges_add(Elf *elf, const struct elf_segments *segments, struct symbol_table *table)
{
	struct reader reader = {
		.ident = (const u8 *)elf_getident(elf, NULL), .segments = segments, .table = table};
	GElf_Shdr header;
	Elf_Scn *section = elf_section_find(elf, ".eh_frame", &header);
	Dwarf_CFI_Entry entry;
	Dwarf_Off at = 0, next;
	int result = 0;

	reader.data = section && reader.ident ? elf_rawdata(section, NULL) : NULL;
	reader.address = section ? header.sh_addr : 0;
	while (reader.data && reader.data->d_buf && !result &&
	       !read_cfi_entry(&reader, at, &next, &entry) && next > at) {
		if (!dwarf_cfi_cie_p(&entry))
			result = add_fde(&reader, &entry.fde);
		at = next;
	}
	symbol_table_seal(table);
	return result;
}
