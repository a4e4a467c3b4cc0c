/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests to one server, over one connection that is kept open. Certificates are verified,
 * redirects are refused, and a proxy that the environment names is used for https only. An answer
 * is untrusted, and its size is limited.
 *
 * A client belongs to one thread. libcurl is loaded when the first client is opened.
 */
#ifndef LIB_STORE_WIRE_HTTP_H
#define LIB_STORE_WIRE_HTTP_H

#include "scalar.h"
#include "stackmap/error.h"
#include "trace/bytes/byte_buffer.h"

#define HTTP_COMPLAINT_BYTES (64U << 10)

struct http;

/* Options of http_open(), which copies the texts. */
struct http_options {
	const char *base;      /* base URL: "https://HOST:PORT", or a whole URL */
	const char *user;      /* name of the user; NULL: the request has no user */
	const char *password;  /* password of the user; NULL: the request has no password */
	const char *bearer;    /* bearer token; NULL: the request has no token */
	const char *ca_file;   /* file of CA certificates; NULL: the system's */
	bool allows_cleartext; /* true: password and token may be sent to another machine over plain
				  http */
	u32 timeout_ms;	       /* time limit for a whole request */
};

/* A part of multipart/form-data. */
struct http_part {
	const char *name;
	const void *bytes;
	size_t length;
};

struct http_request {
	/* appended to the base URL: "/?query=..."; "" for the base URL itself */
	const char *target;
	const char *const *headers; /* headers "Name: value", ended by NULL; may be NULL */
	const void *body; /* body of a POST request; NULL without parts: the request is a GET */
	size_t length;
	const struct http_part *parts;
	u32 part_count;
	u64 most_bytes; /* limit for the body of a successful answer (2xx), bytes */
};

struct http_answer {
	u32 status; /* HTTP status; 0: no answer */
	u64 date;   /* time of the answer by the server's clock, seconds since the epoch; 0: unknown
		     */
	struct byte_buffer body;
};

/* -EINVAL: the password or token would be sent in cleartext (http:// to another machine) without
 * `allows_cleartext`. http_open() checks the same. */
int http_refuse_cleartext_secrets(const struct http_options *options, struct stackmap_error *error);

/* -ENOSYS: libcurl is not installed. */
int http_open(const struct http_options *options, struct http **out, struct stackmap_error *error);
void http_close(struct http **http);

/* Returns 0 with any HTTP status. The body of an error is limited to HTTP_COMPLAINT_BYTES; a longer
 * one ends the connection. -EFBIG: the answer is too long; -ETIMEDOUT, -ECONNREFUSED, -EPROTO (TLS,
 * redirects), -EIO: the answer is missing or incomplete, and the server may have received the
 * request. The caller frees the answer's body (byte_buffer_free()) in any case. */
int http_send(struct http *http, const struct http_request *request, struct http_answer *answer,
	      struct stackmap_error *error);

/* Total bytes sent and received on the wire, headers included. */
u64 http_bytes_sent(const struct http *http);
u64 http_bytes_received(const struct http *http);

#endif
