/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tracepoints whose question reads the record (bpf/event/field_value.h). */
#ifndef LIB_CAPTURE_ATTACH_FIELD_VALUE_H
#define LIB_CAPTURE_ATTACH_FIELD_VALUE_H

#include "capture/load/attach.h"

/* Attaches both programs of a source. 0 or -errno. */
int attach_field_value(struct attachment *attachment, const struct source *source, u32 kind);

/*
 * `misses` of the kernel's programs and those that only the second program knows of; of an instance
 * that another process started: up to the last run on each CPU. A miss of the second program is no
 * loss where the first has run, which is then still `ahead`.
 */
u64 attach_field_value_skipped(const struct attachment *attachment, u64 misses);

#endif
