/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the record that the BPF programs wrote about a mapping (abi/mapping.h) to what the recording
 * says of it: path and build id. The file is looked for under the root of the process that mapped
 * it (/proc/TGID/root), in /proc/TGID/map_files, then by its path here; it counts only if it is
 * the file of the record, unchanged. Never blocks on a FIFO or device: only regular files are read.
 */
#ifndef LIB_SYMBOL_MAPPED_FILE_H
#define LIB_SYMBOL_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "mapping.h"
#include "trace/event.h"

/* Fills *mapping for number `number`, as far as the record says it; its path is written to `path`.
 */
void mapped_file_identify(u32 number, const struct mapping_record *record,
			  struct trace_mapping *mapping, char *path, size_t path_bytes);

/* The path in a record; one that is not whole begins with "...", one that is none is empty. */
void mapped_file_path(const struct mapping_record *record, char *path, size_t path_bytes);

/* MAPPING_ANON: the process whose code it is, and the address that its offsets count from. */
u32 mapped_process(const struct mapping_record *record, u64 *base);

/* Opens the file of a mapping read-only, or -ENOENT. *inode of the record must match. Caller
 * closes. */
int mapped_file_open(const struct mapping_record *record, const char *path);

/* The same, only by its path here, and only where no file system has to be asked for it: what other
 * users have mounted cannot keep us waiting. */
int mapped_file_open_cached(const struct mapping_record *record, const char *path);

/* Whether that is still the file of the record, and nobody has written it since. */
bool mapped_file_is(int fd, const struct mapping_record *record);

/* Build id of an ELF file: bytes written (<= TRACE_BUILD_ID_MAX), 0 if it has none, or -errno. It
 * parses the file: in a sandbox only (symbol/symbolizer/symbol_lookup.h). */
int mapped_file_build_id(int fd, u8 *build_id);

#endif
