/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a small BTF file for libbpf, with only those of the kernel's types that a BPF object names.
 * The ids of types in this file are not the kernel's ids, so an object that uses ids must be loaded
 * without such a file.
 */
#ifndef LIB_CAPTURE_KERNEL_TYPES_H
#define LIB_CAPTURE_KERNEL_TYPES_H

#include <bpf/btf.h>
#include <stddef.h>

/* All zeros = no file: libbpf searches all types of the kernel. */
struct kernel_types {
	int file; /* descriptor of the BTF file, a memfd */
	char path[32];
};

/* Makes the file for a BPF object. `object`: the object's ELF file in memory. */
void kernel_types_make(const void *object, size_t bytes, struct kernel_types *types);

/* Returns the path of the BTF file for struct bpf_object_open_opts, or NULL. libbpf reads the file
 * when the object is loaded. */
const char *kernel_types_path(const struct kernel_types *types);

void kernel_types_clear(struct kernel_types *types);

/*
 * Copies the few types that an object names out of all the kernel's types. The subset saves time:
 * libbpf searches all types that it gets, once for each type that the object reads. Types of
 * members are copied, too; pointers point to void in the copy, since field accesses never go
 * through a pointer.
 */

/* `raw`: the kernel's BTF, in this machine's byte order. `named`: the object's BTF. *out: the
 * copied BTF, which the caller frees. -EINVAL: unknown form of BTF; -ENOMEM. */
int type_subset_make(const void *raw, size_t raw_bytes, const struct btf *named, void **out,
		     size_t *out_bytes);

#endif
