/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel features that each type of source needs. When a recording is refused, the error names
 * the missing feature, in the words of `doctor`, which tries the same features.
 */
#ifndef LIB_CAPTURE_SOURCE_NEEDS_H
#define LIB_CAPTURE_SOURCE_NEEDS_H

#include "capture/source/source.h"
#include "stackmap/error.h"

/* Tries the features that the sources need, which takes tens of milliseconds each. If one does not
 * work, `error` names it with `code`, an errno. `error` is unchanged if all work, or if no BPF
 * program can be loaded at all. Returns -code. */
int source_needs_explain(const struct source_list *sources, int code, struct stackmap_error *error);

#endif
