/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file of a mapping, and its path and build id, from the record that the BPF programs wrote
 * (abi/mapping.h). The file is looked for under the root of the process that mapped it
 * (/proc/TGID/root), in /proc/TGID/map_files, then by its path under our own root; it counts only
 * if it is the unchanged file of the record. Only regular files are read, so a FIFO or a device
 * does not block the caller.
 */
#ifndef LIB_SYMBOL_MAPPED_FILE_H
#define LIB_SYMBOL_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "mapping.h"
#include "trace/event.h"

/* Fills *mapping with what the record says; mapping->path is `path`, a buffer that is filled. */
void mapped_file_identify(u32 number, const struct mapping_record *record,
			  struct trace_mapping *mapping, char *path, size_t path_bytes);

/* Writes the path of a record. A path without its outer components begins with "..."; a record
 * without a path gives "". */
void mapped_file_path(const struct mapping_record *record, char *path, size_t path_bytes);

/* For a MAPPING_ANON record: returns the id of the process that has generated the code, and sets
 * *base to the address that offsets in this code count from. */
u32 process_and_base_of_generated_code(const struct mapping_record *record, u64 *base);

/* Opens the file of a mapping for reading, for the caller to close; or -ENOENT. */
int mapped_file_open(const struct mapping_record *record, const char *path);

/* Like mapped_file_open(), but only by the path under our own root, and only if the kernel's cache
 * holds path and inode. No file system is asked, so a file system that another user has mounted
 * cannot block the caller. */
int mapped_file_open_cached(const struct mapping_record *record, const char *path);

/* True if the open file is that of the record, and has not been written since. */
bool is_file_of_mapping_record(int fd, const struct mapping_record *record);

/* The build id of an ELF file: bytes written (<= TRACE_BUILD_ID_MAX), 0 = no build id, or -errno.
 * Parses the file: call in a sandbox only (symbol/symbolizer/symbol_lookup.h). */
int mapped_file_build_id(int fd, u8 *build_id);

/*
 * The owner of a file is the user who can slow down or block reads of the file: the user that the
 * file belongs to, or the user who has mounted its file system in a user namespace. A server or a
 * process (NFS, FUSE) may give its files any user id, so files of such file systems are owned by
 * their mount.
 */
#define FILE_OWNER_ROOT 0ULL
/* An owner with this bit is a mount, and its other bits are the device; an owner without this bit
 * is a user id. */
#define FILE_OWNER_MOUNT (1ULL << 63)
#define FILE_OWNER_NONE (~0ULL)
/* Owner of the kernel's symbols, which no file of a user delays. */
#define FILE_OWNER_KERNEL (~1ULL)
/* The owner of jobs that read the unwind tables of files of user root. Jobs for symbols of these
 * files have root as owner. */
#define FILE_OWNER_TABLES (~2ULL)
#define FILE_OWNER_ANALYSES                                                                        \
	(~3ULL) /* owner of jobs that analyse the code of files of user root                       \
		 */

/* The owner of a mapping's file, by the mapping's record; for generated code the user of the
 * process. */
u64 file_owner(const struct mapping_record *record);

/* The user of a process; FILE_OWNER_NONE: the process is gone. The function reads procfs only. */
u64 file_owner_of_process(u32 tgid);

/* True for the kernel, root and our own user: these owners could stop this process anyway. */
bool file_owner_trusted(u64 owner);

#endif
