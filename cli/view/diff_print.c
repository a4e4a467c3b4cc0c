/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of a comparison, as text, comma-separated values and JSON. */
#include <errno.h>
#include <stdio.h>

#include "csv.h"
#include "diff.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "terminal/terminal.h"

#define NUMBER_COLUMNS 78 /* of put_numbers(), and the spaces behind them */

static const char *event_of(const struct diff *diff, const struct comparison_row *row)
{
	const struct report *report = &diff->side[row->side];

	if (diff->values->stacks)
		return report->sources[report->profile->rows[row->index]->kind].name;
	return report->sources[diff->table[row->side]->rows[row->index].kind].name;
}

static bool is_shown(const struct diff *diff, const struct comparison_row *row)
{
	double moved = comparison_moved(row);

	return (moved < 0 ? -moved : moved) >= diff->least;
}

/* Rows are in the order of their change. */
static u32 shown_rows(const struct diff *diff)
{
	const struct comparison *comparison = diff->comparison;
	u32 count = 0;

	while (count < comparison->row_count && count < diff->limit &&
	       is_shown(diff, &comparison->rows[count]))
		count++;
	return count;
}

/* The keys of a row, without the source. */
static bool has_key(const struct diff *diff, u32 key)
{
	return key != TABLE_EVENT && diff->fields.keys & 1U << key;
}

static bool shows_event(const struct diff *diff)
{
	return diff->many_sources || diff_has_event_key(diff);
}

/* Events and values are whole numbers; quotients have at least four digits. */
static int decimals_of(const struct diff *diff, double amount)
{
	double size = amount < 0 ? -amount : amount;

	if (!diff->values->per)
		return 0;
	return size >= 1000 ? 0 : size >= 1 ? 2 : 4;
}

static void put_cells(const struct diff *diff, const struct comparison_row *row)
{
	const struct table_row *cells = &diff->table[row->side]->rows[row->index];
	char room[DIFF_CELL_ROOM];

	if (shows_event(diff)) {
		fputs("  ", stdout);
		printable_put(event_of(diff, row), stdout);
	}
	for (u32 key = 0; key < TABLE_KEY_COUNT; key++) {
		if (!has_key(diff, key))
			continue;
		fputs("  ", stdout);
		printable_put_cut(diff_cell_text(diff, row->side, cells, key, room),
				  terminal_left(NUMBER_COLUMNS), stdout);
	}
	putchar('\n');
}

static void put_stack(const struct diff *diff, const struct comparison_row *row)
{
	const struct report *report = &diff->side[row->side];
	const struct profile_row *stack = report->profile->rows[row->index];

	fputs("  ", stdout);
	printable_put(stack->comm[0] ? stack->comm : "[unknown]", stdout);
	fputs("  ", stdout);
	printable_put(event_of(diff, row), stdout);
	putchar('\n');
	report_put_stack(report, stack);
}

static u32 kind_of(const struct diff *diff, const struct comparison_row *row)
{
	if (diff->values->stacks)
		return diff->side[row->side].profile->rows[row->index]->kind;
	return diff->table[row->side]->rows[row->index].kind;
}

/* Values have the unit of their source. Numbers below one, and numbers of events, have no unit. */
static void put_amount(const struct diff *diff, const struct comparison_row *row, double amount,
		       const char *sign)
{
	const struct report *report = &diff->side[row->side];
	u32 kind = kind_of(diff, row);
	double size = amount < 0 ? -amount : amount;
	char text[64];

	if (report->weights.by[kind] == WEIGHT_VALUE && (size >= 1 || size == 0))
		snprintf(text, sizeof(text), "%s%s", amount < 0 ? "-" : sign,
			 report_value(report, kind, (u64)(size + 0.5)));
	else
		snprintf(text, sizeof(text), "%s%.*f", amount < 0 ? "-" : sign,
			 decimals_of(diff, amount), size);
	printf("%12s ", text);
}

static void put_share(const struct diff *diff, const struct comparison_row *row,
		      enum comparison_side side)
{
	put_amount(diff, row, row->share[side].amount, "");
	printf("%7.2f%% ", row->share[side].percent);
}

static void put_relative(const struct comparison_row *row)
{
	double before = row->share[BEFORE].amount;

	if (before > 0)
		printf("%+8.2f%%", 100 * comparison_change(row) / before);
	else
		printf("%9s", "new");
}

/* Both amounts with their shares, then the change of the amount relative to the first one, and the
 * change of the share. */
static void put_numbers(const struct diff *diff, const struct comparison_row *row)
{
	double change = comparison_change(row);

	put_share(diff, row, BEFORE);
	put_share(diff, row, AFTER);
	put_amount(diff, row, change, "+");
	put_relative(row);
	printf(" %+7.2f%%", comparison_delta(row));
}

static void put_heading(const struct diff *diff)
{
	printf("\n#%11s %8s %12s %8s %12s %9s %8s", "before", "share", "after", "share", "change",
	       "of before", "of share");
	if (diff->values->stacks) {
		printf("  comm  event, then the stack\n");
		return;
	}
	if (shows_event(diff))
		printf("  event");
	for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
		if (has_key(diff, key))
			printf("  %s", table_key_name(key));
	putchar('\n');
}

static void put_side(const struct diff *diff, enum comparison_side side, const char *name)
{
	const struct report *report = &diff->side[side];

	printf("# %-7s ", name);
	printable_put(diff->choice[side].name, stdout);
	for (u32 i = 0; i < report->source_count; i++) {
		if (!report->weights.counts[i])
			continue;
		printf(", %llu ", (unsigned long long)report->weights.counts[i]);
		printable_put(report->sources[i].name, stdout);
		if (report->weights.by[i] == WEIGHT_VALUE)
			printf(" (%s)", report_value(report, i, report->weights.totals[i]));
	}
	if (diff->values->per) {
		printf("; per ");
		printable_put(diff->values->per, stdout);
		printf(", of %.10g", diff->units[side]);
	}
	putchar('\n');
}

static void print_plain(const struct diff *diff)
{
	u32 shown = shown_rows(diff);

	if (!diff->values->no_pager)
		pager_start();
	put_side(diff, BEFORE, "before:");
	put_side(diff, AFTER, "after:");
	put_heading(diff);
	for (u32 i = 0; i < shown && !ferror(stdout); i++) {
		const struct comparison_row *row = &diff->comparison->rows[i];

		put_numbers(diff, row);
		if (diff->values->stacks)
			put_stack(diff, row);
		else
			put_cells(diff, row);
	}
	if (shown == diff->limit && shown < diff->comparison->row_count)
		printf("# %u of %u shown, --top 0 shows all\n", shown, diff->comparison->row_count);
	if (!shown)
		printf("# no differences\n");
}

static void csv_cells(const struct diff *diff, const struct comparison_row *row)
{
	const struct table_row *cells = &diff->table[row->side]->rows[row->index];
	char room[DIFF_CELL_ROOM];

	for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
		if (has_key(diff, key))
			csv_put(",", diff_cell_text(diff, row->side, cells, key, room), stdout);
}

static int csv_stack(const struct diff *diff, const struct comparison_row *row)
{
	const struct report *report = &diff->side[row->side];
	const struct profile_row *stack = report->profile->rows[row->index];

	csv_put(",", stack->comm, stdout);
	return report_csv_path(report, stack->kernel) ?: report_csv_path(report, stack->user);
}

static void csv_heading(const struct diff *diff)
{
	printf("before,after,delta,count_before,count_after,value_before,value_after,"
	       "amount_before,amount_after,change,change_percent,event");
	if (diff->values->stacks)
		printf(",comm,kernel,user");
	for (u32 key = 0; key < TABLE_KEY_COUNT && !diff->values->stacks; key++)
		if (has_key(diff, key))
			printf(",%s", table_key_name(key));
	putchar('\n');
}

/* A change from zero has no percentage. */
static void csv_amounts(const struct comparison_row *row)
{
	double before = row->share[BEFORE].amount, change = comparison_change(row);

	printf("%.10g,%.10g,%.10g,", before, row->share[AFTER].amount, change);
	if (before > 0)
		printf("%.4f", 100 * change / before);
}

static int print_csv(const struct diff *diff)
{
	u32 shown = shown_rows(diff);
	int err = 0;

	csv_heading(diff);
	for (u32 i = 0; i < shown && !ferror(stdout) && !err; i++) {
		const struct comparison_row *row = &diff->comparison->rows[i];
		const struct compared_share *before = &row->share[BEFORE];
		const struct compared_share *after = &row->share[AFTER];

		printf("%.4f,%.4f,%.4f,%llu,%llu,%llu,%llu,", before->percent, after->percent,
		       comparison_delta(row), (unsigned long long)before->count,
		       (unsigned long long)after->count, (unsigned long long)before->value,
		       (unsigned long long)after->value);
		csv_amounts(row);
		csv_put(",", event_of(diff, row), stdout);
		if (diff->values->stacks)
			err = csv_stack(diff, row);
		else
			csv_cells(diff, row);
		putchar('\n');
	}
	return err;
}

static json_t *share_object(const struct compared_share *share)
{
	return json_pack("{s:f, s:I, s:I, s:f}", "percent", share->percent, "count",
			 (json_int_t)share->count, "value", (json_int_t)share->value, "amount",
			 share->amount);
}

static json_t *path_array(const struct report *report, const struct profile_path *path)
{
	const char *marker = profile_path_marker(path);
	json_t *array = json_path(report->profile, path);

	if (marker)
		json_array_append_new(array, json_text(marker));
	return array;
}

static void set_stack_members(const struct diff *diff, const struct comparison_row *row,
			      json_t *object)
{
	const struct report *report = &diff->side[row->side];
	const struct profile_row *stack = report->profile->rows[row->index];

	json_object_set_new(object, "comm", json_text(stack->comm));
	json_object_set_new(object, "kernel", path_array(report, stack->kernel));
	json_object_set_new(object, "user", path_array(report, stack->user));
}

static void set_key_members(const struct diff *diff, const struct comparison_row *row,
			    json_t *object)
{
	const struct table_row *cells = &diff->table[row->side]->rows[row->index];
	char room[DIFF_CELL_ROOM];

	for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
		if (has_key(diff, key))
			json_object_set_new(
				object, table_key_name(key),
				json_text(diff_cell_text(diff, row->side, cells, key, room)));
}

static json_t *relative_change(const struct comparison_row *row)
{
	double before = row->share[BEFORE].amount;

	return before > 0 ? json_real(100 * comparison_change(row) / before) : json_null();
}

static json_t *row_object(const struct diff *diff, const struct comparison_row *row)
{
	json_t *object =
		json_pack("{s:o, s:o, s:o, s:f, s:f, s:o}", "event", json_text(event_of(diff, row)),
			  "before", share_object(&row->share[BEFORE]), "after",
			  share_object(&row->share[AFTER]), "delta", comparison_delta(row),
			  "change", comparison_change(row), "change_percent", relative_change(row));

	if (object && diff->values->stacks)
		set_stack_members(diff, row, object);
	else if (object)
		set_key_members(diff, row, object);
	return object;
}

static int print_json(const struct diff *diff)
{
	u32 shown = shown_rows(diff);
	json_t *rows = json_array();

	for (u32 i = 0; i < shown; i++)
		if (json_array_append_new(rows, row_object(diff, &diff->comparison->rows[i])))
			return -ENOMEM;
	return json_put(
		json_pack("{s:o, s:o, s:o, s:o, s:o}", "before",
			  json_ledger(trace_reader_ledger(diff->side[BEFORE].reader)), "after",
			  json_ledger(trace_reader_ledger(diff->side[AFTER].reader)), "per",
			  diff->values->per ? json_text(diff->values->per) : json_null(), "units",
			  json_pack("{s:f, s:f}", "before", diff->units[BEFORE], "after",
				    diff->units[AFTER]),
			  diff->values->stacks ? "stacks" : "rows", rows),
		stdout);
}

int diff_print(const struct diff *diff)
{
	if (diff->values->json)
		return print_json(diff);
	if (diff->values->csv)
		return print_csv(diff);
	print_plain(diff);
	return 0;
}
