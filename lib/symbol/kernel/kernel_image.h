/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The running kernel and its modules: load address ranges (/proc/kallsyms, /proc/modules,
 * /proc/iomem) and build ids (/sys/kernel/notes, /sys/module/NAME/notes/.note.gnu.build-id).
 *
 * kptr_restrict and CAP_SYSLOG at the time of opening decide whether the files show addresses. A
 * recording therefore opens them at its start, and needs no capability to read them later.
 */
#ifndef LIB_SYMBOL_KERNEL_IMAGE_H
#define LIB_SYMBOL_KERNEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "stackmap/error.h"
#include "trace/event.h"

struct kernel_files { /* Descriptors of open files of /proc; -1 = the file cannot be opened. */
	int kallsyms;
	int modules;
	int iomem;
};

/* Descriptors of copies in memory: of the lines of /proc/kallsyms with symbols of the kernel image
 * and of modules, and of /proc/modules at that time; -1: no copy. The kernel makes the text of
 * /proc/kallsyms anew for each reading, which costs more than all later use of the text, so one
 * reading serves all readers. */
struct kernel_copy {
	int kallsyms;
	int modules;
};

/* Reads /proc/modules and then the kernel's symbols: from `list`, an open file with the lines of
 * kallsyms, or, if it is negative or fails, from /proc/kallsyms. *text, for the caller to free, is
 * what the copy of kallsyms holds. Without memory for a copy, both files are -1. 0 or -errno: no
 * text. */
int kernel_copy_read(int list, struct kernel_copy *copy, char **text, size_t *bytes);
void kernel_copy_close(struct kernel_copy *copy);

void kernel_files_open(struct kernel_files *files);
void kernel_files_close(struct kernel_files *files);

/* Calls each(arg, module) for vmlinux first, then for each module. Addresses are 0 where
 * kptr_restrict hides them. */
int kernel_image_each_module(const struct kernel_files *files,
			     int (*each)(void *arg, const struct trace_module *module), void *arg,
			     struct stackmap_error *error);

/* True if the files show addresses. */
bool are_kernel_addresses_shown(const struct kernel_files *files);

#endif
