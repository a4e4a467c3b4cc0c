/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A strict reading: what is not of the form in push_url.h is refused, with the reason. The URL is
 * not repeated in messages, as it may hold a password. */
#include "push_url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "push_kind.h"

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define IN_HOST DIGITS LETTERS ".-_"
#define IN_ADDRESS DIGITS "abcdefABCDEF:."
#define IN_PATH DIGITS LETTERS "/-._~"

static int refuse(struct stackmap_error *error, const char *why)
{
	return error_set(
		error, EINVAL,
		"%s; a receiver is KIND+http[s]://HOST[:PORT][/PATH], and KIND one of " PUSH_KINDS,
		why);
}

static int check_bare(const char *text, struct stackmap_error *error)
{
	if (strchr(text, '@'))
		return refuse(error, "a URL may not hold a user or password (--user, "
				     "--password-file)");
	if (strpbrk(text, "?#"))
		return refuse(error, "a URL may not hold a query or fragment");
	return 0;
}

/* *at is behind "KIND+" then. NULL: there is none. */
static const struct push_kind *take_kind(const char **at)
{
	for (const struct push_kind *const *kind = push_kinds; *kind; kind++) {
		size_t length = strlen((*kind)->name);

		if (strncmp(*at, (*kind)->name, length) || (*at)[length] != '+')
			continue;
		*at += length + 1;
		return *kind;
	}
	return NULL;
}

/* NULL: neither of both. */
static const char *take_scheme(const char **at)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (strncmp(*at, schemes[i], strlen(schemes[i])))
			continue;
		*at += strlen(schemes[i]);
		return schemes[i];
	}
	return NULL;
}

/* Length of the host at `text`, "[...]" around an IPv6 address; 0: there is none. */
static size_t host_length(const char *text)
{
	size_t inside;

	if (*text != '[')
		return strspn(text, IN_HOST);
	inside = strspn(text + 1, IN_ADDRESS);
	return inside && text[1 + inside] == ']' ? inside + 2 : 0;
}

/* The port at *at, which is behind it then. 0: not a port. */
static u32 take_port(const char **at, u32 otherwise)
{
	u32 port = 0;

	if (**at != ':')
		return otherwise;
	for (++*at; **at >= '0' && **at <= '9' && port <= UINT16_MAX; ++*at)
		port = port * 10 + (u32)(**at - '0');
	return port <= UINT16_MAX ? port : 0;
}

static bool is_this_host(const char *host, size_t length)
{
	return (length == 9 && !strncmp(host, "localhost", length)) ||
	       (length == 5 && !strncmp(host, "[::1]", length)) ||
	       (!strncmp(host, "127.", 4) && strspn(host, DIGITS ".") == length);
}

static int take_place(struct push_url *url, const char *scheme, const char **at,
		      struct stackmap_error *error)
{
	bool tls = strcmp(scheme, "https://") == 0;
	const char *host = *at;
	size_t length = host_length(host);
	u32 port;

	*at += length;
	port = take_port(at, tls ? url->kind->tls_port : url->kind->port);
	if (!length)
		return refuse(error, "the host is missing or has odd characters");
	if (!port)
		return refuse(error, "a port is a number up to 65535");
	url->is_private = tls || is_this_host(host, length);
	if (asprintf(&url->base, "%s%.*s:%u", scheme, (int)length, host, port) < 0)
		url->base = NULL;
	return url->base ? 0 : -ENOMEM;
}

/* "/" alone is none. */
static int take_path(struct push_url *url, const char *text, struct stackmap_error *error)
{
	if (*text && (*text != '/' || text[strspn(text, IN_PATH)]))
		return refuse(error, "the path has odd characters");
	url->path = strdup(*text && text[1] ? text : url->kind->path);
	return url->path ? 0 : -ENOMEM;
}

static int parse(const char *text, struct push_url *url, struct stackmap_error *error)
{
	const char *scheme;
	int err = check_bare(text, error);

	if (err)
		return err;
	url->kind = take_kind(&text);
	if (!url->kind)
		return refuse(error, "the URL begins with no kind of receiver");
	scheme = take_scheme(&text);
	if (!scheme)
		return refuse(error, "neither http:// nor https:// behind the kind");
	return take_place(url, scheme, &text, error) ?: take_path(url, text, error);
}

int push_url_parse(const char *text, struct push_url *url, struct stackmap_error *error)
{
	struct push_url parsed = {};
	int err = parse(text, &parsed, error);

	if (err == -ENOMEM)
		error_set(error, ENOMEM, "the URL of the receiver: %s", strerror(ENOMEM));
	if (err)
		push_url_clear(&parsed);
	else
		*url = parsed;
	return err;
}

void push_url_clear(struct push_url *url)
{
	free(url->base);
	free(url->path);
	*url = (struct push_url){};
}
