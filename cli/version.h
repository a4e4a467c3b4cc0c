/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `stackmap --version [--verbose]`. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

/* The words behind --version. Exit status. */
int version_print(int count, char *const *words);

#endif
