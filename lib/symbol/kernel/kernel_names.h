/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names for kernel addresses of another machine or another boot, from files that were saved there.
 */
#ifndef LIB_SYMBOL_KERNEL_NAMES_H
#define LIB_SYMBOL_KERNEL_NAMES_H

#include <stdbool.h>

#include "stackmap/error.h"
#include "symbol/table/symbol_table.h"

struct kernel_names;

/* Reads a copy of /proc/kallsyms. -EBADMSG: another kind of file, or kptr_restrict hid all
 * addresses. */
int kernel_names_from_kallsyms(const char *path, struct kernel_names **out,
			       struct stackmap_error *error);

/* Reads the kernel's ELF file. `stext`: address of _stext at run time (KASLR moves it); 0: as
 * linked. */
int kernel_names_from_vmlinux(const char *path, u64 stext, struct kernel_names **out,
			      struct stackmap_error *error);

/* The address of _stext at run time; 0: the file does not have it. */
u64 kernel_names_stext(const struct kernel_names *names);

void kernel_names_free(struct kernel_names **names);

/* The symbol that covers the byte before a return address: its start, size and name. */
bool kernel_names_find(const struct kernel_names *names, u64 return_address, struct symbol *symbol);

#endif
