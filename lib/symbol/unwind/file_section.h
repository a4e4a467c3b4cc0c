/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One section of an ELF file, unpacked. The file may hold any bytes. */
#ifndef LIB_SYMBOL_FILE_SECTION_H
#define LIB_SYMBOL_FILE_SECTION_H

#include "scalar.h"

struct file_section {
	u8 *bytes; /* for the caller to free */
	u64 count;
	u64 address; /* 0 = the section is not loaded */
};

/* Reads the first section whose name ends with `name`. -ENOENT: no such section; -EBADMSG: the
 * section cannot be read or unpacked, or is larger than 128 MiB; -ENOMEM. */
int file_section_read(int file, const char *name, struct file_section *section);

#endif
