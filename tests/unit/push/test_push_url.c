/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* URLs of receivers, their parts, and texts that are refused as such URLs. */
#include "push/push.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "push/push_kind.h"
#include "server_url.h"
#include "unit_test.h"

static void check(const char *text, const struct push_kind *kind, const char *base,
		  const char *path, bool is_private)
{
	struct push_url url = {};

	assert_int_equal(push_url_parse(text, &url, NULL), 0);
	assert_ptr_equal(url.kind, kind);
	assert_string_equal(url.base, base);
	assert_string_equal(url.path, path);
	assert_int_equal(server_url_is_tls_or_loopback(url.base), is_private);
	push_url_clear(&url);
	assert_null(url.base);
}

TEST(kinds)
{
	check("otlp+https://host", &otlp_push, "https://host:4318", "/v1development/profiles",
	      true);
	check("otlp+http://host", &otlp_push, "http://host:4318", "/v1development/profiles", false);
	check("pyroscope+http://host", &pyroscope_push, "http://host:4040", "/ingest", false);
	check("pyroscope+https://host", &pyroscope_push, "https://host:443", "/ingest", true);
	check("parca+http://host", &parca_push, "http://host:7070", "/profiles/writeraw", false);
	check("parca+https://host/", &parca_push, "https://host:443", "/profiles/writeraw", true);
}

TEST(places)
{
	check("otlp+https://a-b.example:1/x/y_z~.", &otlp_push, "https://a-b.example:1", "/x/y_z~.",
	      true);
	check("otlp+http://[::1]:65535", &otlp_push, "http://[::1]:65535",
	      "/v1development/profiles", true);
	check("otlp+http://localhost/p", &otlp_push, "http://localhost:4318", "/p", true);
	check("otlp+http://127.9.0.1", &otlp_push, "http://127.9.0.1:4318",
	      "/v1development/profiles", true);
	/* Addresses that only look like addresses of this host. */
	check("otlp+http://127.evil.example/p", &otlp_push, "http://127.evil.example:4318", "/p",
	      false);
	check("otlp+http://localhost.example/p", &otlp_push, "http://localhost.example:4318", "/p",
	      false);
	check("otlp+http://[::2]/p", &otlp_push, "http://[::2]:4318", "/p", false);
}

static void assert_url_refused(const char *text)
{
	struct push_url url = {.path = (char *)"untouched"};
	struct stackmap_error error = {};

	if (push_url_parse(text, &url, &error) != -EINVAL)
		fail_msg("'%s' was taken", text);
	assert_string_equal(url.path, "untouched");
	assert_non_null(strstr(error.message, PUSH_KINDS));
	assert_null(strstr(error.message, "hidden"));
}

TEST(refusals)
{
	assert_url_refused("");
	assert_url_refused("otlp");
	assert_url_refused("otlp+");
	assert_url_refused("otlp+https:/host");
	assert_url_refused("otlp+https://");
	assert_url_refused("otlp+https:///path");
	assert_url_refused("otlphttps://host");
	assert_url_refused("OTLP+https://host");
	assert_url_refused("otlp+ftp://host");
	assert_url_refused("https://host");
	assert_url_refused("otlp+https://user:hidden@host");
	assert_url_refused("otlp+https://hidden@host");
	assert_url_refused("otlp+https://host/@hidden");
	assert_url_refused("otlp+https://host?hidden");
	assert_url_refused("otlp+https://host#hidden");
	assert_url_refused("otlp+https://host:");
	assert_url_refused("otlp+https://host:0");
	assert_url_refused("otlp+https://host:65536");
	assert_url_refused("otlp+https://host:99999999999999999999");
	assert_url_refused("otlp+https://host:1x");
	assert_url_refused("otlp+https://host,other");
	assert_url_refused("otlp+https://ho st");
	assert_url_refused("otlp+https://host\n");
	assert_url_refused("otlp+https://h\xc3\xb6st");
	assert_url_refused("otlp+https://[::1");
	assert_url_refused("otlp+https://[]");
	assert_url_refused("otlp+https://[host]");
	assert_url_refused("otlp+https://host/a b");
	assert_url_refused("otlp+https://host/%0d%0a");
	assert_url_refused("otlp+https://host\\path");
}

TEST(kinds_are_listed)
{
	char words[256] = "";

	for (const struct push_kind *const *kind = push_kinds; *kind; kind++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%s",
			 words[0] ? ", " : "", (*kind)->name);
	assert_string_equal(words, PUSH_KINDS);
}

static void check_key(const char *key, const char *expected)
{
	char *plain = push_label_key(key);

	assert_string_equal(plain, expected);
	free(plain);
}

TEST(keys_of_labels)
{
	check_key("zone", "zone");
	check_key("my.zone-1", "my_zone_1");
	check_key("1zone", "_1zone");
	check_key("z\xc3\xb6ne", "z__ne");
	check_key("", "");
}
