/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options from a file, for a command that runs as a service: each line is a long option of the
 * command's own table without its dashes, "frequency = 19" or "off-cpu". Empty lines and those that
 * begin with "#" say nothing. The rows parse it, so the file takes what the command line does.
 */
#ifndef CLI_OPTION_FILE_H
#define CLI_OPTION_FILE_H

#include "option/option.h"

struct option_file;

/* Adds to *values what the file says and the command line did not: an option that is not as the
 * defaults have it was given there. *values points into *file, which is to be closed last; lists of
 * the file are its own, those of *values stay the caller's. Exit status; what is wrong was said,
 * with file and line. -> EXIT_DONE and *file NULL: `may_lack`, and there is none. */
int option_file_read(const struct command *command, const char *path, bool may_lack, void *values,
		     struct option_file **file);
void option_file_close(struct option_file **file);

#endif
