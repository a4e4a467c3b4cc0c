/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folder of a spool, as something that others may have reached: it must be ours alone, links
 * are not followed, and what is not a regular file of ours is left where it is and not read.
 */
#ifndef LIB_STORE_WRITE_SPOOL_FOLDER_H
#define LIB_STORE_WRITE_SPOOL_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"
#include "stackmap/error.h"
#include "trace/bytes/byte_buffer.h"

#define SPOOL_FILE_BYTES_MAX (1UL << 30)

/* A descriptor; made, with the folders above it, if it is missing. */
int spool_folder_open(const char *path, int *out, struct stackmap_error *error);

/* Holds the lock of that name until *out is closed. -EBUSY: somebody else does. */
int spool_folder_lock(int folder, const char *name, int *out);

/* Puts a file there, whole or not at all, and on the disk when it returns. `temporary` is its name
 * until then. */
int spool_folder_write(int folder, const char *temporary, const char *name, const void *data,
		       size_t bytes);

/* -EPERM: not a file of ours. -EFBIG: larger than SPOOL_FILE_BYTES_MAX. The caller frees *data. */
int spool_folder_read(int folder, const char *name, u8 **data, size_t *bytes);

/* 0: gone now, or before. */
int spool_folder_rename(int folder, const char *from, const char *to);
int spool_folder_remove(int folder, const char *name);

/* What is in it: those files of ours whose name is a number, in 16 digits, and an ending. */
enum spool_kind { SPOOL_BATCH, SPOOL_LOST, SPOOL_REFUSED }; /* their endings: spool.h */

struct spool_item {
	u64 number;
	u64 bytes;
	enum spool_kind kind;
};

struct spool_list {
	struct spool_item *items; /* ascending; the ledger of a batch behind it */
	u32 count, room;
	u32 strangers; /* named so, but not files of ours */
};

int spool_folder_list(int folder, struct spool_list *out);
void spool_list_clear(struct spool_list *list);

#define SPOOL_NAME_BYTES 32
void spool_item_name(u64 number, enum spool_kind kind, char name[SPOOL_NAME_BYTES]);

#endif
