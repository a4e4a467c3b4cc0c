/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names for kernel addresses of another machine or another boot, from files that were kept of it.
 */
#ifndef LIB_SYMBOL_KERNEL_NAMES_H
#define LIB_SYMBOL_KERNEL_NAMES_H

#include <stdbool.h>

#include "stackmap/error.h"
#include "symbol/table/symbol_table.h"

struct kernel_names;

/* A copy of /proc/kallsyms. -EBADMSG when it names no address: not such a file, or kptr_restrict
 * hid them. */
int kernel_names_from_kallsyms(const char *path, struct kernel_names **out,
			       struct stackmap_error *error);

/* The kernel's ELF file. `stext`: where _stext was at run time (KASLR moves it); 0: as linked. */
int kernel_names_from_vmlinux(const char *path, u64 stext, struct kernel_names **out,
			      struct stackmap_error *error);

/* Where _stext was at run time; 0: the file does not say. */
u64 kernel_names_stext(const struct kernel_names *names);

void kernel_names_free(struct kernel_names **names);

/* The symbol that covers the byte before a return address: its start, size and name. */
bool kernel_names_find(const struct kernel_names *names, u64 return_address, struct symbol *symbol);

#endif
