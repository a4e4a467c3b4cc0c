/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each type of source needs of the kernel. A recording that was refused gives the reason of
 * the feature that is missing, in the words of `doctor`, which tries the same features beforehand.
 */
#ifndef LIB_CAPTURE_SOURCE_NEEDS_H
#define LIB_CAPTURE_SOURCE_NEEDS_H

#include "capture/source/source.h"
#include "stackmap/error.h"

/* Tries the features that these sources need, tens of milliseconds each. If one of them does not
 * work, `error` says so with `code`, an errno. `error` stays as it is if all of them work, or if no
 * BPF program can be loaded at all. Returns -code. */
int source_needs_explain(const struct source_list *sources, int code, struct stackmap_error *error);

#endif
