/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code of an ELF file for the analysis: sections, symbols, pointers, imports. */
#ifndef LIB_SYMBOL_CODE_FILE_H
#define LIB_SYMBOL_CODE_FILE_H

#include <stdbool.h>

#include "code_rows.h"

/* A word of the file's memory that holds an address. */
struct code_pointer {
	u32 slot;
	u32 target;
};

struct code_image {
	const u8 *bytes; /* the bytes of all code, from address `start` on */
	u32 start, end;
	u16 machine; /* EM_X86_64 or EM_AARCH64 */
	bool has_symbols;
	bool is_fixed; /* the file is mapped at its link time addresses */
	u32 entry;     /* entry point of a program; 0 = the file has none */
	/* Each array is sorted by the first field of its entries, and the entries do not
	 * overlap. */
	const struct file_span *sections; /* sections of code */
	u32 section_count;
	const struct file_span *covered; /* functions that have an unwind table */
	u32 covered_count;
	/* Functions that have a symbol; end = start: the symbol has no size. */
	const struct file_span *symbols;
	u32 symbol_count;
	const struct code_pointer *pointers;
	u32 pointer_count;
	const u32 *noreturn; /* addresses of functions that never return, and of words that hold the
				address of such a function */
	u32 noreturn_count;
	/* Reads constants of the file; false: the file does not have all bytes. */
	bool (*read)(void *context, u32 address, void *buffer, u32 bytes);
	void *context;
};

struct code_file;

/* Finds the sections of code of a file, without reading the code. The caller keeps `file` open and
 * `covered` unchanged until the code file is freed. -ENOEXEC: not an ELF file of the
 * architecture whose registers rules have, or too large; -ENOMEM. */
int code_file_open(int file, const struct file_span *covered, u32 count, struct code_file **out);

/* Reads code, symbols and pointers of the file. -ENOEXEC, -ENOMEM. */
int code_file_load(struct code_file *file);

/* Opens a code file and loads it: code_file_open(), then code_file_load(). */
int code_file_create(int file, const struct file_span *covered, u32 count, struct code_file **out);
void code_file_free(struct code_file **file);

const struct code_image *code_file_image(const struct code_file *file);

/* Drops the names of functions, as if the file were static and stripped. Names of imports stay,
 * since each linked file has them. */
void code_file_strip(struct code_file *file);

#endif
