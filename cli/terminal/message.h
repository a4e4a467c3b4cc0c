/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages to the user on standard error: one line, `stackmap: what: why`. Unprintable bytes
 * (format/printable.h) are shown as `?`, because file names and names in files are untrusted.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include "stackmap/error.h"

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* message("%s: %s", path, strerror(ENOENT)) prints "stackmap: PATH: No such file or directory". */
__attribute__((format(printf, 1, 2))) void message(const char *format, ...);

/* Prints the library's error, and returns EXIT_FAILED. */
int print_error_message(const struct stackmap_error *error);

/* Prints the library's error, and returns the exit status for `result`. */
int print_error_and_choose_exit_status(int result, const struct stackmap_error *error);

#endif
