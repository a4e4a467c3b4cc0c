/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap hosts`: lists the hosts of a store, by service and version, that have events of a
 * stack, events of a function, or any of the chosen events. Percentages are of all shown events of
 * one kind on all hosts together.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "hex.h"
#include "store/read/counts.h"
#include "terminal/message.h"
#include "terminal/terminal.h"
#include "view/from.h"

#define HASH_BYTES 16
#define WIDTH_MAX 40

struct hosts_values {
	struct from_values from;
	const char *stack, *function;
	struct string_list comms, cgroups, events;
	bool json;
};

/* The sum of the counts of an event name over all hosts. */
struct event_sum {
	const char *event;
	u64 sum;
};

/*
 * The percentage of a row. There are few kinds of events, so the sum of the previous row's event is
 * kept.
 */
static double percent_of_event_sum(const struct store_host_counts *counts,
				   const struct store_host_count *count, struct event_sum *last)
{
	if (!last->event || strcmp(last->event, count->event) != 0) {
		*last = (struct event_sum){count->event, 0};
		for (u32 i = 0; i < counts->count; i++)
			if (!strcmp(counts->counts[i].event, count->event))
				last->sum += counts->counts[i].count;
	}
	return last->sum ? 100.0 * (double)count->count / (double)last->sum : 0;
}

enum column { SHARE, COUNT, HOST, SERVICE, VERSION, EVENT, COLUMNS };

static const struct column_text {
	const char *title;
	size_t offset; /* offset of the column's text in struct store_host_count */
} texts[COLUMNS] = {
	[HOST] = {"HOST", offsetof(struct store_host_count, host)},
	[SERVICE] = {"SERVICE", offsetof(struct store_host_count, service)},
	[VERSION] = {"VERSION", offsetof(struct store_host_count, version)},
	[EVENT] = {"EVENT", offsetof(struct store_host_count, event)},
};

static const char *text_of_host_column(const struct store_host_count *count, enum column column)
{
	return *(char *const *)((const char *)count + texts[column].offset);
}

static void print_column(const char *text, enum column column, u32 width)
{
	u32 length = (u32)printable_count(text);

	printf("  ");
	printable_put_cut(text, terminal_width() ? width : 0, stdout);
	if (column + 1 < COLUMNS)
		printf("%*s", length < width ? (int)(width - length) : 0, "");
}

static void print_text(const struct store_host_counts *counts)
{
	u32 widths[COLUMNS] = {[SHARE] = 7, [COUNT] = 10};
	struct event_sum last = {};

	for (enum column column = HOST; column < COLUMNS; column++) {
		size_t width = strlen(texts[column].title);

		for (u32 i = 0; i < counts->count; i++) {
			size_t length =
				printable_count(text_of_host_column(&counts->counts[i], column));

			if (length > width)
				width = length < WIDTH_MAX || terminal_width() ? length : WIDTH_MAX;
		}
		widths[column] = (u32)width;
	}
	shrink_columns_to_terminal(widths, COLUMNS,
				   1U << HOST | 1U << SERVICE | 1U << VERSION | 1U << EVENT);
	if (counts->count)
		printf("  SHARE       COUNT");
	for (enum column column = HOST; column < COLUMNS && counts->count; column++)
		print_column(texts[column].title, column, widths[column]);
	if (counts->count)
		putchar('\n');
	for (u32 i = 0; i < counts->count && !ferror(stdout); i++) {
		const struct store_host_count *count = &counts->counts[i];

		printf("%6.2f%%  %10llu", percent_of_event_sum(counts, count, &last),
		       (unsigned long long)count->count);
		for (enum column column = HOST; column < COLUMNS; column++)
			print_column(text_of_host_column(count, column), column, widths[column]);
		putchar('\n');
	}
}

static int print_json(const struct store_host_counts *counts)
{
	json_t *list = json_array();
	struct event_sum last = {};

	for (u32 i = 0; list && i < counts->count; i++) {
		const struct store_host_count *count = &counts->counts[i];
		json_t *object = json_pack(
			"{s:o, s:o, s:o, s:o, s:I, s:I, s:f}", "host", json_text(count->host),
			"service", json_text(count->service), "version", json_text(count->version),
			"event", json_text(count->event), "count", (json_int_t)count->count,
			"value", (json_int_t)count->value, "percent",
			percent_of_event_sum(counts, count, &last));

		if (json_array_append_new(list, object)) {
			json_decref(list);
			list = NULL;
		}
	}
	return json_put(list, stdout);
}

static int print_counts(const struct hosts_values *values, const struct store_host_counts *counts)
{
	if (values->json) {
		if (!print_json(counts))
			return EXIT_DONE;
		message("hosts: %s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	print_text(counts);
	if (!counts->count) {
		fflush(stdout);
		message("%s: no events of this choice in this time", values->from.url);
	}
	return EXIT_DONE;
}

static int parse_options_of_hosts(const struct hosts_values *values, struct from_choice *choice,
				  u8 stack[HASH_BYTES])
{
	struct string_list *wanted = choice->question.wanted;

	if (!values->from.url) {
		message("hosts: needs a store, name one with --from");
		return -EINVAL;
	}
	if (values->stack && values->function) {
		message("--stack and --function: choose one");
		return -EINVAL;
	}
	if (parse_store_options(&values->from, choice))
		return -EINVAL;
	wanted[STORE_FIELD_COMM] = values->comms;
	wanted[STORE_FIELD_CGROUP] = values->cgroups;
	wanted[STORE_FIELD_EVENT] = values->events;
	if (!values->stack || (strlen(values->stack) == 2 * HASH_BYTES &&
			       hex_bytes(values->stack, stack, HASH_BYTES) == HASH_BYTES))
		return 0;
	message("--stack %s: must be 32 hexadecimal digits, as 'script --hashes' shows",
		values->stack);
	return -EINVAL;
}

static int hosts_run(const void *arg, int count, char **operands)
{
	const struct hosts_values *values = arg;
	struct from_choice choice = {};
	u8 stack[HASH_BYTES];
	struct store_host_counts counts;
	struct stackmap_error error;
	struct shards *shards;
	int status = EXIT_FAILED, err = SHARD_WENT;

	(void)count;
	(void)operands;
	if (parse_options_of_hosts(values, &choice, stack))
		return EXIT_USAGE;
	shards = connect_to_store(&choice);
	if (!shards) {
		from_choice_clear(&choice);
		return EXIT_FAILED;
	}
	/* The query is repeated whenever one more server does not answer. */
	for (u32 i = 0; i < shards_count(shards) && err == SHARD_WENT; i++)
		err = store_host_counts_read(shards, &choice.question, values->stack ? stack : NULL,
					     values->function, &counts, &error);
	if (err) {
		print_error_message(&error);
	} else {
		status = print_counts(values, &counts);
		store_host_counts_clear(&counts);
		report_missing_store_servers(&choice, shards);
		if (choice.is_partial)
			status = EXIT_FAILED;
	}
	shards_close(&shards);
	from_choice_clear(&choice);
	return status;
}

/* clang-format off */
#define ROW(field, ...) .target = offsetof(struct hosts_values, field), __VA_ARGS__
static const struct option_row rows[] = {
	{.name = "stack", .type = OPTION_STRING, .argument = "HASH", ROW(stack, .group = "View"),
	 .help = "only events with this stack, as 'script --hashes' names it"},
	{.name = "function", .type = OPTION_STRING, .argument = "SYMBOL",
	 ROW(function, .group = "View"), .help = "only events with this function (a glob) in their stack"},
	{.name = "json", .letter = 'j', .type = OPTION_FLAG, ROW(json, .group = "Output"),
	 .help = "a JSON list"},
	{.name = "comm", .type = OPTION_STRINGS, .argument = "NAME", ROW(comms, .group = "Events"),
	 .help = "only tasks of this name (a glob); may be repeated"},
	{.name = "cgroup", .type = OPTION_STRINGS, .argument = "DIR",
	 ROW(cgroups, .group = "Events"), .help = "only tasks in or below this cgroup; may be repeated"},
	{.name = "event", .letter = 'e', .type = OPTION_STRINGS, .argument = "EVENT",
	 ROW(events, .group = "Events"), .help = "only this event (a glob); may be repeated"},
	FROM_ROWS(struct hosts_values, from),
	{0},
};
/* clang-format on */

const struct command hosts_command = {
	.name = "hosts",
	.operands = "",
	.operands_max = 0,
	.summary = "show which hosts of a store have some events",
	.rows = rows,
	.values_bytes = sizeof(struct hosts_values),
	.run = hosts_run,
};
