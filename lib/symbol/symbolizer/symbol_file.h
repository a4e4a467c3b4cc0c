/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files in memory that go with the packets of a symbolizer (symbolizer.h): the addresses of a
 * request, and the symbols of an answer, each a symbolizer_symbol and its name. */
#ifndef LIB_SYMBOL_SYMBOL_FILE_H
#define LIB_SYMBOL_SYMBOL_FILE_H

#include <stdbool.h>

#include "scalar.h"
#include "trace/event.h"

struct symbolizer_symbol {
	u64 start;
	u64 size;
	u64 address;	  /* link time address */
	u32 name_bytes;	  /* without a NUL */
	u32 is_undivided; /* 1: all addresses in the symbol have this symbol */
};

/* An empty file in memory; or -errno. */
int symbol_file_create(void);

/* A file in memory with addresses; or -errno. */
int symbol_file_put_addresses(const u64 *addresses, u32 count);

/* Reads the addresses of such a file, for the caller to free. -ENOMEM; -EIO: the file has fewer. */
int symbol_file_addresses(int file, u32 count, u64 **addresses);

/* Appends a symbol to a stream, which is the first argument. 0 or -ENOMEM. */
int symbol_file_put(void *out, const struct trace_symbol *symbol, bool is_undivided);

/* Calls each() for the symbols of a file, as symbol_lookup_find() does. A damaged end is left out;
 * a negative `file` has no symbols. Stops at the first non-zero return and returns it. -ENOMEM. */
int symbol_file_each(int file, u64 bytes, u32 number,
		     int (*each)(void *arg, const struct trace_symbol *symbol, bool is_undivided),
		     void *arg);

#endif
