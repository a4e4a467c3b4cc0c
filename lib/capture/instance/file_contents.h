/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of an instance's files are given: room, and names that they cannot find out. */
#ifndef LIB_CAPTURE_FILE_CONTENTS_H
#define LIB_CAPTURE_FILE_CONTENTS_H

#include "capture/load/loaded.h"

struct files_bpf;
struct kernel_mappings;

/* Before the object is loaded, and after. */
int file_contents_size(struct files_bpf *files, const struct loaded *loaded,
		       const struct kernel_mappings *kernel);
int file_contents_fill(const struct files_bpf *files, const struct loaded *loaded,
		       const struct kernel_mappings *kernel);

#endif
