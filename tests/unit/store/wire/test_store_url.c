/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* URLs of stores, refused URLs, and the shard of a host. */
#include "store/wire/store_url.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "unit_test.h"

TEST(one_server)
{
	struct store_url url;

	assert_int_equal(store_url_parse("http://db", &url, NULL), 0);
	assert_int_equal(url.count, 1);
	assert_string_equal(url.shards[0], "http://db:8123");
	assert_string_equal(url.database, "stackmap");
	store_url_clear(&url);
	assert_int_equal(store_url_parse("https://db/", &url, NULL), 0);
	assert_string_equal(url.shards[0], "https://db:8443");
	assert_string_equal(url.database, "stackmap");
	store_url_clear(&url);
}

TEST(shards_keep_their_order)
{
	struct store_url url;

	assert_int_equal(
		store_url_parse("https://db-1.here:1,[fe80::1],10.0.0.3:65535/prof_2", &url, NULL),
		0);
	assert_int_equal(url.count, 3);
	assert_string_equal(url.shards[0], "https://db-1.here:1");
	assert_string_equal(url.shards[1], "https://[fe80::1]:8443");
	assert_string_equal(url.shards[2], "https://10.0.0.3:65535");
	assert_string_equal(url.database, "prof_2");
	store_url_clear(&url);
}

TEST(other_urls_are_refused)
{
	static const char *const refused[] = {
		"",
		"db",
		"ftp://db",
		"http://",
		"http://,db",
		"http://db,",
		"http://db:0",
		"http://db:65536",
		"http://db:x",
		"http://db/a/b",
		"http://db/a-b",
		"http://db/a;DROP",
		"http://db x",
		"http://[fe80::1",
		"http://db\n",
		"http://user:hunter2@db",
		"http://db?user=u",
		"http://db/x#y",
		"http://db:99999999999",
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct store_url url = {.count = 77};
		struct stackmap_error error = {0};

		assert_int_equal(store_url_parse(refused[i], &url, &error), -EINVAL);
		assert_int_equal(url.count, 77);
		assert_null(strstr(error.message, "hunter2"));
		assert_true(error.message[0]);
	}
}

/* Names that differ in one digit are spread over the shards, and each stays on its shard. */
TEST(hosts_are_spread)
{
	struct store_url url;
	u32 hosts[4] = {0};

	assert_int_equal(store_url_parse("http://a,b,c,d", &url, NULL), 0);
	for (u32 i = 0; i < 1000; i++) {
		char host[16];

		snprintf(host, sizeof(host), "web%u", i);
		hosts[choose_shard_of_host(&url, host)]++;
	}
	for (u32 i = 0; i < 4; i++)
		assert_in_range(hosts[i], 200, 300);
	assert_int_equal(choose_shard_of_host(&url, "web1"), choose_shard_of_host(&url, "web1"));
	store_url_clear(&url);
}
