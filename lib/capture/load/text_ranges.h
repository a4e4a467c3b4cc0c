/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the kernel functions of abi/config.h (tracer, interrupts, scheduler...) in the kernel's
 * list of symbols. */
#ifndef LIB_CAPTURE_TEXT_RANGES_H
#define LIB_CAPTURE_TEXT_RANGES_H

#include <stddef.h>

#include "config.h"
#include "symbol/kernel/kernel_image.h"

/* Reads the address ranges of the kernel functions of abi/config.h (tracer, interrupts,
 * scheduler...). *text stays empty if the kernel hides addresses; then stacks begin with frames of
 * the tracer, an interrupted task is taken for the waker of another task, and kernel code that is
 * interrupted at the first instruction of a function gets the name of the function before it.
 * `program`: descriptor of the BPF program list_kernel_symbols (bpf/mapping/kernel_symbols.h);
 * negative: /proc/kallsyms is read. *copy holds the list that was read; the caller closes the copy.
 * 0 or -errno. */
int text_ranges_read(int program, struct kernel_text *text, struct kernel_copy *copy);

/* Finds the address ranges of the functions of abi/config.h in the bytes of a kallsyms file. */
void text_ranges_parse(const char *kallsyms, u64 bytes, struct kernel_text *text);

/* Returns the kind of a kernel function by its name, which need not end with a NUL. */
enum text_kind text_kind_of_name(const char *name, size_t name_bytes);

/* Adds FRAME_BEHIND_INTERRUPTED (abi/stack.h) to each frame of a kernel stack that was interrupted:
 * the next inner frame is in a function of kind TEXT_ENTRY. */
void text_ranges_mark_interrupted(const struct kernel_text *text, u64 *frames, u32 depth);

#endif
