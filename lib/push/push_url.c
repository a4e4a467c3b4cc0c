/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses strictly: a URL that is not of the form in push_url.h is refused, with the reason. */
#include "push_url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "push_kind.h"
#include "server_url.h"

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define IN_PATH DIGITS LETTERS "/-._~"

static int refuse(struct stackmap_error *error, const char *why)
{
	return error_set(
		error, EINVAL,
		"%s; a receiver is KIND+http[s]://HOST[:PORT][/PATH], and KIND one of " PUSH_KINDS,
		why);
}

/* Moves *at behind "KIND+". NULL: no known kind. */
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

static int parse(const char *text, struct push_url *url, struct stackmap_error *error)
{
	const char *wrong = server_url_refused(text);
	const struct server_scheme *scheme;

	if (wrong)
		return refuse(error, wrong);
	url->kind = take_kind(&text);
	if (!url->kind)
		return refuse(error, "the URL begins with no kind of receiver");
	scheme = server_url_take_scheme(&text);
	if (!scheme)
		return refuse(error, "neither http:// nor https:// behind the kind");
	wrong = server_url_take_host(scheme, scheme->tls ? url->kind->tls_port : url->kind->port,
				     &text, &url->base);
	if (wrong)
		return refuse(error, wrong);
	if (!url->base)
		return -ENOMEM;
	if (*text && (*text != '/' || text[strspn(text, IN_PATH)]))
		return refuse(error, "the path has odd characters");
	/* "/" stands for the path of the kind, as an empty path does. */
	url->path = strdup(*text && text[1] ? text : url->kind->path);
	return url->path ? 0 : -ENOMEM;
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
