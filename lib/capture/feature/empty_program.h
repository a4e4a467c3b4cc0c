/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A BPF program that does nothing, to try whether one can be loaded and attached. */
#ifndef LIB_CAPTURE_EMPTY_PROGRAM_H
#define LIB_CAPTURE_EMPTY_PROGRAM_H

#include <linux/bpf.h>

#include "scalar.h"

/* Its file descriptor, or -errno. `attach_type` and `btf_id` are 0 for types that need none. */
int empty_program_load(enum bpf_prog_type type, u32 attach_type, u32 btf_id);

#endif
