/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of code that was met, held open: they are read for names when a recording ends, and by then
 * a program may have been deleted or replaced (what compilers and installers do), or its container
 * is gone with all its mounts.
 */
#ifndef LIB_SYMBOL_KEPT_CODE_H
#define LIB_SYMBOL_KEPT_CODE_H

#include "mapping.h"

#define KEPT_CODE_FILES 1024 /* at most, the newest; a quarter of what we may open */

struct kept_code;

int kept_code_create(struct kept_code **out);
void kept_code_free(struct kept_code **code);

/* mapped_file_open(), or another that finds less. */
typedef int (*kept_code_opener)(const struct mapping_record *record, const char *path);

/* The file of a mapping was met; `path` as mapped_file_path() gives it. -ENOENT: it was not found.
 */
int kept_code_keep(struct kept_code *code, const struct mapping_record *record, const char *path,
		   kept_code_opener open);

/* Opens it: the kept one if nobody has written it since, else by `open`. The caller closes it.
 * -ENOENT. */
int kept_code_open(const struct kept_code *code, const struct mapping_record *record,
		   const char *path, kept_code_opener open);

#endif
