/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many files this process may have open. */
#ifndef CLI_FILE_LIMIT_H
#define CLI_FILE_LIMIT_H

/* As many as it may ask for. Processes forked before keep their limit. */
void file_limit_raise(void);

#endif
