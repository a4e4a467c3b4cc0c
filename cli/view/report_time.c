/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the time of each thread went (report --thread-time): the time in each state of the
 * scheduler, and its share of the thread's life.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"
#include "terminal/message.h"

static const char *const state_names[] = {
#define X(id, name, meaning) name,
	TIME_STATE_LIST(X)
#undef X
};

static const struct {
	const char *word, *title;
} keys[] = {
	[TIME_BY_THREAD] = {"tid", "   tid  comm"},
	[TIME_BY_PROCESS] = {"pid", "   pid  comm"},
	[TIME_BY_COMM] = {"comm", "comm"},
	[TIME_BY_CGROUP] = {"cgroup", "cgroup"},
};

int parse_key_of_time_table(const char *text, enum time_key *key)
{
	*key = TIME_BY_THREAD;
	for (size_t i = 0; text && i < sizeof(keys) / sizeof(*keys); i++) {
		if (strcmp(text, keys[i].word))
			continue;
		*key = (enum time_key)i;
		return 0;
	}
	if (!text)
		return 0;
	message("--thread-time --sort %s: its rows are by tid, pid, comm or cgroup", text);
	return -EINVAL;
}

void report_print_time_ledger(const struct time_table *table, const char *prefix)
{
	const struct time_row *all = &table->all;

	printf("%s%" PRIu64 " threads, %s of life", prefix, all->threads,
	       format_duration_ns(all->life));
	printf(" = %s running", format_duration_ns(all->spent[TIME_RUNNING]));
	printf(" + %s runnable", format_duration_ns(all->spent[TIME_RUNNABLE]));
	printf(" + %s blocked, difference %" PRId64 " ns\n",
	       format_duration_ns(time_row_blocked(all)), table->difference);
}

static void print_time_and_share(u64 part, u64 life)
{
	printf("  %8s %5.1f%%", format_duration_ns(part), percent_or_zero(part, life));
}

/*
 * Prints the columns of a row. Columns for rare states are shown only if a thread was ever in such
 * a state.
 */
static void print_times_of_states(const struct time_table *table, const struct time_row *row)
{
	printf("%9s", format_duration_ns(row->life));
	print_time_and_share(row->spent[TIME_RUNNING], row->life);
	print_time_and_share(row->spent[TIME_RUNNABLE], row->life);
	print_time_and_share(time_row_blocked(row) - row->idle, row->life);
	if (table->all.idle)
		print_time_and_share(row->idle, row->life);
	if (table->all.spent[TIME_UNINTERRUPTIBLE])
		printf("  %15s", format_duration_ns(row->spent[TIME_UNINTERRUPTIBLE]));
	if (table->all.spent[TIME_STOPPED])
		printf("  %8s", format_duration_ns(row->spent[TIME_STOPPED]));
	if (table->all.stolen)
		printf("  %8s", format_duration_ns(row->stolen));
	printf("  ");
}

static bool is_row_shown(const struct report *report, const struct time_table *table,
			 const struct time_row *row)
{
	return percent_or_zero(row->life, table->all.life) >= report->least;
}

int report_time_plain(const struct report *report, const struct time_table *table,
		      enum time_key key)
{
	u64 shown = 0;

	putchar('\n');
	printf("#    life          running         runnable          blocked");
	if (table->all.idle)
		printf("             idle");
	if (table->all.spent[TIME_UNINTERRUPTIBLE])
		printf("  uninterruptible");
	if (table->all.spent[TIME_STOPPED])
		printf("   stopped");
	if (table->all.stolen)
		printf("    stolen");
	printf("  %s\n", keys[key].title);
	for (u32 i = 0; i < table->count && shown < report->limit && !ferror(stdout); i++) {
		if (!is_row_shown(report, table, &table->rows[i]))
			continue;
		print_times_of_states(table, &table->rows[i]);
		if (key == TIME_BY_THREAD)
			printf("%6u  ", table->rows[i].tid);
		if (key == TIME_BY_PROCESS)
			printf("%6u  ", table->rows[i].tgid);
		printable_put(key == TIME_BY_CGROUP ? table->rows[i].cgroup : table->rows[i].comm,
			      stdout);
		putchar('\n');
		shown++;
	}
	print_times_of_states(table, &table->all);
	printf("%sall %" PRIu64 " threads\n",
	       key == TIME_BY_THREAD || key == TIME_BY_PROCESS ? "        " : "",
	       table->all.threads);
	if (shown == report->limit && shown < table->count)
		printf("# %" PRIu64 " of %u rows shown, --top 0 shows all\n", shown, table->count);
	return 0;
}

int report_time_csv(const struct report *report, const struct time_table *table, enum time_key key)
{
	u64 shown = 0;

	printf("%s,threads,life", key == TIME_BY_THREAD	   ? "tid,pid,comm"
				  : key == TIME_BY_PROCESS ? "pid,comm"
							   : keys[key].word);
	for (u32 state = 0; state < TIME_STATES; state++)
		printf(",%s", state_names[state]);
	printf(",stolen,idle\n");
	for (u32 i = 0; i < table->count && shown < report->limit && !ferror(stdout); i++) {
		const struct time_row *row = &table->rows[i];

		if (!is_row_shown(report, table, row))
			continue;
		shown++;
		if (key == TIME_BY_THREAD)
			printf("%u,%u", row->tid, row->tgid);
		if (key == TIME_BY_PROCESS)
			printf("%u", row->tgid);
		csv_put(key == TIME_BY_THREAD || key == TIME_BY_PROCESS ? "," : "",
			key == TIME_BY_CGROUP ? row->cgroup : row->comm, stdout);
		printf(",%" PRIu64 ",%" PRIu64, row->threads, row->life);
		for (u32 state = 0; state < TIME_STATES; state++)
			printf(",%" PRIu64, row->spent[state]);
		printf(",%" PRIu64 ",%" PRIu64 "\n", row->stolen, row->idle);
	}
	return 0;
}

static json_t *make_json_of_time_sums(const struct time_row *row)
{
	json_t *object = json_pack("{s:I, s:I, s:I, s:I}", "threads", (json_int_t)row->threads,
				   "life", (json_int_t)row->life, "stolen", (json_int_t)row->stolen,
				   "idle", (json_int_t)row->idle);
	int failed = !object;

	for (u32 state = 0; state < TIME_STATES && !failed; state++)
		failed = json_object_set_new(object, state_names[state],
					     json_integer((json_int_t)row->spent[state]));
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *row_json(const struct time_row *row, enum time_key key)
{
	json_t *object = make_json_of_time_sums(row);
	int failed = !object;

	if (!failed && key == TIME_BY_THREAD)
		failed = json_object_set_new(object, "tid", json_integer(row->tid));
	if (!failed && (key == TIME_BY_THREAD || key == TIME_BY_PROCESS))
		failed = json_object_set_new(object, "pid", json_integer(row->tgid));
	if (!failed && key == TIME_BY_CGROUP)
		failed = json_object_set_new(object, "cgroup", json_text(row->cgroup));
	else if (!failed)
		failed = json_object_set_new(object, "comm", json_text(row->comm));
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

int report_time_json(const struct report *report, const struct time_table *table, enum time_key key)
{
	json_t *rows = json_array(), *all = make_json_of_time_sums(&table->all);
	int failed =
		!all || json_object_set_new(all, "difference", json_integer(table->difference));

	for (u32 i = 0; i < table->count && !failed && json_array_size(rows) < report->limit; i++)
		if (is_row_shown(report, table, &table->rows[i]))
			failed = json_array_append_new(rows, row_json(&table->rows[i], key));
	if (failed) {
		json_decref(rows);
		json_decref(all);
		return -ENOMEM;
	}
	return report_put_json(report, json_pack("{s:o, s:o}", "time", all, "rows", rows));
}
