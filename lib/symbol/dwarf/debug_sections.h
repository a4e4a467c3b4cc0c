/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the section headers of a file say of its debug information, before anybody reads it. */
#ifndef LIB_SYMBOL_DEBUG_SECTIONS_H
#define LIB_SYMBOL_DEBUG_SECTIONS_H

#include <gelf.h>
#include <stdbool.h>

struct debug_sections {
	bool has_units; /* there is debug information */
	bool is_bomb;	/* a section would be larger unpacked than it can be */
};

void debug_sections_read(Elf *elf, struct debug_sections *sections);

#endif
