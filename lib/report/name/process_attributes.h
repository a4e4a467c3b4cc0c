/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The attributes that a process has published of itself, such as service.name: the resource in the
 * message of OpenTelemetry's process context (OTEP 4719, process_context.proto). The bytes are the
 * process's own, and may be anything.
 *
 * An attribute is left out, and counted, if its key or text is not UTF-8, has control characters or
 * is longer than PROCESS_TEXT_MAX, if its value is no text, truth value or number, if its key came
 * before, or if there are more than PROCESS_ATTRIBUTES_MAX.
 */
#ifndef LIB_REPORT_PROCESS_ATTRIBUTES_H
#define LIB_REPORT_PROCESS_ATTRIBUTES_H

#include "trace/event.h"

#define PROCESS_ATTRIBUTES_MAX 32
#define PROCESS_TEXT_MAX 256 /* bytes */

struct process_attribute {
	char *key, *value;
};

struct process_attributes {
	struct process_attribute
		items[PROCESS_ATTRIBUTES_MAX]; /* attributes in the order of the message */
	u32 count;
	u32 left_out;	 /* number of attributes that are not among `items` */
	bool is_damaged; /* the rest of the message could not be read */
};

/* Reads the attributes; the caller clears *out in any case. 0 or -ENOMEM. */
int process_attributes_read(const struct trace_process *process, struct process_attributes *out);
void process_attributes_clear(struct process_attributes *attributes);
/* The value of the attribute with this key; NULL: the process has not published it. */
const char *process_attributes_find(const struct process_attributes *attributes, const char *key);

#endif
