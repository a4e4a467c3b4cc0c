/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cause of a failed call, in words for a person. The library never prints: functions return 0
 * or -errno. Functions that take a `struct stackmap_error *` fill it with one line "what: why" (no
 * newline, no program name). The pointer may be NULL. On success the struct is untouched.
 */
#ifndef STACKMAP_ERROR_H
#define STACKMAP_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STACKMAP_NO_OFFSET UINT64_MAX

struct stackmap_error {
	char message[512];
	uint64_t offset; /* where the fault is in a damaged file: bytes from the start of the file,
			    or STACKMAP_NO_OFFSET */
};

#ifdef __cplusplus
}
#endif
#endif
