/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The limit of open files of this process. */
#ifndef CLI_FILE_LIMIT_H
#define CLI_FILE_LIMIT_H

/* Raises the soft limit to the hard limit. Processes forked before keep their limit. */
void file_limit_raise(void);

#endif
