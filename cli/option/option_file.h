/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options from a file, for a command that runs as a service: each line is a long option of the
 * command's own table without its dashes, "frequency = 19" or "off-cpu". Empty lines and lines that
 * begin with "#" are ignored. The rows of the table parse the lines, like the command line.
 */
#ifndef CLI_OPTION_FILE_H
#define CLI_OPTION_FILE_H

#include "option/option.h"

struct option_file;

/* Adds the file's options to *values, except options that the command line has set: their values
 * differ from the defaults. *values points into *file, which is closed last; *file owns its lists,
 * the caller owns the lists of *values. Returns the exit status; errors were printed with file and
 * line. EXIT_DONE and *file NULL: `may_lack`, and the file does not exist. */
int option_file_read(const struct command *command, const char *path, bool may_lack, void *values,
		     struct option_file **file);
void option_file_close(struct option_file **file);

#endif
