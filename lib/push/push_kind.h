/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Protocols of receivers of profiles. Each kind is one file of this folder, which ends with its
 * struct push_kind; push.c lists them.
 */
#ifndef LIB_PUSH_KIND_H
#define LIB_PUSH_KIND_H

#include "export/export_format.h"
#include "store/wire/http.h"

#define PUSH_HEADERS 3

/* A recording that is being sent. */
struct push_profile {
	struct trace_reader *reader;
	const struct export_options *options;
	u64 from, until; /* times of the first and the last event that pass the filter, ns since the
			    epoch */
};

/* The request to a receiver. Its body is one piece of memory, since libcurl would send a body of
 * several pieces a second time after a lost connection. */
struct push_message {
	char *query; /* query of the URL, "?..." after the path; NULL: no query */
	/* Header lines of the request; NULL after the last line. */
	const char *headers[PUSH_HEADERS];
	char *type; /* value of the Content-Type header if it is memory to be freed, else NULL */
	char *body;
	size_t length;
};

struct push_kind {
	const char *name;
	u32 port, tls_port;
	const char *path;

	/* Makes the request for a recording. 0 or -errno. The caller frees the message, also after
	 * a failure. */
	int (*make)(const struct push_profile *profile, struct push_message *message,
		    struct stackmap_error *error);
	/* Checks the body of an answer with status 2xx. NULL: an answer with status 2xx is always a
	 * success. */
	int (*check_answer)(const struct http_answer *answer, struct stackmap_error *error);
};

extern const struct push_kind otlp_push, pyroscope_push, parca_push;

#define PUSH_KINDS "otlp, pyroscope, parca"

/* The kinds of receivers in the order of PUSH_KINDS, then NULL. */
extern const struct push_kind *const push_kinds[];

/* Writes the recording in a format to memory that the caller frees. Sample types of pprof are
 * written without colons, since a colon is a separator in the queries of receivers. */
int push_export_to_memory(const struct push_profile *profile, const struct export_format *format,
			  char **bytes, size_t *length, struct stackmap_error *error);

/* Calls `each` for "host", "service", "version" and the labels of the options. The texts come
 * from users. Stops at the first non-zero return and returns it. */
int push_each_label(const struct push_profile *profile,
		    int (*each)(void *arg, const char *key, const char *value), void *arg);

/* Returns a copy of a label's key in which "_" replaces all characters but letters, digits and "_".
 * NULL: no memory. */
char *push_label_key(const char *key);

#endif
