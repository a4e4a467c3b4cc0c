/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file with the kernel's types that an object names, for libbpf. The ids of types are not
 * those of the kernel, so an object that uses ids must be loaded without such a file.
 */
#ifndef LIB_CAPTURE_KERNEL_TYPES_H
#define LIB_CAPTURE_KERNEL_TYPES_H

#include <bpf/btf.h>
#include <stddef.h>

/* All zero = no file: libbpf searches all types. */
struct kernel_types {
	int file; /* in memory */
	char path[32];
};

/* `object`: the ELF file of the BPF object. */
void kernel_types_make(const void *object, size_t bytes, struct kernel_types *types);

/* For struct bpf_object_open_opts. The file is read when the object is loaded. */
const char *kernel_types_path(const struct kernel_types *types);

void kernel_types_clear(struct kernel_types *types);

/*
 * The few types of a kernel that an object names, out of all its types: libbpf searches all types
 * that it is given, once for each type that the object reads. Types inside a type are included; a
 * pointer points to void, as accesses never go through one.
 */

/* `raw`: the kernel's BTF, in this machine's byte order. 0 and BTF for the caller to free; -EINVAL:
 * an unknown form; -ENOMEM. */
int type_subset_make(const void *raw, size_t raw_bytes, const struct btf *named, void **out,
		     size_t *out_bytes);

#endif
