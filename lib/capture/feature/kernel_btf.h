/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the type information (BTF) of the running kernel. */
#ifndef LIB_CAPTURE_KERNEL_BTF_H
#define LIB_CAPTURE_KERNEL_BTF_H

#include "scalar.h"
#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns all types of the kernel; the caller calls btf__free(). NULL with errno: the kernel has no
 * BTF. */
struct btf *kernel_btf_load(void);

/* Return the BTF id of a kernel function, and of the function type of a tracepoint; or -errno. */
int kernel_btf_function_id(const char *name);
int kernel_btf_tracepoint_id(const char *name);

/* Returns a bit for each of `names`, at most 64: 1 if the name occurs in the BTF. Far cheaper than
 * loading the BTF. */
u64 kernel_btf_find_names(const char *const names[], u32 count);

/* The kernel's BTF as bytes. */
struct kernel_btf_bytes {
	char *bytes;
	size_t count;
	bool is_mapped;
};

int kernel_btf_open(struct kernel_btf_bytes *btf);
void kernel_btf_close(struct kernel_btf_bytes *btf);

#endif
