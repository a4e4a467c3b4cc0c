/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drops the days of a store as whole partitions, which is cheap for the server. */
#ifndef LIB_STORE_WIRE_RETENTION_H
#define LIB_STORE_WIRE_RETENTION_H

#include "store/wire/schema.h"

struct dropped_day {
	const char *table;
	u32 day; /* 20261125 */
	u64 rows, bytes;
};

/* Drops all days before `first`, and calls `dropped` for each dropped day. */
int retention_drop(struct clickhouse *server, u32 first,
		   void (*dropped)(void *arg, const struct dropped_day *day), void *arg,
		   struct stackmap_error *error);

#endif
