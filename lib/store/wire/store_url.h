/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The URL of a store: http[s]://HOST[:PORT][,HOST[:PORT]...][/DATABASE]. Each host is a shard: a
 * server that holds all rows of some machines. The default ports are 8123 and 8443, the default
 * database is "stackmap".
 */
#ifndef LIB_STORE_WIRE_STORE_URL_H
#define LIB_STORE_WIRE_STORE_URL_H

#include "scalar.h"
#include "stackmap/error.h"

struct store_url {
	char **shards; /* base URL of each shard, "https://HOST:PORT", in the order of the URL */
	u32 count;
	char *database; /* name of the database: letters, digits and "_" */
};

/* -EINVAL, with the reason in *error. *url is untouched on failure. */
int store_url_parse(const char *text, struct store_url *url, struct stackmap_error *error);
void store_url_clear(struct store_url *url);

/*
 * The number of the shard that holds the rows of a machine. It depends only on the machine's name
 * and the number of shards.
 */
u32 choose_shard_of_host(const struct store_url *url, const char *host);

#endif
