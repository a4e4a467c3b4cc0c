/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests the symbols of the frames of a recording file: a name for each address. Worker processes
 * find the symbols (symbol/symbolizer/symbolizers.h); the BPF programs leave out events of these
 * workers, like events of the recorder. */
#ifndef LIB_CAPTURE_FILE_SYMBOLS_H
#define LIB_CAPTURE_FILE_SYMBOLS_H

#include "capture/drain/recording.h"
#include "stackmap/error.h"

#define FILE_SYMBOLS_PATIENCE_MS 10000 /* longest wait for symbols of other users' files */
/* Longest wait for symbols of files of root and of our own user. */
#define FILE_SYMBOLS_PATIENCE_OWN_MS 30000

/* Requests symbols for the frames that were written since the last call. `lasting`: only for
 * frames in mapped files, whose symbols do not change, unlike those of the kernel and of generated
 * code.
 */
int file_symbols_request(struct recording *recording, bool lasting);

/* True if the time limit for the symbols of this recording (recording->names_until) has passed. */
bool file_symbols_wait_is_over(const struct recording *recording);

/* Requests the missing symbols, waits for them, and writes the symbols of all frames of the
 * recording file. */
int file_symbols_finish(struct recording *recording, struct stackmap_error *error);

#endif
