/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fills a struct stackmap_error. All error_set functions return -code, so a failure is one
 * statement. */
#ifndef LIB_ERROR_H
#define LIB_ERROR_H

#include "stackmap/error.h"

/* error_set(error, EINVAL, "-F %d: the highest rate here is %d", ...) returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int error_set(struct stackmap_error *error, int code,
						    const char *format, ...);

/* Sets "SUBJECT: " and the text of errno `code`. */
int error_set_errno(struct stackmap_error *error, int code, const char *subject);

/* As error_set(), with an offset in a file. */
__attribute__((format(printf, 4, 5))) int error_set_at(struct stackmap_error *error, int code,
						       uint64_t offset, const char *format, ...);

/* Keeps the first error of a sequence that runs on: result = first_error(result, next()). */
static inline int first_error(int before, int result)
{
	return before ? before : result;
}

#endif
