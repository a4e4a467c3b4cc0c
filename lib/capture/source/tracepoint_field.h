/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of a tracepoint's record, as tracefs describes them. */
#ifndef LIB_CAPTURE_TRACEPOINT_FIELD_H
#define LIB_CAPTURE_TRACEPOINT_FIELD_H

#include <stdbool.h>

#include "capture/source/source_question.h"
#include "scalar.h"
#include "stackmap/error.h"

struct tracepoint_field {
	u32 tracepoint; /* id of the tracepoint: config of a perf event */
	u32 offset;	/* in the record */
	u32 bytes; /* 1, 2, 4 or 8; for an argument of a system call 4 or 8. An address: 7, which
		      leaves out the byte that is ff in each address of the kernel */
	bool is_signed;
	bool is_address;
};

/* Finds a field of the tracepoint "CATEGORY:NAME" below an `events` directory of tracefs, or
 * -errno in its place. -ENOENT: no such number; the error, which begins with `subject`, names the
 * numbers of the record. */
int tracepoint_field_find(int events, const char *name, const char *field, const char *subject,
			  struct tracepoint_field *out, struct stackmap_error *error);

/* The place of the field in the record. */
struct source_number tracepoint_field_number(const struct tracepoint_field *field);

#endif
