/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CityHash128 of version 1.0.2, which ClickHouse uses as the checksum of its blocks; later versions
 * give other results. Inputs have at least 144 bytes: the algorithm for shorter ones is left out.
 */
#ifndef LIB_STORE_WIRE_CITY_HASH_H
#define LIB_STORE_WIRE_CITY_HASH_H

#include <stddef.h>

#include "scalar.h"

#define CITY_HASH_BYTES_MIN 144

struct city_hash {
	u64 low, high;
};

/* `bytes` is at least CITY_HASH_BYTES_MIN. */
struct city_hash city_hash_128(const u8 *data, size_t bytes);

#endif
