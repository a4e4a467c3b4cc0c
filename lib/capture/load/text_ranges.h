/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the running kernel has the functions of abi/kernel_text.h, from /proc/kallsyms. */
#ifndef LIB_CAPTURE_TEXT_RANGES_H
#define LIB_CAPTURE_TEXT_RANGES_H

#include "kernel_text.h"

/* Leaves *text empty where addresses are hidden: stacks then begin with the tracer's frames, and
 * who is interrupted passes for who wakes. 0 or -errno. */
int text_ranges_read(struct kernel_text *text);

/* The same from the bytes of a kallsyms file. */
void text_ranges_parse(const char *kallsyms, u64 bytes, struct kernel_text *text);

#endif
