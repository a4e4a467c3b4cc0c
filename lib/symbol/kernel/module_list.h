/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loaded kernel modules, as /proc/modules names them: "NAME SIZE REFS USERS STATE 0xADDRESS
 * [TAINT]". */
#ifndef LIB_SYMBOL_MODULE_LIST_H
#define LIB_SYMBOL_MODULE_LIST_H

#include <stddef.h>

#include "scalar.h"

#define MODULE_NAME_BYTES 64

struct module {
	char name[MODULE_NAME_BYTES];
	u64 start; /* 0: kptr_restrict hides it */
	u64 end;   /* not beyond the start of the next module */
};

struct module_list {
	struct module *modules; /* by address */
	u32 count, room;
};

/* Lines that do not make sense are left out. -ENOMEM. The list is untouched on failure. */
int module_list_parse(const char *text, size_t bytes, struct module_list *list);

/* From an open /proc/modules; -1: a kernel without modules has none, an empty list. */
int module_list_read_open(int fd, struct module_list *list);

/* Or NULL. */
const struct module *module_list_find(const struct module_list *list, const char *name,
				      size_t name_bytes);

void module_list_clear(struct module_list *list);

#endif
