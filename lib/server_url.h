/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the URLs of stores and of receivers have in common: http[s]://HOST[:PORT]. A URL is seen by
 * everybody who lists processes, so one with a user or a password is refused, and reasons do not
 * repeat it.
 */
#ifndef LIB_SERVER_URL_H
#define LIB_SERVER_URL_H

#include <stdbool.h>

#include "scalar.h"

struct server_scheme {
	const char *prefix; /* "http://" */
	bool tls;
};

/* NULL, or why no program should be given this URL. */
const char *server_url_refused(const char *url);

/* *at is behind it then. NULL: neither http nor https is there. */
const struct server_scheme *server_url_take_scheme(const char **at);

/*
 * The host and its port, `port` unless one is given; *at is behind them then. *base becomes
 * "https://HOST:PORT", for the caller to free, or NULL without memory. Returns NULL, or what is
 * wrong.
 */
const char *server_url_take_host(const struct server_scheme *scheme, u32 port, const char **at,
				 char **base);

/*
 * True if nobody on the way can read what is sent to this base: TLS, or a name or an address of the
 * loopback, whose packets never leave the machine and are open to root only.
 */
bool server_url_is_private(const char *base);

#endif
