/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for locks (report --locks): each lock, and below it both ends of its waits. */
#include <errno.h>
#include <stdio.h>

#include "csv.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"

#define PAIRS_SHOWN 3U /* of each lock, unless all locks are shown */

static u32 shown_rows(const struct report *report)
{
	u32 count = 0;

	while (count < report->locks->count && count < report->limit &&
	       report_share(report->locks->rows[count]->total, report->locks->total) >=
		       report->least)
		count++;
	return count;
}

static void print_lock(const struct report *report, const struct lock_row *row)
{
	u32 shown = row->pair_count;

	if (report->limit < UINT64_MAX && shown > PAIRS_SHOWN)
		shown = PAIRS_SHOWN;
	printf("\n%s%6.2f%%  %llu  %s ", report->color ? "\033[1m" : "",
	       report_share(row->total, report->locks->total), (unsigned long long)row->count,
	       row->type);
	if (row->address)
		printf("%#llx", (unsigned long long)row->address);
	else
		printf("[address not known]");
	printf(" of ");
	printable_put(row->tgid ? row->comm : "the kernel", stdout);
	if (row->tgid)
		printf(" %u", row->tgid);
	printf("  %s", report_time_text(row->total));
	if (row->count > 1)
		printf(", at most %s", report_time_text(row->most));
	printf("%s\n", report->color ? "\033[0m" : "");
	for (u32 i = 0; i < shown && !ferror(stdout); i++)
		report_put_pair(report, row->pairs[i], row->total);
	if (shown < row->pair_count)
		printf("\n  and %u more pairs, --top 0 shows all\n", row->pair_count - shown);
}

int report_locks_plain(const struct report *report)
{
	const struct lock_table *table = report->locks;
	u32 shown = shown_rows(report);

	printf("# %-9s %llu waits for %u locks, together %s\n",
	       "locks:", (unsigned long long)table->waits, table->count,
	       report_time_text(table->total));
	for (u32 i = 0; i < shown && !ferror(stdout); i++)
		print_lock(report, table->rows[i]);
	if (shown == report->limit && shown < table->count)
		printf("\n# %u of %u locks shown, --top 0 shows all\n", shown, table->count);
	return 0;
}

int report_locks_csv(const struct report *report)
{
	u32 shown = shown_rows(report);

	printf("share,count,total,most,type,address,pid,comm\n");
	for (u32 i = 0; i < shown && !ferror(stdout); i++) {
		const struct lock_row *row = report->locks->rows[i];

		printf("%.4f,%llu,%llu,%llu,%s,%#llx,",
		       report_share(row->total, report->locks->total),
		       (unsigned long long)row->count, (unsigned long long)row->total,
		       (unsigned long long)row->most, row->type, (unsigned long long)row->address);
		if (row->tgid)
			printf("%u", row->tgid);
		csv_put(",", row->comm, stdout);
		putchar('\n');
	}
	return 0;
}

/* Numbers of 64 bits are no exact numbers in many readers of JSON, so an address is a string. */
static json_t *lock_object(const struct report *report, const struct lock_row *row)
{
	json_t *pairs = json_array();
	char address[32];
	int failed = 0;

	for (u32 i = 0; i < row->pair_count; i++)
		failed |= json_array_append_new(pairs, report_pair_json(report, row->pairs[i]));
	snprintf(address, sizeof(address), "%#llx", (unsigned long long)row->address);
	if (failed) {
		json_decref(pairs);
		return NULL;
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "type", row->type, "address",
			 row->address ? json_string(address) : json_null(), "pid",
			 row->tgid ? json_integer(row->tgid) : json_null(), "comm",
			 row->tgid ? json_text(row->comm) : json_null(), "count",
			 (json_int_t)row->count, "total", (json_int_t)row->total, "most",
			 (json_int_t)row->most, "pairs", pairs);
}

int report_locks_json(const struct report *report)
{
	u32 shown = shown_rows(report);
	json_t *rows = json_array();
	int failed = 0;

	for (u32 i = 0; i < shown; i++)
		failed |= json_array_append_new(rows, lock_object(report, report->locks->rows[i]));
	if (failed) {
		json_decref(rows);
		return -ENOMEM;
	}
	return report_put_json(report, json_pack("{s:{s:I, s:I}, s:o}", "waits", "count",
						 (json_int_t)report->locks->waits, "total",
						 (json_int_t)report->locks->total, "locks", rows));
}
