/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read of others, by whoever may wait for it; and a worker process that does so: one
 * question, one answer. */
#ifndef LIB_USER_UNWIND_READER_H
#define LIB_USER_UNWIND_READER_H

#include "mapping.h"
#include "user_unwind/readers.h"

enum reader_what { READER_OPEN, READER_PAGE, READER_MEMORY };

struct reader_request {
	u32 what; /* enum reader_what */
	u32 number;
	u32 tid;
	u32 bytes;
	u64 at; /* READER_PAGE: the page; READER_MEMORY: the address */
	struct mapping_record record;
};

struct reader_answer {
	s32 result; /* bytes, or -errno; READER_OPEN: the file comes along, or is held */
	u8 data[READERS_PAGE];
};

/* A file for the caller to close, or -errno. */
int reader_open(const struct mapping_record *record);

/* Whether somebody else answers for the file, or is root where it is mounted. */
bool reader_asks_others(const struct mapping_record *record);

/* Bytes read, or -errno. */
int reader_memory(u32 tid, u64 address, void *buffer, u32 bytes);

/* Serves until the other side closes the socket (file_worker_start()). An answer to nothing comes
 * first: it is there. */
void reader_serve(int socket);

#endif
