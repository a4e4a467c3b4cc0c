/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The URL of a receiver: KIND+http[s]://HOST[:PORT][/PATH]. The kind gives the protocol
 * (push_kind.h), and the default port and path.
 */
#ifndef LIB_PUSH_URL_H
#define LIB_PUSH_URL_H

#include "scalar.h"
#include "stackmap/error.h"

struct push_kind;

struct push_url {
	const struct push_kind *kind;
	char *base; /* "https://HOST:PORT" */
	char *path; /* "/..." */
};

/* -EINVAL: the URL is wrong, `error` has the reason; -ENOMEM. *url is untouched on failure. */
int push_url_parse(const char *text, struct push_url *url, struct stackmap_error *error);
void push_url_clear(struct push_url *url);

#endif
