/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a copy of /proc/kallsyms is of the boot of a recording. With another boot's, each name
 * would be a wrong one: the kernel lies elsewhere then, or is another one.
 */
#ifndef LIB_REPORT_KERNEL_MATCH_H
#define LIB_REPORT_KERNEL_MATCH_H

#include "symbol/kernel/kernel_names.h"
#include "trace/read/reader.h"

/* Why the copy is not to be used, or NULL. Where the kernel lay was perhaps hidden from the
 * recorder: then it is believed, unless there are recordings of `many_boots`. */
const char *kernel_mismatch(const struct trace_reader *reader, const struct kernel_names *names,
			    bool many_boots);

#endif
