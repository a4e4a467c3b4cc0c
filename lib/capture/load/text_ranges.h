/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the running kernel has the functions of abi/kernel_text.h, from /proc/kallsyms. */
#ifndef LIB_CAPTURE_TEXT_RANGES_H
#define LIB_CAPTURE_TEXT_RANGES_H

#include <stddef.h>

#include "kernel_text.h"
#include "symbol/kernel/kernel_image.h"

/* Leaves *text empty where addresses are hidden: stacks then begin with the tracer's frames, the
 * interrupted task passes for the task that wakes another, and kernel code that is interrupted at
 * the first instruction of a function has the name of the function before. *copy, for the caller to
 * close: what was read. 0 or -errno. */
int text_ranges_read(struct kernel_text *text, struct kernel_copy *copy);

/* The same from the bytes of a kallsyms file. */
void text_ranges_parse(const char *kallsyms, u64 bytes, struct kernel_text *text);

/* The kind of the function of this name, which need not end with a NUL. */
enum text_kind text_kind_of_name(const char *name, size_t name_bytes);

/* Makes the frames of a kernel stack those of abi/stack.h: adds FRAME_BEHIND_INTERRUPTED to each
 * frame whose inner frame lies in TEXT_ENTRY. */
void text_ranges_mark_interrupted(const struct kernel_text *text, u64 *frames, u32 depth);

#endif
