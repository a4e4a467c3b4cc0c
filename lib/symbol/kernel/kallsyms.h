/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's lists of its modules, /proc/modules, and of its symbols, /proc/kallsyms: lines
 * "ADDRESS TYPE NAME[<tab>[MODULE]]", with those of modules and BPF programs. */
#ifndef LIB_SYMBOL_KERNEL_KALLSYMS_H
#define LIB_SYMBOL_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"
#include "symbol/table/symbol_table.h"

#define MODULE_NAME_BYTES 64

struct module {
	char name[MODULE_NAME_BYTES];
	u64 start; /* address of the module's text; 0 = hidden by kptr_restrict */
	u64 end;   /* end of the module's text, at most the start of the next module */
};

/* The loaded modules by /proc/modules: "NAME SIZE REFS USERS STATE 0xADDRESS [TAINT]". */
struct module_list {
	struct module *modules; /* sorted by address */
	u32 count, room;
};

/* Parses the text of /proc/modules. Lines that do not make sense are left out. 0 or -ENOMEM. */
int module_list_parse(const char *text, size_t bytes, struct module_list *list);

/* Reads an open /proc/modules; -1 (a kernel without modules) gives an empty list. */
int module_list_read_open(int fd, struct module_list *list);

/* The module of this name, or NULL. */
const struct module *module_list_find(const struct module_list *list, const char *name,
				      size_t name_bytes);

void module_list_clear(struct module_list *list);

struct kallsyms_line {
	u64 address;
	char type;
	const char *text; /* where the line begins in the text */
	const char *name; /* name of the symbol, without a NUL */
	size_t name_bytes;
	const char *module;  /* name of the module; "bpf" for BPF programs */
	size_t module_bytes; /* length of the module's name; 0 = a symbol of the kernel image */
};

/* Calls each(arg, line) for every line that makes sense; stops at its first non-zero return and
 * returns it. */
int kallsyms_each(const char *text, size_t bytes,
		  int (*each)(void *arg, const struct kallsyms_line *line), void *arg);

/* The address of a symbol of the kernel image; 0: no such symbol, or addresses are hidden. */
u64 kallsyms_address(const char *text, size_t bytes, const char *name);

/* Fills and seals a table with the code symbols. It stays empty where kptr_restrict shows all
 * addresses as 0. */
int kallsyms_parse(const char *text, size_t bytes, const struct module_list *modules,
		   struct symbol_table *table);

struct kallsyms_place {
	u64 address;
	u32 line; /* offset of the symbol's line in the text */
};

/* Static code of the kernel: the code of the modules, and, as the last range, the code of the
 * kernel image; not the code of BPF programs and trampolines. The symbols of static code stay the
 * same as long as the modules do. A table of all these symbols would cost more than the rest of a
 * short recording, which needs a few hundred of them, so the list of symbols is kept as text. */
struct kallsyms_static {
	struct module_list ranges;
	bool is_copy; /* set by the caller: the list is a copy, which may lack lines of data that
			 /proc/kallsyms has before the last line of static code */
	size_t last;  /* offset of the last line of static code in the list that was read */
	u64 address; /* address of the symbol in the line at `last`; 0 = kallsyms has no static code
		      */
	char *text;
	size_t bytes;
	struct kallsyms_place *places; /* lines with symbols of the kernel image and of modules,
					  sorted by address */
	u32 count, room;
};

void kallsyms_static_clear(struct kallsyms_static *code);

/* Reads the static code of the running kernel from open /proc/kallsyms and /proc/modules (-1: the
 * kernel has no modules). The caller clears *code. 0 or -errno. */
int kallsyms_read_static_symbols(int kallsyms, int modules, struct kallsyms_static *code);

/* Fills and seals a table with the symbols of static code that cover these addresses, which ascend.
 * 0 or -ENOMEM. */
int kallsyms_fill_table_for_addresses(const struct kallsyms_static *code, const u64 *addresses,
				      u32 count, struct symbol_table *table);

/* Fills and seals a table with the symbols of all other code, mostly BPF programs: the lines after
 * the last line of static code. -ESTALE: the last line of static code has changed. The kernel walks
 * its programs from the start for each one that it lists, which takes 2 s for 3,000 of them. */
int kallsyms_read_passing(int kallsyms, const struct kallsyms_static *code,
			  struct symbol_table *table);

#endif
