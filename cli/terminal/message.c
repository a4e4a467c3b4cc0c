/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One line for the user. The line is formatted first and written by one call, so lines of several
 * threads or processes do not mix.
 */
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "format/printable.h"

void message(const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	replace_unprintable_bytes(line);
	fprintf(stderr, "stackmap: %s\n", line);
}

int print_error_message(const struct stackmap_error *error)
{
	message("%s", error->message);
	return EXIT_FAILED;
}

/*
 * Wrong usage (-EINVAL, -ERANGE) has another exit status than a failure. An interrupted command
 * prints no message.
 */
int print_error_and_choose_exit_status(int result, const struct stackmap_error *error)
{
	if (result == -EINTR)
		return EXIT_FAILED;
	print_error_message(error);
	return result == -EINVAL || result == -ERANGE ? EXIT_USAGE : EXIT_FAILED;
}
