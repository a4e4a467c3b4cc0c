/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests names for the frames of a file. Worker processes find them
 * (symbol/symbolizer/symbolizers.h); the programs leave out events of workers, like those of the
 * recorder. */
#ifndef LIB_CAPTURE_FILE_SYMBOLS_H
#define LIB_CAPTURE_FILE_SYMBOLS_H

#include "capture/drain/recording.h"
#include "stackmap/error.h"

#define FILE_SYMBOLS_PATIENCE_MS 10000	   /* for files of other users */
#define FILE_SYMBOLS_PATIENCE_OWN_MS 30000 /* for files of root and of our own user */

/* Requests names for the frames written since the last call. `lasting`: for code of files only,
 * whose names do not change, unlike those of the kernel and of generated code. */
int file_symbols_ask(struct recording *recording, bool lasting);

/* True if the time to wait for names (names_until) is over. */
bool file_symbols_are_late(const struct recording *recording);

/* Requests the remaining names, waits, and writes the symbols of all frames of the file. */
int file_symbols_finish(struct recording *recording, struct stackmap_error *error);

#endif
