/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recordings that are read as one: files, and all recordings in folders.
 *
 * In a folder, a recording is a file that begins with the magic of recordings, whatever its name;
 * hidden files and subfolders are skipped. Recordings are sorted by name. The folder may belong to
 * another user: only regular files are opened, only links of this user and of root are followed, as
 * for outputs; one file under several names is one recording; and all recordings together are
 * limited to the memory of one recording of their total size. A recording that cannot be opened is
 * reported as missing, and the others are read.
 */
#ifndef LIB_MERGE_RECORDING_LIST_H
#define LIB_MERGE_RECORDING_LIST_H

#include <sys/types.h>

#include "trace/read/reader.h"

#define RECORDING_LIST_MAX 4096

struct file_identity {
	dev_t device;
	ino_t inode;
};

struct recording_list {
	struct trace_reader **readers;
	/* by reader: device and inode of the file, if it was found in a folder */
	struct file_identity *files;
	u32 count, room, file_room;
	u32 missing;
	/* Called for each missing recording, with the reason. */
	void (*note)(void *arg, const struct stackmap_error *why);
	void *arg;
};

/* Adds a recording. Errors are those of trace_reader_open(). */
int recording_list_add_file(struct recording_list *list, const char *path,
			    struct stackmap_error *error);

/* Adds all recordings of a folder. -ENOENT: the folder has no recording. -E2BIG: too many
 * recordings or files. */
int recording_list_add_folder(struct recording_list *list, const char *path,
			      struct stackmap_error *error);

bool recording_list_is_folder(const char *path);

void recording_list_clear(struct recording_list *list);

#endif
