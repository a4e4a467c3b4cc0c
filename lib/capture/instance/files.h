/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of an instance that has no process (bpf/files.bpf.c): iterators over its maps, pinned,
 * so that reading one runs a program that prints. They hold the maps they print, and nothing holds
 * them but the folder.
 */
#ifndef LIB_CAPTURE_FILES_H
#define LIB_CAPTURE_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "capture/load/loaded.h"
#include "stackmap/error.h"

#define FILES_NO_GROUP ((gid_t)-1)

struct kernel_files;

struct files_options {
	const char *folder; /* of a BPF file system */
	gid_t group;	    /* may read them too, or FILES_NO_GROUP */
	const struct kernel_files *kernel_files;
	bool hides_addresses;
};

/* Makes all files, or none. -ENOMEM; any other error says that this kernel refuses such files, and
 * `error` says what it refused. */
int files_create(struct loaded *loaded, const struct files_options *options,
		 struct stackmap_error *error);

#endif
