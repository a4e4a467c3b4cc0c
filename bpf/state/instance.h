/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The properties of this instance: set by user space before loading, constants for the verifier.
 * They are in the skeleton unless INSTANCE_CONSTANT makes them static.
 */
#ifndef BPF_INSTANCE_H
#define BPF_INSTANCE_H

#include <bpf/bpf_helpers.h>

#include "config.h"
#include "ring_writer.h"
#include "stack_table.h"

#ifndef INSTANCE_CONSTANT
#define INSTANCE_CONSTANT
#endif

INSTANCE_CONSTANT const volatile struct capture_config config = {};
INSTANCE_CONSTANT const volatile struct table_geometry geometry = {};

#endif
