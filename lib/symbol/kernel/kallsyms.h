/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's own symbol list, /proc/kallsyms: "ADDRESS TYPE NAME[<tab>[MODULE]]", modules and BPF
 * programs included. */
#ifndef LIB_SYMBOL_KALLSYMS_H
#define LIB_SYMBOL_KALLSYMS_H

#include "module_list.h"
#include "symbol/table/symbol_table.h"

struct kallsyms_line {
	u64 address;
	char type;
	const char *name; /* not terminated */
	size_t name_bytes;
	const char *module;  /* "bpf" for BPF programs */
	size_t module_bytes; /* 0: the kernel image */
};

/* Calls each(arg, line) for every line that makes sense; stops at its first non-zero return and
 * returns it. */
int kallsyms_each(const char *text, size_t bytes,
		  int (*each)(void *arg, const struct kallsyms_line *line), void *arg);

/* Of a symbol of the kernel image; 0: it is not there, or hidden. */
u64 kallsyms_address(const char *text, size_t bytes, const char *name);

/* Fills and seals a table with the code symbols. It stays empty where kptr_restrict shows all
 * addresses as 0. */
int kallsyms_parse(const char *text, size_t bytes, const struct module_list *modules,
		   struct symbol_table *table);

/* What lasts: the modules, and last the code of the image. What lies there is called the same as
 * long as the modules are the same. */
struct kallsyms_lasting {
	struct module_list ranges;
	size_t last; /* where the last line of them begins */
	u64 address; /* which that line says; 0: there is none */
};

void kallsyms_lasting_clear(struct kallsyms_lasting *lasting);

/* The same of what lasts in the running kernel, from open /proc/kallsyms and /proc/modules (-1:
 * there is none). The caller clears *lasting. */
int kallsyms_read_open(int kallsyms, int modules, struct symbol_table *table,
		       struct kallsyms_lasting *lasting);

/* Fills and seals a table with the symbols of what does not last, programs of BPF above all: the
 * lines behind the last one that does. -ESTALE: that is another line now, or none. The kernel walks
 * its programs from the start for each that it lists, 2 s for 3,000 of them. */
int kallsyms_read_passing(int kallsyms, const struct kallsyms_lasting *lasting,
			  struct symbol_table *table);

#endif
