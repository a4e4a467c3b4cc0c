/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests to one server, over one connection that is kept. Certificates are verified, redirects
 * refused, proxies of the environment used for https only. An answer is untrusted bytes, and no
 * more of them than were asked for.
 *
 * One thread. libcurl is loaded with the first client.
 */
#ifndef LIB_STORE_WIRE_HTTP_H
#define LIB_STORE_WIRE_HTTP_H

#include "scalar.h"
#include "stackmap/error.h"
#include "trace/bytes/byte_buffer.h"

#define HTTP_COMPLAINT_BYTES (64U << 10)

struct http;

/* Borrowed until http_close(). */
struct http_options {
	const char *base;      /* "https://HOST:PORT", or a whole URL */
	const char *user;      /* NULL: none */
	const char *password;  /* NULL: none */
	const char *bearer;    /* token; NULL: none */
	const char *ca_file;   /* NULL: those that the system trusts */
	bool allows_cleartext; /* password and token may go over http to another machine */
	u32 timeout_ms;	       /* of a whole request */
};

/* A part of multipart/form-data. */
struct http_part {
	const char *name;
	const void *bytes;
	size_t length;
};

struct http_request {
	const char *target;	    /* "/?query=..." behind the base; "" for the base itself */
	const char *const *headers; /* "Name: value"; NULL ends them; NULL: none */
	const void *body;	    /* POST; NULL without parts: GET */
	size_t length;
	const struct http_part *parts;
	u32 part_count;
	u64 most_bytes; /* of the answer, if it is one of success (2xx) */
};

struct http_answer {
	u32 status; /* of HTTP; 0: there was none */
	u64 date;   /* of the server, seconds since the epoch; 0: it did not say */
	struct byte_buffer body;
};

/* -EINVAL: the password or token would be sent in cleartext (http:// to another machine), and
 * nobody asked for that. http_open() checks the same. */
int http_check_secrets(const struct http_options *options, struct stackmap_error *error);

/* -ENOSYS: libcurl is not installed. */
int http_open(const struct http_options *options, struct http **out, struct stackmap_error *error);
void http_close(struct http **http);

/* 0 with any status of HTTP; of an answer that is not one of success the body has the first
 * HTTP_COMPLAINT_BYTES, and the connection ends if there are more. -EFBIG: the answer is longer
 * than it may be; -ETIMEDOUT, -ECONNREFUSED, -EPROTO (TLS, redirects), -EIO: there was no answer,
 * or only a part of one; what was sent may have arrived. The answer's body must be cleared
 * (byte_buffer_free()) by the caller in any case. */
int http_send(struct http *http, const struct http_request *request, struct http_answer *answer,
	      struct stackmap_error *error);

/* Bytes sent and received by now, headers and compression included. */
u64 http_bytes_sent(const struct http *http);
u64 http_bytes_received(const struct http *http);

#endif
