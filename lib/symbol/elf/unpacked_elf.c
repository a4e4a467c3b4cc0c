/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The header of a compressed section tells its size unpacked. A size that zstd hardly reaches with
 * debug information is not believed: memory is taken before anything is unpacked.
 */
#include "unpacked_elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define TYPE_ZSTD 2 /* ELFCOMPRESS_ZSTD, which not every elf.h has */
#define UNPACKED_MAX(bytes) (1024 * (u64)(bytes) + 4096)
#define ALIGNMENT 16

struct file {
	const char *data;
	size_t bytes;
	Elf64_Ehdr header;
};

static bool file_open(Elf *elf, struct file *file)
{
	const char *ident = elf_getident(elf, NULL);

	file->data = elf_rawfile(elf, &file->bytes);
	if (!file->data || !ident || ident[EI_CLASS] != ELFCLASS64 ||
	    ident[EI_DATA] != ELFDATA2LSB || file->bytes < sizeof(file->header))
		return false;
	memcpy(&file->header, file->data, sizeof(file->header));
	return file->header.e_shentsize == sizeof(Elf64_Shdr) &&
	       file->header.e_shoff <= file->bytes &&
	       file->header.e_shnum <= (file->bytes - file->header.e_shoff) / sizeof(Elf64_Shdr);
}

static u64 place_of(const struct file *file, u32 index)
{
	return file->header.e_shoff + index * sizeof(Elf64_Shdr);
}

/* Whether section `index` is compressed so: its header, and that of its content. */
static bool is_packed(const struct file *file, u32 index, Elf64_Shdr *section, Elf64_Chdr *packed)
{
	memcpy(section, file->data + place_of(file, index), sizeof(*section));
	if (!(section->sh_flags & SHF_COMPRESSED) || section->sh_type == SHT_NOBITS ||
	    section->sh_offset > file->bytes ||
	    section->sh_size > file->bytes - section->sh_offset ||
	    section->sh_size < sizeof(*packed))
		return false;
	memcpy(packed, file->data + section->sh_offset, sizeof(*packed));
	return packed->ch_type == TYPE_ZSTD;
}

static u64 aligned(u64 bytes)
{
	return (bytes + ALIGNMENT - 1) & -(u64)ALIGNMENT;
}

/* How long the copy is; 0: nothing is to be unpacked, or more than is believed. */
static u64 copy_bytes(const struct file *file)
{
	u64 bytes = aligned(file->bytes), start = bytes;

	for (u32 i = 0; i < file->header.e_shnum; i++) {
		Elf64_Shdr section;
		Elf64_Chdr packed;

		if (!is_packed(file, i, &section, &packed))
			continue;
		if (packed.ch_size > UNPACKED_MAX(section.sh_size))
			return 0;
		bytes += aligned(packed.ch_size);
	}
	return bytes == start ? 0 : bytes;
}

static bool unpack(const struct file *file, u32 index, char *copy, u64 *end)
{
	Elf64_Shdr section;
	Elf64_Chdr packed;
	const char *content;

	if (!is_packed(file, index, &section, &packed))
		return true;
	content = file->data + section.sh_offset + sizeof(packed);
	if (ZSTD_decompress(copy + *end, packed.ch_size, content,
			    section.sh_size - sizeof(packed)) != packed.ch_size)
		return false;
	section.sh_offset = *end;
	section.sh_size = packed.ch_size;
	section.sh_flags &= ~(u64)SHF_COMPRESSED;
	section.sh_addralign = packed.ch_addralign;
	memcpy(copy + place_of(file, index), &section, sizeof(section));
	*end += aligned(packed.ch_size);
	return true;
}

bool unpacked_elf_is_needed(Elf *elf)
{
	Elf64_Shdr section;
	Elf64_Chdr packed;
	struct file file;
	u32 i = 0;

	if (!file_open(elf, &file))
		return false;
	while (i < file.header.e_shnum && !is_packed(&file, i, &section, &packed))
		i++;
	return i < file.header.e_shnum;
}

Elf *unpacked_elf_open(Elf *elf, char **memory)
{
	struct file file;
	u64 bytes = file_open(elf, &file) ? copy_bytes(&file) : 0, end;
	char *copy = bytes ? malloc(bytes) : NULL;
	bool is_whole = copy;
	Elf *unpacked;

	if (!copy)
		return NULL;
	memcpy(copy, file.data, file.bytes);
	end = aligned(file.bytes);
	for (u32 i = 0; i < file.header.e_shnum && is_whole; i++)
		is_whole = unpack(&file, i, copy, &end);
	unpacked = is_whole ? elf_memory(copy, bytes) : NULL;
	if (unpacked)
		*memory = copy;
	else
		free(copy);
	return unpacked;
}
