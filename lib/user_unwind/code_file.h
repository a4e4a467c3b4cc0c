/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of mapped code, by mapping number: opened once, read page by page, never mapped, since
 * whoever truncates a mapped file kills its readers.
 */
#ifndef LIB_USER_UNWIND_CODE_FILE_H
#define LIB_USER_UNWIND_CODE_FILE_H

#include <stdbool.h>

#include "mapping.h"
#include "user_unwind/readers.h"

struct code_files;
struct code_file;

/* `readers` stays the caller's, and has to live as long. */
int code_files_create(struct readers *readers, struct code_files **files);
void code_files_free(struct code_files **files);

/* The file of a mapping, valid until the next call; NULL if it cannot be opened or is not the one
 * that was mapped. The record has to stay as it is. */
const struct code_file *code_files_get(struct code_files *files, const struct reader_file *seen);

/* It is what one process shows, and maybe no other. */
bool code_file_is_held(const struct code_file *file);

/* Bytes of a file, all or none; the last page is followed by zeroes, as in memory. */
bool code_file_read(struct code_files *files, const struct code_file *file, u64 offset,
		    void *buffer, u32 bytes);

/*
 * Of an ELF file: the virtual address of a byte in its code; that of its header; and bytes at a
 * virtual address, of segments that are not writable. False: there is none.
 */
bool code_file_address(const struct code_file *file, u64 offset, u64 *address);
bool code_file_header(const struct code_file *file, u64 *address);
bool code_file_read_address(struct code_files *files, const struct code_file *file, u64 address,
			    void *buffer, u32 bytes);

#endif
