/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file is not trusted, so each size is checked before memory is allocated. Deflate makes at
 * most 1032 bytes of one byte; a section with a larger ratio is rejected, for zstd too. */
#include "file_section.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define SECTIONS_MAX 4096
#define SECTION_BYTES_MAX (128ULL << 20)
#define INFLATED_MAX(bytes) (1032 * (bytes) + 1024)
#define TYPE_ZSTD 2 /* ELFCOMPRESS_ZSTD, which not every elf.h has */

/* A part of the file with a zero byte behind it, for the caller to free; NULL: it cannot be read.
 */
static void *read_part(int file, u64 offset, u64 bytes)
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

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), bytes = strlen(end);

	return length >= bytes && !strcmp(name + length - bytes, end);
}

/* Gives the header of the section. 0 or -ENOENT. */
static int find(int file, const char *name, Elf64_Shdr *found)
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
	sections = read_part(file, header.e_shoff, (u64)header.e_shnum * sizeof(*sections));
	bytes = sections ? sections[header.e_shstrndx].sh_size : 0;
	if (sections)
		names = read_part(file, sections[header.e_shstrndx].sh_offset, bytes);
	for (u32 i = 0; names && i < header.e_shnum && result; i++)
		if (sections[i].sh_name < bytes && sections[i].sh_type != SHT_NOBITS &&
		    ends_with(names + sections[i].sh_name, name)) {
			*found = sections[i];
			result = 0;
		}
	free(names);
	free(sections);
	return result;
}

static bool unpack(const Elf64_Chdr *packed, const u8 *content, u64 bytes, u8 *unpacked)
{
	unsigned long count = packed->ch_size;

	if (packed->ch_type == TYPE_ZSTD)
		return ZSTD_decompress(unpacked, count, content, bytes) == count;
	return packed->ch_type == ELFCOMPRESS_ZLIB &&
	       uncompress(unpacked, &count, content, bytes) == Z_OK && count == packed->ch_size;
}

/* Replaces the compressed bytes by the unpacked ones. */
static int section_unpack(struct file_section *section)
{
	Elf64_Chdr packed;
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
	if (!unpack(&packed, section->bytes + sizeof(packed), section->count - sizeof(packed),
		    unpacked)) {
		free(unpacked);
		return -EBADMSG;
	}
	free(section->bytes);
	section->bytes = unpacked;
	section->count = packed.ch_size;
	return 0;
}

int file_section_read(int file, const char *name, struct file_section *section)
{
	struct file_section made = {};
	Elf64_Shdr header = {};
	int result = find(file, name, &header);

	if (result)
		return result;
	made = (struct file_section){.bytes = read_part(file, header.sh_offset, header.sh_size),
				     .count = header.sh_size,
				     .address = header.sh_flags & SHF_ALLOC ? header.sh_addr : 0};
	if (!made.bytes)
		return -EBADMSG;
	if (header.sh_flags & SHF_COMPRESSED)
		result = section_unpack(&made);
	if (result)
		free(made.bytes);
	else
		*section = made;
	return result;
}
