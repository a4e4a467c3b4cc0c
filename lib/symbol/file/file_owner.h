/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who decides how, and whether, a file answers: the user that it belongs to, or who has mounted
 * what it is on in a user namespace. What a server or a process answers for (NFS, FUSE) may be
 * anybody's, whatever it says of its files: that is known by its mount.
 */
#ifndef LIB_SYMBOL_FILE_OWNER_H
#define LIB_SYMBOL_FILE_OWNER_H

#include <stdbool.h>

#include "mapping.h"

#define FILE_OWNER_ROOT 0ULL
#define FILE_OWNER_MOUNT (1ULL << 63) /* | device; all others are user ids */
#define FILE_OWNER_NONE (~0ULL)
#define FILE_OWNER_KERNEL (~1ULL) /* of its own symbols: no file of a user delays them */
#define FILE_OWNER_TABLES (~2ULL) /* root again: of the unwind tables of root's files */

/* Of a mapping's file, as far as the record says it; of generated code, of its process. */
u64 file_owner(const struct mapping_record *record);

/* The user of a process; FILE_OWNER_NONE: it is gone. Asks the kernel only. */
u64 file_owner_process(u32 tgid);

/* The kernel, root, or who we are: who could as well stop us in other ways. */
bool file_owner_trusted(u64 owner);

#endif
