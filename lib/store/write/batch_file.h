/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A batch as the bytes of a file: a fixed head, what is said of the batch (its ledger, and where
 * the rows of each table lie), and the rows, packed as they are sent. Head and rows have a checksum
 * each, so that damaged rows leave the ledger.
 */
#ifndef LIB_STORE_WRITE_BATCH_FILE_H
#define LIB_STORE_WRITE_BATCH_FILE_H

#include "store/write/spool.h"

/* Appends the file. lost_as NULL: with the rows. -ENOMEM. */
int batch_file_encode(const struct batch *batch, const char *lost_as, struct byte_buffer *file);

/* Takes over `data`, whose rows *out points into, also on failure. -EBADMSG: it is not such a file;
 * -EIO: its ledger is good, its rows are not: *out has the ledger. -ENOMEM. */
int batch_file_decode(u8 *data, size_t bytes, struct spooled_batch *out);

#endif
