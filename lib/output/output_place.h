/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where an output goes that was named: a name in a folder. In a folder that anybody may write to,
 * somebody else may have put something of his own in the way; it is never followed, and never
 * written.
 */
#ifndef LIB_OUTPUT_OUTPUT_PLACE_H
#define LIB_OUTPUT_OUTPUT_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "stackmap/error.h"

struct output_place {
	int folder; /* O_PATH */
	char name[NAME_MAX + 1];
	bool exists;
	struct stat
		status; /* of what exists; a link only where the kernel makes it (/proc/PID/fd) */
};

/* Root and we ourselves are trusted. */
bool output_place_trusts(uid_t owner);

/* Follows links of those. -EPERM: one of somebody else; -ELOOP, -ENAMETOOLONG, and what the kernel
 * says. */
int output_place_find(const char *path, struct output_place *place, struct stackmap_error *error);
void output_place_close(struct output_place *place);

/* Whether a file may be put there, in place of one that exists. `kept`: that one is to become
 * NAME.old. What else may come is told by doing it. */
int output_place_check(const struct output_place *place, bool kept, const char *path,
		       struct stackmap_error *error);

/* NAME.old: false if that is too long a name. */
bool output_place_old(const struct output_place *place, char old[NAME_MAX + 1]);

#endif
