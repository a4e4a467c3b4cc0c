/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What goes to a symbolizer and comes from it as a file in memory: addresses, and symbols. */
#ifndef LIB_SYMBOL_SYMBOL_FILE_H
#define LIB_SYMBOL_SYMBOL_FILE_H

#include <stdbool.h>

#include "scalar.h"
#include "trace/event.h"

/* The file, or -errno. */
int symbol_file_put_addresses(const u64 *addresses, u32 count);

/* *addresses is for the caller to free. -ENOMEM, -EIO: there are fewer. */
int symbol_file_addresses(int file, u32 count, u64 **addresses);

/* The symbols of a mapping, as symbol_lookup_find() told of them; a damaged end is left out. The
 * first non-zero return ends it and is returned. `file` negative: there are none. -ENOMEM. */
int symbol_file_each(int file, u64 bytes, u32 number,
		     int (*each)(void *arg, const struct trace_symbol *symbol, bool is_alone),
		     void *arg);

#endif
