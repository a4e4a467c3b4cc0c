/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recordings that are to be read as one: files, and all recordings in folders.
 *
 * In a folder, a recording is a file that begins as one, whatever its name; only hidden names are
 * left out, and folders in it. They come in the order of their names. The folder may be anybody's:
 * nothing but regular files is opened, links are followed as outputs follow them (our own, and
 * root's), one file under several names is one recording, and all together may take as little
 * memory as one recording of their size. What begins as a recording and cannot be opened is
 * missing: it is told, and the others are read.
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
	struct file_identity *files; /* of the readers */
	u32 count, room, file_room;
	u32 missing;
	/* Told of each that is missing. */
	void (*note)(void *arg, const struct stackmap_error *why);
	void *arg;
};

/* As trace_reader_open(). */
int recording_list_add_file(struct recording_list *list, const char *path,
			    struct stackmap_error *error);

/* -ENOENT: there is no recording in it. -E2BIG: too many. */
int recording_list_add_folder(struct recording_list *list, const char *path,
			      struct stackmap_error *error);

bool recording_list_is_folder(const char *path);

void recording_list_clear(struct recording_list *list);

#endif
