/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads files and memory of other users within a bounded time. A process that opens a mapped file
 * of another process, or reads its memory, may block in the kernel, without reacting to signals:
 * the other process or a file system (FUSE, a server) need not answer. Files and processes of root
 * and of our own user are trusted and read directly. For each other owner
 * (symbol/file/mapped_file.h) a worker process reads.
 *
 * A worker has 0.1 s for an answer; then it is abandoned. Waiting for one owner takes at most a
 * tenth of the time, for all owners together a quarter; requests beyond these shares are refused.
 */
#ifndef LIB_USER_UNWIND_READERS_H
#define LIB_USER_UNWIND_READERS_H

#include <stdbool.h>

#include "mapping.h"

#define READERS_MAX 8 /* workers; further owners share the last one */
#define READERS_PAGE 4096U

struct readers;

/* A mapping of a file in a process, which need not be the process of the record. */
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
u32 readers_processes(const struct readers *readers, u32 *pids);

/* Forgets the owners of processes, because process ids are used again. */
void readers_begin(struct readers *readers);

/* Opens a file for reading. Returns a descriptor, for the caller to close; READERS_HELD: a worker
 * keeps the file, which readers_page() reads; or -errno. */
#define READERS_HELD 0x7fffffff
int readers_open(struct readers *readers, const struct reader_file *file);

/* Reads page `index` of a file that a worker keeps. Returns the number of bytes, which is smaller
 * for the last page, or -errno. */
int readers_page(struct readers *readers, const struct reader_file *file, u64 index, void *page);

/* Reads memory of a thread of process `tgid`, at most a page. False: not all bytes can be read. */
bool readers_memory(struct readers *readers, u32 tid, u32 tgid, u64 address, void *buffer,
		    u32 bytes);

#endif
