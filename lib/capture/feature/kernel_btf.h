/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The running kernel's own type information. */
#ifndef LIB_CAPTURE_KERNEL_BTF_H
#define LIB_CAPTURE_KERNEL_BTF_H

#include "scalar.h"
#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>

/* NULL and errno when the kernel has none. The caller frees it with btf__free(). */
struct btf *kernel_btf_load(void);

/* The BTF id of a kernel function, or of the type of a tracepoint's functions; -errno. */
int kernel_btf_function(const char *name);
int kernel_btf_tracepoint(const char *name);

/* Which of these names, at most 64, anything there has, as bits. Far cheaper than loading it. */
u64 kernel_btf_mentions(const char *const names[], u32 count);

/* All of it as it is there. */
struct kernel_btf_bytes {
	char *bytes;
	size_t count;
	bool is_mapped;
};

int kernel_btf_open(struct kernel_btf_bytes *btf);
void kernel_btf_close(struct kernel_btf_bytes *btf);

#endif
