/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads files and memory of other users within a bounded time. A process that opens a mapped file
 * of another process, or reads its memory, may block in the kernel, without reacting to signals:
 * the other process or a file system (FUSE, a server) need not answer. Files and processes of root
 * and of this program's user are trusted and read directly. For each other owner
 * (symbol/file/mapped_file.h) a worker process reads them.
 *
 * A worker has 0.1 s to answer; then it is abandoned. Waiting for the workers of one owner takes at
 * most a tenth of the time, and for all owners together a quarter of the time. Requests beyond
 * these shares are refused.
 */
#ifndef LIB_USER_UNWIND_READERS_H
#define LIB_USER_UNWIND_READERS_H

#include <stdbool.h>

#include "mapping.h"

#define READERS_MAX 8 /* the most workers; if there are more owners, they share the last one */
#define READERS_PAGE 4096U

struct readers;

/* A file that a process has mapped. The process need not be the one of the record. */
struct reader_file {
	u32 number;
	u32 tgid;
	u64 start;
	u64 end;
	const struct mapping_record *record;
};

int readers_create(struct readers **out);
void readers_free(struct readers **readers);

/* Stores the process ids of the workers, at most READERS_MAX. Returns their number. */
u32 readers_worker_pids(const struct readers *readers, u32 *pids);

/* Drops the known owners of processes, because process ids are reused. */
void readers_drop_process_owners(struct readers *readers);

/*
 * Opens a file for reading. Returns a descriptor, which the caller closes; READERS_HELD: a worker
 * keeps the file open, and readers_read_page() reads it; or -errno.
 */
#define READERS_HELD 0x7fffffff
int readers_open(struct readers *readers, const struct reader_file *file);

/*
 * Reads page `index` of a file that a worker keeps open. Returns the number of bytes, which is
 * smaller for the last page, or -errno.
 */
int readers_read_page(struct readers *readers, const struct reader_file *file, u64 index,
		      void *page);

/* Reads memory of a thread of process `tgid`, at most a page. False: not all bytes can be read. */
bool readers_read_memory(struct readers *readers, u32 tid, u32 tgid, u64 address, void *buffer,
			 u32 bytes);

#endif
