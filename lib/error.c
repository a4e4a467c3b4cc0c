/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Formats error lines, which callers print. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int set_message(struct stackmap_error *error, int code, uint64_t offset, const char *format,
		       va_list args)
{
	if (error) {
		vsnprintf(error->message, sizeof(error->message), format, args);
		error->offset = offset;
	}
	return -code;
}

int error_set(struct stackmap_error *error, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	code = set_message(error, code, STACKMAP_NO_OFFSET, format, args);
	va_end(args);
	return code;
}

int error_set_errno(struct stackmap_error *error, int code, const char *subject)
{
	return error_set(error, code, "%s: %s", subject, strerror(code));
}

int error_set_at(struct stackmap_error *error, int code, uint64_t offset, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	code = set_message(error, code, offset, format, args);
	va_end(args);
	return code;
}
