/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps files of recorded code open. They are read for names when a recording ends; by then a
 * program may have been deleted or replaced (by compilers and installers), or its container may be
 * gone with all its mounts.
 */
#ifndef LIB_SYMBOL_KEPT_CODE_H
#define LIB_SYMBOL_KEPT_CODE_H

#include "mapping.h"

#define KEPT_CODE_FILES 1024 /* the newest files; at most a quarter of RLIMIT_NOFILE */

struct kept_code;

int kept_code_create(struct kept_code **out);
void kept_code_free(struct kept_code **code);

/* mapped_file_open() or mapped_file_open_cached(). */
typedef int (*kept_code_opener)(const struct mapping_record *record, const char *path);

/* Keeps the file of a mapping; `path` as mapped_file_path() gives it. 0, or -ENOENT: not found. */
int kept_code_keep(struct kept_code *code, const struct mapping_record *record, const char *path,
		   kept_code_opener open);

/* A descriptor of the kept file, if its content has not been written since; else the result of
 * `open`. The caller closes the descriptor. -ENOENT. */
int kept_code_open(const struct kept_code *code, const struct mapping_record *record,
		   const char *path, kept_code_opener open);

#endif
