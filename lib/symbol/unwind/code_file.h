/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an ELF file says of its code, for the analysis: sections, symbols, pointers, imports. */
#ifndef LIB_SYMBOL_CODE_FILE_H
#define LIB_SYMBOL_CODE_FILE_H

#include "code_analysis.h"
#include "code_rows.h"

struct code_file;

/* Finds the code of a file and the parts of it that `covered` does not cover, and reads no code.
 * The caller keeps `file` open and `covered` unchanged until the code file is freed. -ENOEXEC: it
 * is no ELF file for x86-64, or too large; -ENOMEM. */
int code_file_open(int file, const struct file_span *covered, u32 count, struct code_file **out);

/* Code, symbols and pointers. -ENOEXEC, -ENOMEM. */
int code_file_load(struct code_file *file);

/* Both. */
int code_file_create(int file, const struct file_span *covered, u32 count, struct code_file **out);
void code_file_free(struct code_file **file);

const struct code_image *code_file_image(const struct code_file *file);

/* Forgets the names of functions, as if the file were static and stripped; those of imports,
 * without which no file could be linked, stay. */
void code_file_strip(struct code_file *file);

#endif
