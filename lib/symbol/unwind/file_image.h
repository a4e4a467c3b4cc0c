/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ELF file by the addresses at which it would be mapped, without writable data. The file is
 * read, not mapped into memory, so a file that shrinks meanwhile gives an error instead of SIGBUS.
 */
#ifndef LIB_SYMBOL_FILE_IMAGE_H
#define LIB_SYMBOL_FILE_IMAGE_H

#include <stdbool.h>

#include "scalar.h"

#define FILE_IMAGE_BASE (1ULL << 44)   /* stands for address 0 of the file */
#define FILE_IMAGE_LENT (1ULL << 45)   /* address of the bytes of file_image_lend() */
#define FILE_IMAGE_HEADER (1ULL << 46) /* address of a header that no segment holds */

struct file_image;

/* The caller keeps the file open until the image is freed. -ENOEXEC: not an ELF file for this
 * architecture, or segments of code overlap. */
int file_image_create(int file, struct file_image **out);
void file_image_free(struct file_image **image);

/* The address of the ELF header; FILE_IMAGE_HEADER: the header would not be mapped (ld -n). */
u64 file_image_header(const struct file_image *image);

/* Makes `bytes` readable at FILE_IMAGE_LENT. The caller keeps them until the image is freed. */
void file_image_lend(struct file_image *image, const u8 *bytes, u64 count);

/* Reads all bytes; false: the image does not have all of them. */
bool file_image_read(struct file_image *image, u64 address, void *buffer, u32 bytes);

/* Gives the file offset of the code at `start`, and cuts *end to the end of its segment. False: the
 * address `start` is not code. */
bool file_image_code(const struct file_image *image, u64 start, u64 *end, u64 *offset);

#endif
