/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for the frames of a recording, taken on the machine where it was made: kernel and modules
 * from kallsyms, user code from .symtab and .dynsym of the mapped file (libelf), the vdso from this
 * process's own.
 *
 * Never a wrong name: an address outside any symbol has none; a file whose build id (or inode) is
 * not that of the mapping is not used.
 */
#ifndef LIB_SYMBOL_SYMBOLIZER_H
#define LIB_SYMBOL_SYMBOLIZER_H

#include "mapping.h"
#include "stackmap/error.h"
#include "trace/event.h"

struct symbolizer;

int symbolizer_create(struct symbolizer **out, struct stackmap_error *error);
void symbolizer_free(struct symbolizer **symbolizer);

/* Makes user frames of this mapping known, by the record from which it was identified
 * (mapped_file_identify). The file is opened on first use only. All is copied. -EINVAL: no such
 * number; -EEXIST: it is known already. */
int symbolizer_mapping(struct symbolizer *symbolizer, const struct trace_mapping *mapping,
		       const struct mapping_record *record);

/* Finds the symbol that covers the frame: 0 and *symbol (its name lives as long as the symbolizer),
 * or -ENOENT. */
int symbolizer_find(struct symbolizer *symbolizer, u64 frame, bool return_address,
		    struct trace_symbol *symbol);

#endif
