/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ELF file as it would be mapped, read by address: its segments that are not written to. It is
 * read, not mapped into memory, so one that shrinks meanwhile gives an error and not SIGBUS.
 */
#ifndef LIB_SYMBOL_FILE_IMAGE_H
#define LIB_SYMBOL_FILE_IMAGE_H

#include <stdbool.h>

#include "scalar.h"

#define FILE_IMAGE_BASE (1ULL << 44)   /* the address that the file calls 0 */
#define FILE_IMAGE_LENT (1ULL << 45)   /* the address of the bytes of file_image_lend() */
#define FILE_IMAGE_HEADER (1ULL << 46) /* where a header can be read that no segment holds */

struct file_image;

/* The file stays open until the image is freed. -ENOEXEC: it is no ELF file for x86-64, or none
 * whose code has one place each. */
int file_image_create(int file, struct file_image **out);
void file_image_free(struct file_image **image);

/* The ELF header's address; FILE_IMAGE_HEADER: it would not be mapped (ld -n). */
u64 file_image_header(const struct file_image *image);

/* Makes `bytes` readable at FILE_IMAGE_LENT. The caller keeps them until the image is freed. */
void file_image_lend(struct file_image *image, const u8 *bytes, u64 count);

/* All bytes or none. */
bool file_image_read(struct file_image *image, u64 address, void *buffer, u32 bytes);

/* Where in the file the code of [*start, *end) lies: the range becomes what one segment has of it.
 * False: nothing of it is code at its start. */
bool file_image_code(const struct file_image *image, u64 start, u64 *end, u64 *offset);

#endif
