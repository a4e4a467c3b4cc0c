/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a ClickHouse server complains of. It begins with "Code: N", whatever the status of HTTP is:
 * 18.16 answers 500 to a wrong column, and some versions 200 to what fails late.
 */
#ifndef LIB_STORE_WIRE_SERVER_ERROR_H
#define LIB_STORE_WIRE_SERVER_ERROR_H

#include <stdbool.h>

#include "store/wire/clickhouse.h"

#define SERVER_ERROR_TEXT_MAX 400

struct server_error {
	enum clickhouse_outcome outcome;
	u32 code;			  /* 0: it named none */
	char text[SERVER_ERROR_TEXT_MAX]; /* one printable line, with what to do about it */
};

bool server_error_is(u32 status, const void *body, size_t bytes);
void server_error_read(u32 status, const void *body, size_t bytes, struct server_error *out);

#endif
