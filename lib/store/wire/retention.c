/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The server lists its days as numbers, so no text of its answer is used in SQL. */
#include "store/wire/retention.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "store/wire/row_binary.h"

#define ANSWER_BYTES_MAX (4UL << 20)
#define SQL_BYTES_MAX 512

#define DAYS                                                                                       \
	"SELECT toUInt32OrZero(partition) AS day, toUInt64(sum(rows)), toUInt64(sum(bytes)) FROM " \
	"system.parts WHERE active AND database = currentDatabase() AND table = '%s' GROUP BY "    \
	"day HAVING day > 0 AND day < %u ORDER BY day FORMAT RowBinary"

static int drop_day(struct clickhouse *server, const struct dropped_day *day,
		    struct stackmap_error *error)
{
	char sql[SQL_BYTES_MAX];

	snprintf(sql, sizeof(sql), "ALTER TABLE %s.%s DROP PARTITION %u",
		 clickhouse_database(server), day->table, day->day);
	return clickhouse_execute(server, sql, "", error);
}

static int drop_days(struct clickhouse *server, const char *table, u32 first,
		     const struct byte_buffer *days,
		     void (*dropped)(void *arg, const struct dropped_day *day), void *arg,
		     struct stackmap_error *error)
{
	struct byte_cursor rows = {days->data, days->data + days->used, false};
	int err = 0;

	while (!err && byte_cursor_left(&rows)) {
		struct dropped_day day = {.table = table, .day = row_get_u32(&rows)};

		day.rows = row_get_u64(&rows);
		day.bytes = row_get_u64(&rows);
		if (rows.bad || day.day >= first)
			return error_set(error, EBADMSG, "%s: the answer makes no sense",
					 clickhouse_name(server));
		err = drop_day(server, &day, error);
		if (!err)
			dropped(arg, &day);
	}
	return err;
}

int retention_drop(struct clickhouse *server, u32 first,
		   void (*dropped)(void *arg, const struct dropped_day *day), void *arg,
		   struct stackmap_error *error)
{
	int err = 0;

	for (u32 i = 0; !err && i < STORE_TABLE_COUNT; i++) {
		struct byte_buffer days;
		char sql[SQL_BYTES_MAX];

		snprintf(sql, sizeof(sql), DAYS, store_table_name(i), first);
		err = clickhouse_query(server, sql, NULL, 0, ANSWER_BYTES_MAX, &days, NULL, error);
		if (!err)
			err = drop_days(server, store_table_name(i), first, &days, dropped, arg,
					error);
		byte_buffer_free(&days);
	}
	return err;
}
