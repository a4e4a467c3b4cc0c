/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A batch as the bytes of a file: a fixed head, the description (ledger, and length of each table's
 * rows), and the rows, packed as they are sent. Description and rows have a checksum each, so that
 * the ledger survives damaged rows.
 */
#ifndef LIB_STORE_WRITE_BATCH_FILE_H
#define LIB_STORE_WRITE_BATCH_FILE_H

#include <stdbool.h>

#include "store/rows/batch.h"

/* A batch as read from the spool. Its rows are as they are sent: packed (row_binary.h) or plain.
 */
struct spooled_batch {
	struct batch ledger; /* rows are empty */
	char *lost_as;	     /* NULL: the rows are here; else the cause of their loss */
	struct spooled_rows {
		const u8 *bytes;
		size_t length;
		bool packed;
	} rows[STORE_TABLE_COUNT];
	u8 *data;
	size_t bytes;
};

/* Appends the file; the rows are left out unless `lost_as` is NULL. -ENOMEM. */
int batch_file_encode(const struct batch *batch, const char *lost_as, struct byte_buffer *file);

/* Takes over `data`, also on failure; *out points to the rows in it. -EBADMSG: the data is not a
 * batch file; -EIO: the rows are damaged, and *out has the ledger; -ENOMEM. */
int batch_file_decode(u8 *data, size_t bytes, struct spooled_batch *out);

#endif
