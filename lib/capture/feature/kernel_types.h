/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file with those of the kernel's types that an object names, for libbpf (type_subset.h). Their
 * numbers are not the kernel's: an object that asks for one must do without such a file.
 */
#ifndef LIB_CAPTURE_KERNEL_TYPES_H
#define LIB_CAPTURE_KERNEL_TYPES_H

#include <stddef.h>

/* All zero: there is none, and libbpf looks through all types. */
struct kernel_types {
	int file; /* in memory */
	char path[32];
};

/* `object` is what the object is opened from. */
void kernel_types_make(const void *object, size_t bytes, struct kernel_types *types);

/* For struct bpf_object_open_opts. The file is read when the object is loaded. */
const char *kernel_types_path(const struct kernel_types *types);

void kernel_types_clear(struct kernel_types *types);

#endif
