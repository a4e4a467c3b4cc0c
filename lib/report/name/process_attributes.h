/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The attributes that a process has published of itself, such as service.name: the resource in the
 * message of OpenTelemetry's process context (OTEP 4719, process_context.proto). The bytes are the
 * process's own, and may be anything.
 *
 * An attribute is left out, and counted, if its key or text is not UTF-8, has control characters or
 * is longer than PROCESS_TEXT_MAX, if its value is no text, truth value or number, if its key came
 * before, or if there are more than PROCESS_ATTRIBUTES_MAX.
 *
 * A thread publishes attributes of its work, such as http.route (OTEP 4947). Its record has numbers
 * in place of keys: indexes of a list of the process's message. The last value of a key counts, and
 * counts more than the process's. The same rules say what is left out, and so is a number that the
 * list lacks, and all that a thread has published in another program of the process (execve). A
 * value that is left out still replaces an earlier one, and one of the process.
 */
#ifndef LIB_REPORT_PROCESS_ATTRIBUTES_H
#define LIB_REPORT_PROCESS_ATTRIBUTES_H

#include "trace/bytes/byte_buffer.h"
#include "trace/read/reader.h"

#define PROCESS_ATTRIBUTES_MAX 32
#define THREAD_ATTRIBUTES_MAX 32
#define ATTRIBUTES_MAX (PROCESS_ATTRIBUTES_MAX + THREAD_ATTRIBUTES_MAX)
#define PROCESS_TEXT_MAX 256 /* most bytes of a key or of a value's text */

struct process_attribute {
	char *key, *value;
};

struct process_attributes {
	/* attributes in the order of the message; then those of the thread, in that of their keys
	 */
	struct process_attribute items[ATTRIBUTES_MAX];
	u32 count;
	u32 left_out;	 /* number of attributes that are not among `items` */
	bool is_damaged; /* the rest of the message could not be read */
};

/* The keys of threads' attributes, by number. A key that is not a text has length 0. */
struct thread_keys {
	struct byte_cursor key[256];
	u32 count;
};

/* The published attributes of the process that was asked for last: its message takes long to read,
 * and its threads may have many records. All 0: no process yet. */
struct kept_process {
	const struct trace_process *process;
	struct process_attributes attributes;
	struct thread_keys keys;
};

/* Reads the attributes; the caller clears *out in any case. 0 or -ENOMEM. */
int process_attributes_read(const struct trace_process *process, struct process_attributes *out);
/* The same for the attributes of a process and of a thread; either may be NULL. The caller clears
 * *kept before the process's message is freed. */
int published_attributes_read(struct kept_process *kept, const struct trace_process *process,
			      const struct trace_attributes *thread,
			      struct process_attributes *out);
/* The same for the attributes of an event. */
int event_attributes_read(struct kept_process *kept, const struct trace_reader *reader,
			  struct attribute_numbers from, struct process_attributes *out);
void kept_process_clear(struct kept_process *kept);
void process_attributes_clear(struct process_attributes *attributes);
/* The value of the attribute with this key; NULL: the process has not published it. */
const char *process_attributes_find(const struct process_attributes *attributes, const char *key);

#endif
