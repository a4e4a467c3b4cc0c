/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The readable files of an instance without a process (bpf/files.bpf.c): pinned BPF iterators over
 * its maps. Reading a file runs a BPF program that prints. The programs keep the maps that they
 * print alive, and only the pins in the folder keep the programs alive.
 */
#ifndef LIB_CAPTURE_FILES_H
#define LIB_CAPTURE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/load/loaded.h"
#include "scalar.h"
#include "stackmap/error.h"
#include "symbol/kernel/kernel_image.h"

/* The first lines of the file `mappings`, which show the kernel and its modules. */

struct kernel_mappings {
	char *text; /* the lines, each of which ends with a NUL */
	size_t bytes;
	u32 count;
	u32 longest; /* bytes of the longest line, with its NUL */
};

int kernel_mappings_read(const struct kernel_files *files, bool hides_addresses,
			 struct kernel_mappings *lines, struct stackmap_error *error);
void kernel_mappings_clear(struct kernel_mappings *lines);

#define FILES_NO_GROUP ((gid_t)-1)

struct kernel_files;

struct files_options {
	const char *folder; /* folder in a BPF file system */
	gid_t group;	    /* group that may read the files, too; or FILES_NO_GROUP */
	const struct kernel_files *kernel_files;
	bool hides_addresses;
};

/* Makes all files or no file. 0; -ENOMEM; another error: this kernel refuses such files, and
 * `error` names the refused feature. */
int files_create(struct loaded *loaded, const struct files_options *options,
		 struct stackmap_error *error);

#endif
