/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The type information of the running kernel. */
#ifndef LIB_CAPTURE_KERNEL_BTF_H
#define LIB_CAPTURE_KERNEL_BTF_H

#include "scalar.h"
#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>

/* All types, for btf__free(); NULL and errno: the kernel has no BTF. */
struct btf *kernel_btf_load(void);

/* The BTF id of a kernel function, or of the type of a tracepoint's functions; -errno. */
int kernel_btf_function_id(const char *name);
int kernel_btf_tracepoint_id(const char *name);

/* The names, at most 64, that occur in the BTF, as bits. Far cheaper than loading it. */
u64 kernel_btf_find_names(const char *const names[], u32 count);

/* The bytes of the BTF. */
struct kernel_btf_bytes {
	char *bytes;
	size_t count;
	bool is_mapped;
};

int kernel_btf_open(struct kernel_btf_bytes *btf);
void kernel_btf_close(struct kernel_btf_bytes *btf);

#endif
