/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fills a struct stackmap_error. All error_set functions return -code, so a failure is one
 * statement. */
#ifndef LIB_ERROR_H
#define LIB_ERROR_H

#include "stackmap/error.h"

/* error_set(error, EINVAL, "-F %d: the highest rate here is %d", ...) returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int error_set(struct stackmap_error *error, int code,
						    const char *format, ...);

/* Sets the text "SUBJECT: " and the text of errno `code`. */
int error_set_errno(struct stackmap_error *error, int code, const char *subject);

/* As error_set(), and sets the offset in a file at which the fault is. */
__attribute__((format(printf, 4, 5))) int error_set_at(struct stackmap_error *error, int code,
						       uint64_t offset, const char *format, ...);

/* Returns the first of two errors, for a sequence that goes on after an error: result =
 * first_error(result, next()). */
static inline int first_error(int before, int result)
{
	return before ? before : result;
}

#endif
