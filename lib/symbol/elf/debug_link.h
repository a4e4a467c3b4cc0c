/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Says whether an ELF file has debug information, and which other files have the rest: the file of
 * .gnu_debuglink, and the file of .gnu_debugaltlink, to which dwz moved what several files share.
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
	bool has_go;	  /* a Go program: .gopclntab names its functions */
	bool has_code;	  /* .text with its bytes: the program headers tell where code lies */
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
	char file[DEBUG_LINK_BYTES];   /* .gnu_debuglink; "" = no link */
	char shared[DEBUG_LINK_BYTES]; /* .gnu_debugaltlink; "" = no link */
	u32 shared_id_bytes;
	u8 shared_id[TRACE_BUILD_ID_MAX];
};

/* Any bytes may be given. */
void debug_link_read(Elf *elf, struct debug_link *link);

/* The first section of this name that has bytes in the file, or NULL. */
Elf_Data *debug_link_section(Elf *elf, const char *name);

#endif
