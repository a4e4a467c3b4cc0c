/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loaded kernel modules by /proc/modules: "NAME SIZE REFS USERS STATE 0xADDRESS [TAINT]". */
#ifndef LIB_SYMBOL_MODULE_LIST_H
#define LIB_SYMBOL_MODULE_LIST_H

#include <stddef.h>

#include "scalar.h"

#define MODULE_NAME_BYTES 64

struct module {
	char name[MODULE_NAME_BYTES];
	u64 start; /* 0 = hidden by kptr_restrict */
	u64 end;   /* not beyond the start of the next module */
};

struct module_list {
	struct module *modules; /* sorted by address */
	u32 count, room;
};

/* Lines that do not make sense are left out. 0 or -ENOMEM. */
int module_list_parse(const char *text, size_t bytes, struct module_list *list);

/* Reads an open /proc/modules; -1 (a kernel without modules) gives an empty list. */
int module_list_read_open(int fd, struct module_list *list);

/* The module of this name, or NULL. */
const struct module *module_list_find(const struct module_list *list, const char *name,
				      size_t name_bytes);

void module_list_clear(struct module_list *list);

#endif
