/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few types of a kernel that an object names, out of all that the kernel has: libbpf looks
 * through everything it is given, once for each type that the object reads. What lies in a type is
 * there as well, by value; a pointer points to nothing, as accesses never go through one.
 */
#ifndef LIB_CAPTURE_TYPE_SUBSET_H
#define LIB_CAPTURE_TYPE_SUBSET_H

#include <bpf/btf.h>
#include <stddef.h>

/* `raw` is BTF as the kernel shows it, of this machine's byte order. 0 and BTF for the caller to
 * free; -EINVAL: there is something in it that is not known here; -ENOMEM. */
int type_subset(const void *raw, size_t raw_bytes, const struct btf *named, void **out,
		size_t *out_bytes);

#endif
