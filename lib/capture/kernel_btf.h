/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The running kernel's own type information. */
#ifndef LIB_CAPTURE_KERNEL_BTF_H
#define LIB_CAPTURE_KERNEL_BTF_H

#include <bpf/btf.h>
#include <stdbool.h>

/* NULL and errno when the kernel has none. The caller frees it with btf__free(). */
struct btf *kernel_btf_load(void);

/* The BTF id of a kernel function, or -errno. */
int kernel_btf_function(const char *name);

/* Whether anything there has this name. Far cheaper than loading it. */
bool kernel_btf_mentions(const char *name);

#endif
