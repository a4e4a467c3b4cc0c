/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of an instance: programs that print its maps when a file is read. They are in an object
 * of their own, over the maps of the instance, so that a recording without files does not pay for
 * their verification.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "stack_map.c"

#include "show/show_aggregates.h"
#include "show/show_mappings.h"
#include "show/show_stacks.h"
#include "show/show_stat.h"
#include "show/show_trace.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
