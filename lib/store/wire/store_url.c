/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A strict parser: any form other than the one in store_url.h is refused, with the reason. */
#include "store/wire/store_url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "server_url.h"

#define DEFAULT_DATABASE "stackmap"
#define PLAIN_PORT 8123
#define TLS_PORT 8443
#define SHARDS_MAX 1024

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define IN_DATABASE DIGITS LETTERS "_"
static int set_invalid_url_error(struct stackmap_error *error, const char *why)
{
	return error_set(error, EINVAL, "%s; a store is http[s]://HOST[:PORT][,HOST...][/DATABASE]",
			 why);
}

static int parse_shards(struct store_url *url, const struct server_scheme *scheme, const char **at,
			struct stackmap_error *error)
{
	const char *wrong;

	url->shards = calloc(SHARDS_MAX, sizeof(*url->shards));
	if (!url->shards)
		return -ENOMEM;
	for (;; ++*at) {
		if (url->count == SHARDS_MAX)
			return set_invalid_url_error(error, "too many hosts");
		wrong = server_url_parse_host_and_make_base(
			scheme, scheme->tls ? TLS_PORT : PLAIN_PORT, at, &url->shards[url->count]);
		if (wrong)
			return set_invalid_url_error(error, wrong);
		if (!url->shards[url->count])
			return -ENOMEM;
		url->count++;
		if (**at != ',')
			return 0;
	}
}

static int parse_url(const char *text, struct store_url *url, struct stackmap_error *error)
{
	const char *wrong = server_url_refusal_reason(text);
	const struct server_scheme *scheme;
	const char *name;
	size_t length;
	int err;

	if (wrong)
		return set_invalid_url_error(error, wrong);
	scheme = server_url_parse_scheme(&text);
	if (!scheme)
		return set_invalid_url_error(error, "this is no URL of a store");
	err = parse_shards(url, scheme, &text, error);
	if (err)
		return err;
	name = *text == '/' ? text + 1 : text;
	length = strspn(name, IN_DATABASE);
	if (name[length] || (*text && *text != '/'))
		return set_invalid_url_error(error, "a database has letters, digits and _");
	url->database = strdup(length ? name : DEFAULT_DATABASE);
	return url->database ? 0 : -ENOMEM;
}

int store_url_parse(const char *text, struct store_url *url, struct stackmap_error *error)
{
	struct store_url parsed = {};
	int err = parse_url(text, &parsed, error);

	if (err == -ENOMEM)
		error_set(error, ENOMEM, "the URL of the store: %s", strerror(ENOMEM));
	if (err)
		store_url_clear(&parsed);
	else
		*url = parsed;
	return err;
}

void store_url_clear(struct store_url *url)
{
	for (u32 i = 0; i < url->count; i++)
		free(url->shards[i]);
	free(url->shards);
	free(url->database);
	memset(url, 0, sizeof(*url));
}

/* FNV-1a with the finalizer of MurmurHash3: FNV alone hardly mixes the last letter of a name. */
u32 choose_shard_of_host(const struct store_url *url, const char *host)
{
	u64 hash = 0xcbf29ce484222325;

	for (; *host; host++)
		hash = (hash ^ (u8)*host) * 0x100000001b3;
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
	return (u32)((hash ^ hash >> 33) % url->count);
}
