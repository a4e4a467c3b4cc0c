/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The common part of URLs of stores and of receivers: http[s]://HOST[:PORT]. All users who list
 * processes see a URL, so a URL with a user or a password is refused, and error texts do not repeat
 * it.
 */
#ifndef LIB_SERVER_URL_H
#define LIB_SERVER_URL_H

#include <stdbool.h>

#include "scalar.h"

struct server_scheme {
	const char *prefix; /* text of the scheme: "http://" or "https://" */
	bool tls;
};

/* Returns the reason why this URL is refused; NULL: it is accepted. */
const char *server_url_refusal_reason(const char *url);

/* Parses the scheme of a URL and moves *at to its end. NULL: the scheme is neither http nor
 * https. */
const struct server_scheme *server_url_parse_scheme(const char **at);

/*
 * Parses the host and its port (`port` if the URL gives none) and moves *at to their end. *base
 * becomes "https://HOST:PORT", which the caller frees; NULL: no memory. Returns NULL, or the reason
 * why the URL is refused.
 */
const char *server_url_parse_host_and_make_base(const struct server_scheme *scheme, u32 port,
						const char **at, char **base);

/* Percent-encodes a byte of a URL's query, unless the byte is an unreserved character (RFC 3986,
 * 2.3). Returns the number of characters of `code`, 1 or 3. */
u32 server_url_percent_encode_byte(char byte, char code[3]);

/*
 * True if data to this base cannot be read on its way: TLS, or a name or an address of the
 * loopback, whose packets never leave the machine and are visible to root only.
 */
bool server_url_is_tls_or_loopback(const char *base);

#endif
