/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of a task as far as it can still be had: what an unwinder reads. */
#ifndef LIB_USER_UNWIND_RAW_MEMORY_H
#define LIB_USER_UNWIND_RAW_MEMORY_H

#include <libelf.h>
#include <stdbool.h>

#include "code_file.h"
#include "raw_stack.h"

struct raw_memory {
	struct readers *readers;
	struct code_files *files;
	Elf *vdso; /* ours; NULL: there is none */

	const struct raw_stack *raw;
	const struct raw_mapping *mapping; /* whose code and tables can be read; NULL: none */
	u32 kind;			   /* enum mapping_kind of it */
	const struct code_file *file;	   /* MAPPING_FILE: or NULL */
	bool is_foreign;		   /* the task's ids mean nobody here */
	u64 bias;			   /* address = bias + virtual address in the file */
};

int raw_memory_create(struct raw_memory *memory);
void raw_memory_release(struct raw_memory *memory);

/* From here on it is the memory of this task. */
void raw_memory_begin(struct raw_memory *memory, const struct raw_stack *raw);

/* Makes a mapping of the task readable. `record` may be NULL. Returns the address of the image's
 * ELF header; 0: it has none. */
u64 raw_memory_enter(struct raw_memory *memory, const struct raw_mapping *mapping,
		     const struct mapping_record *record);

/* All bytes or none. */
bool raw_memory_read(struct raw_memory *memory, u64 address, void *buffer, u32 bytes);

#endif
