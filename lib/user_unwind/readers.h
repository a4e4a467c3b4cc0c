/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files and memory of others, for one who may not wait for them. Whoever opens a file that a
 * process has mapped, or reads its memory, may have to wait for that process or for a file system
 * that somebody else answers for (FUSE, a server), deaf to signals. Of root and of our own user
 * that is taken for granted; for all others a worker process asks, one for each owner
 * (symbol/file/file_owner.h).
 *
 * Its answer is waited for, 0.1 s at most: longer, and the process is left behind. An owner may
 * cost a tenth of the time, all together a quarter; what is asked beyond that is refused.
 */
#ifndef LIB_USER_UNWIND_READERS_H
#define LIB_USER_UNWIND_READERS_H

#include <stdbool.h>

#include "mapping.h"
#include "user_unwind/user_unwinder.h"

#define READERS_MAX USER_UNWINDER_PROCESSES_MAX /* owners who come late share the last one */
#define READERS_PAGE 4096U

struct readers;

/* A file as it was seen mapped: another process than that of its record may still be there. */
struct reader_file {
	u32 number;
	u32 tgid;
	u64 start;
	u64 end;
	const struct mapping_record *record;
};

int readers_create(struct readers **out);
void readers_free(struct readers **readers);

/* Helper processes that run for us: their ids; at most READERS_MAX. */
u32 readers_processes(const struct readers *readers, u32 *pids);

/* What was known of processes is asked anew: their ids are used again. */
void readers_begin(struct readers *readers);

/* Opens it for reading: a file for the caller to close, READERS_HELD for one that readers_page()
 * reads, or -errno. */
#define READERS_HELD 0x7fffffff
int readers_open(struct readers *readers, const struct reader_file *file);

/* Page `index` of a file that is held: its bytes, the last page is shorter; or -errno. */
int readers_page(struct readers *readers, const struct reader_file *file, u64 index, void *page);

/* Memory of a thread of process `tgid`: all bytes, at most a page, or none. */
bool readers_memory(struct readers *readers, u32 tid, u32 tgid, u64 address, void *buffer,
		    u32 bytes);

#endif
