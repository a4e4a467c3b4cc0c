/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A strict reading: what is not of the form in store_url.h is refused, with the reason. */
#include "store/wire/store_url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define DEFAULT_DATABASE "stackmap"
#define PLAIN_PORT 8123
#define TLS_PORT 8443
#define SHARDS_MAX 1024

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define IN_DATABASE DIGITS LETTERS "_"
#define IN_HOST DIGITS LETTERS ".-_"
#define IN_ADDRESS DIGITS "abcdefABCDEF:."

struct scheme {
	const char *prefix;
	u32 port;
};

static const struct scheme schemes[] = {{"http://", PLAIN_PORT}, {"https://", TLS_PORT}};

static const struct scheme *scheme_of(const char *text)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (!strncmp(text, schemes[i].prefix, strlen(schemes[i].prefix)))
			return &schemes[i];
	return NULL;
}

static int refuse(struct stackmap_error *error, const char *why)
{
	return error_set(error, EINVAL, "%s; a store is http[s]://HOST[:PORT][,HOST...][/DATABASE]",
			 why);
}

/* Does not repeat the URL: it may hold a password. */
static int check_bare(const char *text, struct stackmap_error *error)
{
	if (strchr(text, '@'))
		return refuse(error, "a URL may not hold a user or password (--user, "
				     "--password-file)");
	if (strpbrk(text, "?#"))
		return refuse(error, "a URL may not hold a query or fragment");
	return 0;
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

/* The port behind a host; *end is behind it. 0: not a port. */
static u32 read_port(const char *text, u32 otherwise, const char **end)
{
	u32 port = 0;

	*end = text;
	if (*text != ':')
		return otherwise;
	for (text++; *text >= '0' && *text <= '9' && port <= UINT16_MAX; text++)
		port = port * 10 + (u32)(*text - '0');
	*end = text;
	return port <= UINT16_MAX ? port : 0;
}

static int add_shard(struct store_url *url, const struct scheme *scheme, const char **at,
		     struct stackmap_error *error)
{
	const char *host = *at;
	size_t length = host_length(host);
	u32 port = read_port(host + length, scheme->port, at);

	if (!length)
		return refuse(error, "a host is missing or has odd characters");
	if (!port)
		return refuse(error, "a port is a number up to 65535");
	if (url->count == SHARDS_MAX)
		return refuse(error, "too many hosts");
	if (asprintf(&url->shards[url->count], "%s%.*s:%u", scheme->prefix, (int)length, host,
		     port) < 0)
		return -ENOMEM;
	url->count++;
	return 0;
}

static int read_shards(struct store_url *url, const struct scheme *scheme, const char **at,
		       struct stackmap_error *error)
{
	int err;

	url->shards = calloc(SHARDS_MAX, sizeof(*url->shards));
	if (!url->shards)
		return -ENOMEM;
	*at += strlen(scheme->prefix);
	for (;;) {
		err = add_shard(url, scheme, at, error);
		if (err || **at != ',')
			return err;
		++*at;
	}
}

static int read_database(struct store_url *url, const char *at, struct stackmap_error *error)
{
	const char *name = *at == '/' ? at + 1 : at;
	size_t length = strspn(name, IN_DATABASE);

	if (name[length] || (*at && *at != '/'))
		return refuse(error, "a database has letters, digits and _");
	url->database = strdup(length ? name : DEFAULT_DATABASE);
	return url->database ? 0 : -ENOMEM;
}

int store_url_parse(const char *text, struct store_url *url, struct stackmap_error *error)
{
	const struct scheme *scheme = scheme_of(text);
	struct store_url parsed = {0};
	int err = check_bare(text, error);

	if (!err && !scheme)
		err = refuse(error, "not a URL of a store");
	if (!err)
		err = read_shards(&parsed, scheme, &text, error);
	if (!err)
		err = read_database(&parsed, text, error);
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

/* FNV-1a, and the finish of MurmurHash3: FNV alone hardly tells names apart by their last letter.
 */
u32 store_url_shard_of(const struct store_url *url, const char *host)
{
	u64 hash = 0xcbf29ce484222325;

	for (; *host; host++)
		hash = (hash ^ (u8)*host) * 0x100000001b3;
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
	return (u32)((hash ^ hash >> 33) % url->count);
}
