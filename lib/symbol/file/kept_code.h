/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps files of recorded code open. They are read for names when a recording ends; by then a
 * program may have been deleted or replaced (by compilers and installers), or its container may be
 * gone with all its mounts.
 */
#ifndef LIB_SYMBOL_KEPT_CODE_H
#define LIB_SYMBOL_KEPT_CODE_H

#include "mapping.h"

/* The number of files that stay open, the newest ones; at most a quarter of RLIMIT_NOFILE. */
#define KEPT_CODE_FILES 1024

struct kept_code;

int kept_code_create(struct kept_code **out);
void kept_code_free(struct kept_code **code);

/* The function that opens the file of a mapping: mapped_file_open() or mapped_file_open_cached().
 */
typedef int (*kept_code_opener)(const struct mapping_record *record, const char *path);

/* Keeps the file of a mapping open; `path` as mapped_file_path() gives it. Returns 0, or -ENOENT if
 * the file is not found. */
int kept_code_keep(struct kept_code *code, const struct mapping_record *record, const char *path,
		   kept_code_opener open);

/* Returns a descriptor of the kept file if the file has not been written since, else the result of
 * `open`, which may be -ENOENT. The caller closes the descriptor. */
int kept_code_open(const struct kept_code *code, const struct mapping_record *record,
		   const char *path, kept_code_opener open);

#endif
