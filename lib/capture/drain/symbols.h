/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What has become known of files and symbols, and into the file (capture/file/file_symbols.h asks
 * for it). */
#ifndef LIB_CAPTURE_SYMBOLS_H
#define LIB_CAPTURE_SYMBOLS_H

#include "capture/drain/recording.h"

/* What a mapping is, once in each file: path, build id. */
int symbols_write_mapping(struct recording *recording, u32 number);

/* Writes the symbols of a mapping that are known from files before; *count: the addresses that are
 * to be asked for, which stand first then. */
int symbols_recall(struct recording *recording, u32 number, u64 *addresses, u32 *count);

/* Writes what has become known of mappings and symbols since. Never waits. */
int symbols_take(struct recording *recording);

#endif
