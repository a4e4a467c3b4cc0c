/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few types of a kernel that an object names, out of all its types: libbpf searches all types
 * that it is given, once for each type that the object reads. Types inside a type are included; a
 * pointer points to void, as accesses never go through one.
 */
#ifndef LIB_CAPTURE_TYPE_SUBSET_H
#define LIB_CAPTURE_TYPE_SUBSET_H

#include <bpf/btf.h>
#include <stddef.h>

/* `raw`: the kernel's BTF, in this machine's byte order. 0 and BTF for the caller to free; -EINVAL:
 * an unknown form; -ENOMEM. */
int type_subset(const void *raw, size_t raw_bytes, const struct btf *named, void **out,
		size_t *out_bytes);

#endif
