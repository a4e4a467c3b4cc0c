/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `stackmap --version [--verbose]`. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

/* Handles the words behind --version. Returns the exit status. */
int version_print(int count, char *const *words);

#endif
