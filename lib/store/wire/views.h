/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What dashboards and people ask a store for: names instead of hashes, and each batch of the ledger
 * once. The commands of stackmap do not need them.
 */
#ifndef LIB_STORE_WIRE_VIEWS_H
#define LIB_STORE_WIRE_VIEWS_H

#include "store/wire/clickhouse.h"

struct store_view {
	const char *name;
	const char *query; /* tables without a database */
};

/* A NULL name ends them; those that a view asks stand before it. */
extern const struct store_view store_views[];

#endif
