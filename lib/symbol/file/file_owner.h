/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The owner of a file is the user who can slow down or block reads of the file: the user that the
 * file belongs to, or the user who has mounted its file system in a user namespace. A server or a
 * process (NFS, FUSE) may give its files any user id, so files of such file systems are owned by
 * their mount.
 */
#ifndef LIB_SYMBOL_FILE_OWNER_H
#define LIB_SYMBOL_FILE_OWNER_H

#include <stdbool.h>

#include "mapping.h"

#define FILE_OWNER_ROOT 0ULL
#define FILE_OWNER_MOUNT (1ULL << 63) /* | device; values without this bit are user ids */
#define FILE_OWNER_NONE (~0ULL)
#define FILE_OWNER_KERNEL (~1ULL)   /* of the kernel's symbols, which no user's file delays */
#define FILE_OWNER_TABLES (~2ULL)   /* of unwind tables of root's files, apart from their names */
#define FILE_OWNER_ANALYSES (~3ULL) /* of analyses of root's files, apart from their tables */

/* The owner of a mapping's file by its record; for generated code the user of its process. */
u64 file_owner(const struct mapping_record *record);

/* The user of a process; FILE_OWNER_NONE: the process is gone. Reads procfs only. */
u64 file_owner_process(u32 tgid);

/* True for the kernel, root and our own user: owners who could stop this process anyway. */
bool file_owner_trusted(u64 owner);

#endif
