/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the names of this kernel's tracepoints, and the fields of their records. */
#ifndef LIB_CAPTURE_TRACEPOINT_H
#define LIB_CAPTURE_TRACEPOINT_H

#include <stdbool.h>

#include "capture/source/source_question.h"
#include "scalar.h"
#include "stackmap/error.h"

/* Callback for the name of one tracepoint; a non-zero return ends the visits and is their
 * result. */
typedef int (*tracepoint_visit)(void *arg, const char *name);

/* Visits all "CATEGORY:NAME" below an `events` directory of tracefs, sorted by category. */
int tracepoint_each_event(int events, tracepoint_visit visit, void *arg);

/* Visits all NAMEs, without their categories, by the kernel's BTF. -errno: the kernel has no BTF.
 */
int tracepoint_each_btf(tracepoint_visit visit, void *arg);

/* The fields of a tracepoint's record, as tracefs describes them. */

struct tracepoint_field {
	u32 tracepoint; /* id of the tracepoint, which is attr.config of a perf event */
	u32 offset;	/* offset of the field in the record */
	u32 bytes; /* bytes of the field: 1, 2, 4 or 8; for an argument of a system call 4 or 8; for
		      an address 7, which leaves out the byte that is ff in each address of the
		      kernel */
	bool is_signed;
	bool is_address;
};

/* Finds a field of the tracepoint "CATEGORY:NAME". `events`: a directory `events` of tracefs, or
 * the -errno of opening it. -ENOENT: no such number; `error`, which begins with `subject`, lists
 * the numbers of the record. */
int tracepoint_field_find(int events, const char *name, const char *field, const char *subject,
			  struct tracepoint_field *out, struct stackmap_error *error);

/* Describes a field as a number that an event's value or condition is read from (abi/question.h).
 */
struct source_number tracepoint_field_number(const struct tracepoint_field *field);

#endif
