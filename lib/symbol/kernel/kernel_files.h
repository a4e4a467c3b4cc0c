/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files in which the kernel tells its symbols and addresses. What they show is decided when
 * they are opened (kptr_restrict, CAP_SYSLOG), so they are opened at the start: a recording follows
 * kptr_restrict as it was then, and needs no capability to read them later.
 */
#ifndef LIB_SYMBOL_KERNEL_FILES_H
#define LIB_SYMBOL_KERNEL_FILES_H

struct kernel_files { /* -1: cannot be opened */
	int kallsyms;
	int modules;
	int iomem;
};

void kernel_files_open(struct kernel_files *files);
void kernel_files_close(struct kernel_files *files);

#endif
