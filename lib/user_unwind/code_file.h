/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of mapped code, by mapping number. A file is opened once and read page by page. It is
 * not mapped into memory: if another process truncates a mapped file, readers of the mapping are
 * killed.
 */
#ifndef LIB_USER_UNWIND_CODE_FILE_H
#define LIB_USER_UNWIND_CODE_FILE_H

#include <stdbool.h>

#include "mapping.h"
#include "user_unwind/readers.h"

struct code_files;
struct code_file;

/* Creates an empty set of files. `readers` must outlive the files. 0 or -ENOMEM. */
int code_files_create(struct readers *readers, struct code_files **files);
void code_files_free(struct code_files **files);

/*
 * Returns the file of a mapping, valid until the next call; NULL: the file cannot be opened, or it
 * is not the file that was mapped. `seen` must not change.
 */
const struct code_file *code_files_get(struct code_files *files, const struct reader_file *seen);

/* True if a worker process keeps the file open. The content of such a file may differ from process
 * to process. */
bool code_file_is_held(const struct code_file *file);

/*
 * Reads bytes of a file. The last page is filled up with zeroes, as in memory. False: not all bytes
 * can be read.
 */
bool code_file_read(struct code_files *files, const struct code_file *file, u64 offset,
		    void *buffer, u32 bytes);

/*
 * Functions for a code file. code_file_address_of_offset(): finds the virtual address of the byte
 * of code at `offset`. code_file_address_of_elf_header(): finds the virtual address of the ELF
 * header. code_file_read_at_address(): reads bytes at a virtual address from segments that are not
 * writable. False: the file is not an ELF file, or has no such byte.
 */
bool code_file_address_of_offset(const struct code_file *file, u64 offset, u64 *address);
bool code_file_address_of_elf_header(const struct code_file *file, u64 *address);
bool code_file_read_at_address(struct code_files *files, const struct code_file *file, u64 address,
			       void *buffer, u32 bytes);

#endif
