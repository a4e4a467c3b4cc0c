/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names for the frames of a file, and of the files that they are in. They are found in processes of
 * their own (symbol/symbolizer/symbolizers.h), which the programs leave out as they do the
 * recorder. */
#ifndef LIB_CAPTURE_FILE_SYMBOLS_H
#define LIB_CAPTURE_FILE_SYMBOLS_H

#include "capture/drain/recording.h"
#include "stackmap/error.h"

#define FILE_SYMBOLS_PATIENCE_MS 10000	   /* for the files of others */
#define FILE_SYMBOLS_PATIENCE_OWN_MS 30000 /* for those of root and our own */

/* Asks for the names of the frames that went into the file since it was last called. `lasting`: of
 * files only, whose names do not change; the names of the kernel and of generated code do. */
int file_symbols_ask(struct recording *recording, bool lasting);

/* True if the time to wait for names (names_until) is over. */
bool file_symbols_are_late(const struct recording *recording);

/* The last: asks, waits, and writes the symbol of every frame that went into the file. */
int file_symbols_finish(struct recording *recording, struct stackmap_error *error);

#endif
