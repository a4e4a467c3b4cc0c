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

/*
 * A batch that was read from the spool. Its rows are in the form in which they are sent: packed
 * (row_binary.h) or plain.
 */
struct spooled_batch {
	struct batch ledger; /* the batch with its ledger; the buffers of rows are empty */
	char *lost_as;	     /* cause of the loss of the batch's rows; NULL: the rows are present */
	struct spooled_rows {
		const u8 *bytes;
		size_t length;
		bool packed;
	} rows[STORE_TABLE_COUNT];
	u8 *data;
	size_t bytes;
};

/* Appends the bytes of a batch file to the buffer `file`. `lost_as`: the cause by which the rows
 * are lost (LOST_AS_..., spool.h); the file then has the ledger without the rows. NULL: the file
 * has the rows, too. -ENOMEM. */
int batch_file_encode(const struct batch *batch, const char *lost_as, struct byte_buffer *file);

/*
 * Decodes a batch file. The function takes over `data`, also on failure; *out points to the rows in
 * it. -EBADMSG: the data is not a batch file; -EIO: the rows are damaged, and *out has the ledger;
 * -ENOMEM.
 */
int batch_file_decode(u8 *data, size_t bytes, struct spooled_batch *out);

#endif
