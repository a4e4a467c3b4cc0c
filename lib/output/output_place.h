/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folder and name that an output gets. In a folder that all users may write to, another user
 * may have put a file or link in the way: such a link is never followed, and such a file is never
 * written.
 */
#ifndef LIB_OUTPUT_OUTPUT_PLACE_H
#define LIB_OUTPUT_OUTPUT_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "stackmap/error.h"

struct output_place {
	int folder; /* descriptor with O_PATH */
	char name[NAME_MAX + 1];
	bool exists;
	struct stat status; /* the existing file; a link only if the kernel made it */
};

/* True for files of root and of this user. */
bool output_place_trusts(uid_t owner);

/*
 * Finds the place of `path`; follows links of trusted owners. -EPERM: a link of another user;
 * -ELOOP, -ENAMETOOLONG, or the error of the kernel.
 */
int output_place_find(const char *path, struct output_place *place, struct stackmap_error *error);
void output_place_close(struct output_place *place);

/*
 * Checks that a file may be put at the place, instead of an existing file. `kept`: the existing
 * file becomes NAME.old. Other errors show when the file is written.
 */
int output_place_check(const struct output_place *place, bool kept, const char *path,
		       struct stackmap_error *error);

/* Sets the error of an output that cannot be written, and returns `result`, which is -errno. */
int output_failed(const char *path, int result, struct stackmap_error *error);

/* Writes NAME.old; false if the name is too long. */
bool output_place_old(const struct output_place *place, char old[NAME_MAX + 1]);

#endif
