/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first lines of the file `mappings`: the kernel and its modules. */
#ifndef LIB_CAPTURE_KERNEL_MAPPINGS_H
#define LIB_CAPTURE_KERNEL_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"
#include "stackmap/error.h"
#include "symbol/kernel/kernel_image.h"

struct kernel_mappings {
	char *text; /* lines, each with a NUL */
	size_t bytes;
	u32 count;
	u32 longest; /* bytes, with its NUL */
};

int kernel_mappings_read(const struct kernel_files *files, bool hides_addresses,
			 struct kernel_mappings *lines, struct stackmap_error *error);
void kernel_mappings_clear(struct kernel_mappings *lines);

#endif
