/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names for the frames of a file, and of the files that they are in. They are found in processes of
 * their own (symbol/symbolizer/symbolizers.h), which the programs leave out as they do the
 * recorder. */
#ifndef LIB_CAPTURE_FILE_SYMBOLS_H
#define LIB_CAPTURE_FILE_SYMBOLS_H

#include "capture/drain/recording.h"
#include "stackmap/error.h"

#define FILE_SYMBOLS_PATIENCE_MS 10000 /* for the files of others */

/* Asks for the names of the frames that went into the file since it was last called. */
int file_symbols_ask(struct recording *recording);

/* Whether answers are to come: any, or only those of files of root's and our own. */
bool file_symbols_awaits(const struct recording *recording, bool all);

/* True if the time to wait for names (names_until) is over. */
bool file_symbols_are_late(const struct recording *recording);

/* The last: asks, waits, and writes the symbol of every frame that went into the file. */
int file_symbols_finish(struct recording *recording, struct stackmap_error *error);

#endif
