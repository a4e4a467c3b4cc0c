/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The identity of an ELF file is the GNU build id among its notes. Other files may have the rest of
 * its debug information: the file of .gnu_debuglink, and the file of .gnu_debugaltlink, to which
 * dwz moved what several files share.
 */
#ifndef LIB_SYMBOL_ELF_FILE_IDENTITY_H
#define LIB_SYMBOL_ELF_FILE_IDENTITY_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

#include "trace/event.h"

/* The build_id functions return the bytes of the build id (<= TRACE_BUILD_ID_MAX); 0: no build id
 * found. build_id_from_elf() reads at most 32 sections and 32 segments with notes, and the first 64
 * KiB of each. */
int build_id_from_notes(const void *notes, size_t bytes, u8 *build_id);
int build_id_from_elf(Elf *elf, u8 *build_id);

#define DEBUG_LINK_BYTES 256

/* The parts that an ELF file has, and its links to other files. */
struct debug_link {
	bool has_dwarf;
	bool has_symbols; /* the file has .symtab or .gnu_debugdata */
	bool has_go;	  /* a Go program: .gopclntab names its functions */
	bool is_graalvm;  /* a native image of GraalVM: .svm_heap is its heap */
	bool has_code; /* .text has its bytes in this file, so the program headers tell where code
			  lies */
	u32 build_id_bytes;
	u8 build_id[TRACE_BUILD_ID_MAX];
	char file[DEBUG_LINK_BYTES];   /* file name in .gnu_debuglink; "" = no link */
	char shared[DEBUG_LINK_BYTES]; /* file name in .gnu_debugaltlink; "" = no link */
	u32 shared_id_bytes;
	u8 shared_id[TRACE_BUILD_ID_MAX];
};

/* Reads which parts and links a file has. The file may hold any bytes. */
void debug_link_read(Elf *elf, struct debug_link *link);

/* The first section of this name that has bytes in the file, or NULL. */
Elf_Data *elf_section_data(Elf *elf, const char *name);

#endif
