/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this instance is: set by user space before loading, constants for the verifier. */
#ifndef BPF_INSTANCE_H
#define BPF_INSTANCE_H

#include <bpf/bpf_helpers.h>

#include "config.h"
#include "ring_writer.h"
#include "stack_table.h"

const volatile struct capture_config config = {};
const volatile struct table_geometry geometry = {};
const volatile struct syscall_kinds syscalls = {};

/* Switched while recording, by user space. */
u32 paused;

#endif
