/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ELF file by the addresses at which it would be mapped, without writable data. The file is
 * read, not mapped into memory, so a file that shrinks meanwhile gives an error instead of SIGBUS.
 */
#ifndef LIB_SYMBOL_FILE_IMAGE_H
#define LIB_SYMBOL_FILE_IMAGE_H

#include <stdbool.h>

#include "scalar.h"

/* In an image, this address stands for address 0 of the file. */
#define FILE_IMAGE_BASE (1ULL << 44)
/* Address in the image of the bytes that file_image_borrow_bytes() adds. */
#define FILE_IMAGE_LENT (1ULL << 45)
/* Address in the image of an ELF header that no segment maps. */
#define FILE_IMAGE_HEADER (1ULL << 46)

struct file_image;

/* Creates the image of a file, which the caller keeps open until the image is freed. -ENOEXEC: not
 * an ELF file for this architecture, or segments of code overlap. */
int file_image_create(int file, struct file_image **out);
void file_image_free(struct file_image **image);

/* The address of the ELF header in the image; FILE_IMAGE_HEADER: no segment maps the header (ld
 * -n). */
u64 file_image_header_address(const struct file_image *image);

/* Makes `bytes` readable at the address FILE_IMAGE_LENT of the image. The caller keeps the bytes
 * until the image is freed. */
void file_image_borrow_bytes(struct file_image *image, const u8 *bytes, u64 count);

/* Reads bytes at an address of the image; false: the image does not have all of them. */
bool file_image_read(struct file_image *image, u64 address, void *buffer, u32 bytes);

/* Gives the file offset of the code at `start`, and cuts *end to the end of its segment. False: the
 * address `start` is not code. */
bool file_image_code_offset(const struct file_image *image, u64 start, u64 *end, u64 *offset);

#endif
