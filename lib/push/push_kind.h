/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a receiver of profiles speaks. Each kind is one file of this folder, which ends with its
 * struct push_kind; push_kind.c lists them.
 */
#ifndef LIB_PUSH_KIND_H
#define LIB_PUSH_KIND_H

#include "export/export_format.h"
#include "store/wire/http.h"

#define PUSH_HEADERS 3

/* A recording on its way. */
struct push_profile {
	struct trace_reader *reader;
	const struct export_options *options;
	u64 from, until; /* of its events: ns since the epoch */
};

/* What is sent, as a single body: parts that libcurl puts together it would also send again. */
struct push_message {
	char *query;			   /* "?..." behind the path; NULL: none */
	const char *headers[PUSH_HEADERS]; /* NULL ends them */
	char *type;			   /* the header of that, if it was made; NULL: it is not */
	char *body;
	size_t length;
};

struct push_kind {
	const char *name;
	u32 port, tls_port;
	const char *path;

	/* -errno; what is in the message is cleared by the caller in any case. */
	int (*make)(const struct push_profile *profile, struct push_message *message,
		    struct stackmap_error *error);
	/* Why an answer of success is none; NULL: it always is one. */
	int (*judge)(const struct http_answer *answer, struct stackmap_error *error);
};

extern const struct push_kind otlp_push, pyroscope_push, parca_push;

#define PUSH_KINDS "otlp, pyroscope, parca"

/* In the same order; the last is NULL. */
extern const struct push_kind *const push_kinds[];

/* The recording in a format, in memory that the caller frees. `format` "pprof" without colons in
 * its sample types, which the queries of its receivers take apart by them. */
int push_export(const struct push_profile *profile, const struct export_format *format,
		char **bytes, size_t *length, struct stackmap_error *error);

/* "host", "service", "version" and the labels of the options, one call each; all are texts of
 * users. Stops at the first non-zero return and returns it. */
int push_labels(const struct push_profile *profile,
		int (*each)(void *arg, const char *key, const char *value), void *arg);

/* The copy of a label's key that has letters, digits and "_" only. NULL without memory. */
char *push_label_key(const char *key);

#endif
