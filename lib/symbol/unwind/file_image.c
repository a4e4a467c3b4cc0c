/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocks of the file are read on first use and kept, since unwind tables refer back and forth. */
#include "file_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/registers.h"

#define BLOCK (64U << 10)
#define SEGMENTS_MAX 64
#define FILE_BYTES_MAX (8ULL << 30)

struct segment {
	u64 address;
	u64 offset;
	u64 bytes;
	u32 flags; /* PF_* */
};

struct file_image {
	int file;
	u64 bytes;
	u32 segment_count;
	struct segment segment[SEGMENTS_MAX];
	u32 last; /* the segment from which bytes were read last */
	const u8 *lent;
	u64 lent_bytes;
	u8 *block[];
};

static const u8 *cached_block(struct file_image *image, u64 index)
{
	u64 start = index * BLOCK, left = image->bytes - start;
	size_t bytes = left < BLOCK ? left : BLOCK;
	u8 *block = image->block[index];

	if (block)
		return block;
	block = malloc(BLOCK);
	if (block && pread(image->file, block, bytes, start) != (ssize_t)bytes) {
		free(block);
		block = NULL;
	}
	image->block[index] = block;
	return block;
}

static bool read_file_by_cached_blocks(struct file_image *image, u64 offset, void *buffer,
				       u64 bytes)
{
	u8 *to = buffer;

	if (offset > image->bytes || image->bytes - offset < bytes)
		return false;
	while (bytes) {
		const u8 *block = cached_block(image, offset / BLOCK);
		u64 at = offset % BLOCK, count = bytes < BLOCK - at ? bytes : BLOCK - at;

		if (!block)
			return false;
		memcpy(to, block + at, count);
		to += count;
		offset += count;
		bytes -= count;
	}
	return true;
}

static int segments_read(struct file_image *image)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (!read_file_by_cached_blocks(image, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != REGISTERS_ELF_MACHINE ||
	    header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > SEGMENTS_MAX)
		return -ENOEXEC;
	for (u32 i = 0; i < header.e_phnum; i++) {
		if (!read_file_by_cached_blocks(image, header.e_phoff + i * sizeof(segment),
						&segment, sizeof(segment)))
			return -ENOEXEC;
		/* The segments of an image: writable data is left out; writable code (ld -N) counts
		 * as code. */
		if (segment.p_type == PT_LOAD && (segment.p_flags & (PF_W | PF_X)) != PF_W)
			image->segment[image->segment_count++] = (struct segment){
				.address = segment.p_vaddr,
				.offset = segment.p_offset,
				.bytes = segment.p_filesz,
				.flags = segment.p_flags,
			};
	}
	return 0;
}

/* True if `upper` lies after `lower` in memory and in the file. */
static bool are_segments_without_overlap(const struct segment *lower, const struct segment *upper)
{
	return lower->bytes <= FILE_BYTES_MAX && lower->address < FILE_IMAGE_BASE &&
	       lower->offset < FILE_BYTES_MAX && upper->address >= lower->address + lower->bytes &&
	       upper->offset >= lower->offset + lower->bytes;
}

static bool are_code_segments_apart(const struct file_image *image)
{
	static const struct segment end = {.address = FILE_IMAGE_BASE, .offset = FILE_BYTES_MAX};
	const struct segment *last = NULL;

	for (u32 i = 0; i < image->segment_count; i++) {
		if (!(image->segment[i].flags & PF_X))
			continue;
		if (last && !are_segments_without_overlap(last, &image->segment[i]))
			return false;
		last = &image->segment[i];
	}
	return last && are_segments_without_overlap(last, &end);
}

int file_image_create(int file, struct file_image **out)
{
	struct file_image *image;
	struct stat status;
	int result;

	if (fstat(file, &status))
		return -errno;
	if (status.st_size <= 0 || (u64)status.st_size > FILE_BYTES_MAX)
		return -ENOEXEC;
	image = calloc(1, sizeof(*image) + (status.st_size / BLOCK + 1) * sizeof(image->block[0]));
	if (!image)
		return -ENOMEM;
	image->file = file;
	image->bytes = status.st_size;
	result = segments_read(image);
	if (!result && !are_code_segments_apart(image))
		result = -ENOEXEC;
	if (result)
		file_image_free(&image);
	else
		*out = image;
	return result;
}

void file_image_free(struct file_image **image)
{
	if (!*image)
		return;
	for (u64 i = 0; i <= (*image)->bytes / BLOCK; i++)
		free((*image)->block[i]);
	free(*image);
	*image = NULL;
}

u64 file_image_header_address(const struct file_image *image)
{
	for (u32 i = 0; i < image->segment_count; i++)
		if (!image->segment[i].offset)
			return FILE_IMAGE_BASE + image->segment[i].address;
	return FILE_IMAGE_HEADER;
}

static bool segment_holds(const struct segment *segment, u64 address, u32 bytes)
{
	u64 at = address - segment->address;

	return at < segment->bytes && segment->bytes - at >= bytes;
}

void file_image_borrow_bytes(struct file_image *image, const u8 *bytes, u64 count)
{
	image->lent = bytes;
	image->lent_bytes = count;
}

bool file_image_read(struct file_image *image, u64 address, void *buffer, u32 bytes)
{
	u64 at = address - FILE_IMAGE_BASE;

	if (address >= FILE_IMAGE_HEADER)
		return read_file_by_cached_blocks(image, address - FILE_IMAGE_HEADER, buffer,
						  bytes);
	if (address >= FILE_IMAGE_LENT) {
		at = address - FILE_IMAGE_LENT;
		if (at > image->lent_bytes || image->lent_bytes - at < bytes)
			return false;
		memcpy(buffer, image->lent + at, bytes);
		return true;
	}
	for (u32 i = 0; i < image->segment_count; i++) {
		u32 index = (image->last + i) % image->segment_count;
		const struct segment *segment = &image->segment[index];

		if (!segment_holds(segment, at, bytes))
			continue;
		image->last = index;
		return read_file_by_cached_blocks(image, segment->offset + (at - segment->address),
						  buffer, bytes);
	}
	return false;
}

bool file_image_code_offset(const struct file_image *image, u64 start, u64 *end, u64 *offset)
{
	u64 at = start - FILE_IMAGE_BASE;

	for (u32 i = 0; i < image->segment_count; i++) {
		const struct segment *segment = &image->segment[i];
		u64 limit = FILE_IMAGE_BASE + segment->address + segment->bytes;

		if (!(segment->flags & PF_X) || !segment_holds(segment, at, 1))
			continue;
		*offset = segment->offset + (at - segment->address);
		*end = *end < limit ? *end : limit;
		return true;
	}
	return false;
}
