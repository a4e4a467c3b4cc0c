/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The running kernel and its modules: load address ranges (/proc/kallsyms, /proc/modules) and build
 * ids (/sys/kernel/notes, /sys/module/NAME/notes/.note.gnu.build-id). */
#ifndef LIB_SYMBOL_KERNEL_IMAGE_H
#define LIB_SYMBOL_KERNEL_IMAGE_H

#include <stdbool.h>

#include "kernel_files.h"
#include "stackmap/error.h"
#include "trace/event.h"

/* Calls each(arg, module) for vmlinux first, then for each module. Addresses are 0 where
 * kptr_restrict hides them. */
int kernel_image_modules(const struct kernel_files *files,
			 int (*each)(void *arg, const struct trace_module *module), void *arg,
			 struct stackmap_error *error);

/* Whether the files tell addresses. */
bool kernel_image_shown(const struct kernel_files *files);

#endif
