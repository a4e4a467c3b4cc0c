/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an ELF file says of debug information: whether it has some, and which other files have more
 * of it (.gnu_debuglink; .gnu_debugaltlink for what dwz moved to a file that several share).
 */
#ifndef LIB_SYMBOL_DEBUG_LINK_H
#define LIB_SYMBOL_DEBUG_LINK_H

#include <libelf.h>
#include <stdbool.h>

#include "trace/event.h"

#define DEBUG_LINK_BYTES 256

struct debug_link {
	bool has_dwarf;
	bool has_symbols; /* .symtab, or .gnu_debugdata */
	bool has_code;	  /* the bytes of its code: it tells where code lies in the file */
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
	char file[DEBUG_LINK_BYTES];   /* "": none */
	char shared[DEBUG_LINK_BYTES]; /* "": none */
	u32 shared_id_bytes;
	u8 shared_id[TRACE_BUILD_ID_MAX];
};

/* Any bytes may be given. */
void debug_link_read(Elf *elf, struct debug_link *link);

/* A section that has this name and bytes in the file, or NULL. */
Elf_Data *debug_link_section(Elf *elf, const char *name);

#endif
