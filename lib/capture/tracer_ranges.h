/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the running kernel's tracepoint glue lies (abi/tracer_text.h), from /proc/kallsyms. */
#ifndef LIB_CAPTURE_TRACER_RANGES_H
#define LIB_CAPTURE_TRACER_RANGES_H

#include "tracer_text.h"

/* Leaves *text empty where addresses are hidden: stacks then begin with the tracer's frames. 0 or
 * -errno. */
int tracer_ranges_read(struct tracer_text *text);

/* The same from the bytes of a kallsyms file. */
void tracer_ranges_parse(const char *kallsyms, u64 bytes, struct tracer_text *text);

#endif
