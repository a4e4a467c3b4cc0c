/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "server_url.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define IN_HOST DIGITS LETTERS ".-_"
#define IN_ADDRESS DIGITS "abcdefABCDEF:."

const char *server_url_refusal_reason(const char *url)
{
	if (strchr(url, '@'))
		return "a URL may not hold a user or password (--user, --password-file)";
	if (strpbrk(url, "?#"))
		return "a URL may not hold a query or fragment";
	return NULL;
}

const struct server_scheme *server_url_parse_scheme(const char **at)
{
	static const struct server_scheme schemes[] = {{"http://", false}, {"https://", true}};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t length = strlen(schemes[i].prefix);

		if (strncmp(*at, schemes[i].prefix, length))
			continue;
		*at += length;
		return &schemes[i];
	}
	return NULL;
}

/* Returns the length of the host at `text`, with the brackets around an IPv6 address; 0: no
 * host. */
static size_t length_of_host_in_url(const char *text)
{
	size_t inside;

	if (*text != '[')
		return strspn(text, IN_HOST);
	inside = strspn(text + 1, IN_ADDRESS);
	return inside && text[1 + inside] == ']' ? inside + 2 : 0;
}

/* Parses the port at *at and moves *at to its end. 0: not a port. */
static u32 parse_port(const char **at, u32 otherwise)
{
	u32 port = 0;

	if (**at != ':')
		return otherwise;
	for (++*at; **at >= '0' && **at <= '9' && port <= UINT16_MAX; ++*at)
		port = port * 10 + (u32)(**at - '0');
	return port <= UINT16_MAX ? port : 0;
}

const char *server_url_parse_host_and_make_base(const struct server_scheme *scheme, u32 port,
						const char **at, char **base)
{
	const char *host = *at;
	size_t length = length_of_host_in_url(host);

	*at += length;
	port = parse_port(at, port);
	if (!length)
		return "a host is missing or has odd characters";
	if (!port)
		return "a port is a number up to 65535";
	if (asprintf(base, "%s%.*s:%u", scheme->prefix, (int)length, host, port) < 0)
		*base = NULL;
	return NULL;
}

u32 server_url_percent_encode_byte(char byte, char code[3])
{
	static const char digits[] = "0123456789ABCDEF";
	u8 value = (u8)byte;

	if (byte && strchr(DIGITS LETTERS "-._~", byte)) {
		code[0] = byte;
		return 1;
	}
	code[0] = '%';
	code[1] = digits[value >> 4];
	code[2] = digits[value & 0xf];
	return 3;
}

bool server_url_is_tls_or_loopback(const char *base)
{
	const struct server_scheme *scheme = server_url_parse_scheme(&base);
	size_t length;

	if (!scheme || scheme->tls)
		return scheme != NULL;
	length = length_of_host_in_url(base);
	return (length == 9 && !strncmp(base, "localhost", length)) ||
	       (length == 5 && !strncmp(base, "[::1]", length)) ||
	       (!strncmp(base, "127.", 4) && strspn(base, DIGITS ".") == length);
}
