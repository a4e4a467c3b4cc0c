/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of a comparison, as text, comma-separated values and JSON. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "csv.h"
#include "diff.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "terminal/terminal.h"

/* number of columns that the numbers of a row, and the spaces after the numbers, take */
#define NUMBER_COLUMNS 87

/* Numbers of rows: printed, hidden because their change is within the noise, and left out by --top.
 */
struct shown {
	u32 printed, within_noise, left_out;
};

static const struct report *report_of_row(const struct diff *diff, const struct comparison_row *row)
{
	return &diff_part_of(diff, row)->report;
}

static const struct table_row *cells_of_row(const struct diff *diff,
					    const struct comparison_row *row)
{
	return &diff_part_of(diff, row)->table->rows[diff_place_of(diff, row)->row];
}

static const struct profile_row *stack_of_row(const struct diff *diff,
					      const struct comparison_row *row)
{
	return report_of_row(diff, row)->profile->rows[diff_place_of(diff, row)->row];
}

static const char *cell_text(const struct diff *diff, const struct comparison_row *row, u32 key,
			     char room[DIFF_CELL_ROOM])
{
	return diff_cell_text(diff_part_of(diff, row), cells_of_row(diff, row), key, room);
}

static const char *event_name_of_diff_row(const struct diff *diff, const struct comparison_row *row)
{
	return diff->sources[row->source].name;
}

/* True if the row is printed, and counts the row in *shown. The caller asks for the rows in the
 * order of their change. */
static bool count_row_and_check_if_printed(const struct diff *diff,
					   const struct comparison_row *row, struct shown *shown)
{
	bool takes_noise = diff->values->noise || diff->values->json || diff->values->csv;

	if (fabs(comparison_rank_change(row)) < diff->least)
		return false;
	if (!takes_noise && !comparison_is_beyond_noise(row))
		shown->within_noise++;
	else if (shown->printed == diff->limit)
		shown->left_out++;
	else
		return shown->printed++, true;
	return false;
}

/* The noise: half the width of the interval around the change of the share (percentage points) or,
 * with --per, of the amount. NAN: unknown. */
static double noise_of_diff_row(const struct diff *diff, const struct comparison_row *row)
{
	if (!diff->values->per)
		return row->noise;
	return row->noise / 100 * compared_amount_of_all(diff->units, row->source);
}

/* True if the rows have a column for this key. The event has a column of its own: shows_event(). */
static bool shows_key_column(const struct diff *diff, u32 key)
{
	return key != TABLE_EVENT && diff->fields.keys & 1U << key;
}

static bool shows_event(const struct diff *diff)
{
	return diff->many_sources || diff_has_event_key(diff);
}

/* Events and values are whole numbers; quotients have at least four digits. */
static int choose_decimals(const struct diff *diff, double amount)
{
	double size = amount < 0 ? -amount : amount;

	if (!diff->values->per)
		return 0;
	return size >= 1000 ? 0 : size >= 1 ? 2 : 4;
}

static void print_cells_of_row(const struct diff *diff, const struct comparison_row *row)
{
	char room[DIFF_CELL_ROOM];

	if (shows_event(diff)) {
		fputs("  ", stdout);
		printable_put(event_name_of_diff_row(diff, row), stdout);
	}
	for (u32 key = 0; key < TABLE_KEY_COUNT; key++) {
		if (!shows_key_column(diff, key))
			continue;
		fputs("  ", stdout);
		printable_put_cut(cell_text(diff, row, key, room),
				  columns_left_in_terminal_line(NUMBER_COLUMNS), stdout);
	}
	putchar('\n');
}

static void print_comm_event_and_stack(const struct diff *diff, const struct comparison_row *row)
{
	const struct profile_row *stack = stack_of_row(diff, row);

	fputs("  ", stdout);
	printable_put(stack->comm[0] ? stack->comm : "[unknown]", stdout);
	fputs("  ", stdout);
	printable_put(event_name_of_diff_row(diff, row), stdout);
	putchar('\n');
	print_kernel_and_user_path(report_of_row(diff, row), stack);
}

/* Values have the unit of their source. Numbers below one, and numbers of events, have no unit. */
static void print_amount_with_unit(const struct diff *diff, const struct comparison_row *row,
				   double amount, const char *sign)
{
	const struct report *report = report_of_row(diff, row);
	u32 kind = diff->values->stacks ? stack_of_row(diff, row)->kind
					: cells_of_row(diff, row)->kind;
	double size = amount < 0 ? -amount : amount;
	char text[64];

	if (report->weights.by[kind] == WEIGHT_VALUE && (size >= 1 || size == 0))
		snprintf(text, sizeof(text), "%s%s", amount < 0 ? "-" : sign,
			 format_value_of_source(report, kind, (u64)(size + 0.5)));
	else
		snprintf(text, sizeof(text), "%s%.*f", amount < 0 ? "-" : sign,
			 choose_decimals(diff, amount), size);
	printf("%12s ", text);
}

static void print_amount_and_percent(const struct diff *diff, const struct comparison_row *row,
				     enum comparison_side side)
{
	print_amount_with_unit(diff, row, row->share[side].amount, "");
	printf("%7.2f%% ", row->share[side].percent);
}

static void print_heading_of_columns(const struct diff *diff)
{
	printf("\n#%11s %8s %12s %8s %12s %9s %8s %8s", "before", "share", "after", "share",
	       "change", "of before", "of share", "noise");
	if (diff->values->stacks) {
		printf("  comm  event, then the stack\n");
		return;
	}
	if (shows_event(diff))
		printf("  event");
	for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
		if (shows_key_column(diff, key))
			printf("  %s", report_key_title(&diff->fields, key));
	putchar('\n');
}

/* The total of a source, as a recording that has the source writes its values. */
static const char *format_total(const struct diff *diff, u32 source, u64 value)
{
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++)
		for (u32 i = 0; i < diff->side[side].part_count; i++) {
			const struct report *report = &diff->side[side].parts[i]->report;
			u32 kind = trace_reader_source_named(report->reader,
							     diff->sources[source].name);

			if (kind != TRACE_NO_SOURCE)
				return format_value_of_source(report, kind, value);
		}
	return "";
}

static void print_side_totals(const struct diff *diff, enum comparison_side side, const char *name)
{
	const struct diff_side *recordings = &diff->side[side];

	printf("# %-7s ", name);
	printable_put(recordings->name, stdout);
	if (recordings->part_count > 1)
		printf(", %u recordings", recordings->part_count);
	for (u32 i = 0; i < diff->source_count; i++) {
		const struct diff_source *source = &diff->sources[i];

		if (!source->counts[side])
			continue;
		printf(", %llu ", (unsigned long long)source->counts[side]);
		printable_put(source->name, stdout);
		if (source->by == WEIGHT_VALUE)
			printf(" (%s)", format_total(diff, i, source->totals[side]));
	}
	if (recordings->lost)
		printf(", %llu of %llu lost: amounts are scaled to all",
		       (unsigned long long)recordings->lost,
		       (unsigned long long)recordings->produced);
	if (diff->values->per) {
		printf("; per ");
		printable_put(diff->values->per, stdout);
		printf(", of %.10g", sum_divisors_of_compared_units(&diff->units[side]));
	}
	putchar('\n');
}

static void print_end_of_table(const struct diff *diff, const struct shown *shown)
{
	const struct compared_units *units = diff->units;

	if (shown->left_out)
		printf("# %u of %u shown, --top 0 shows all\n", shown->printed,
		       shown->printed + shown->left_out);
	if (shown->within_noise)
		printf("# %s%u changes within the noise, --noise shows them\n",
		       shown->printed ? "" : "no change beyond the noise; ", shown->within_noise);
	else if (!shown->printed)
		printf("# no differences\n");
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		if (units[side].count >= 2)
			continue;
		printf("# the noise is unknown: all events of ");
		printable_put(diff->side[side].name, stdout);
		printf(" have the same time. Name several recordings a side, with commas\n");
		return;
	}
	if (units[BEFORE].are_slices || units[AFTER].are_slices)
		printf("# the noise is that within a run; several recordings a side (commas or a "
		       "folder) show what differs between runs\n");
}

static void print_diff_as_text(const struct diff *diff)
{
	struct shown shown = {};

	if (!diff->values->no_pager)
		pipe_output_to_pager();
	print_side_totals(diff, BEFORE, "before:");
	print_side_totals(diff, AFTER, "after:");
	print_heading_of_columns(diff);
	for (u32 i = 0; i < diff->comparison->row_count && !ferror(stdout); i++) {
		const struct comparison_row *row = &diff->comparison->rows[i];
		double change;
		double before;
		double noise;

		if (!count_row_and_check_if_printed(diff, row, &shown))
			continue;
		/*
		 * The columns are both amounts with their shares, the change of the amount
		 * relative to the first one, the change of the share, and the noise: of the change
		 * of the share, or with --per of the change of the amount.
		 */
		change = comparison_amount_change(row);
		print_amount_and_percent(diff, row, BEFORE);
		print_amount_and_percent(diff, row, AFTER);
		print_amount_with_unit(diff, row, change, "+");
		before = row->share[BEFORE].amount;
		if (before > 0)
			printf("%+8.2f%%", 100 * comparison_amount_change(row) / before);
		else
			printf("%9s", "new");
		printf(" %+7.2f%%", comparison_share_change(row));
		/* The noise of the share in percentage points; with --per that of the amount in
		 * percent of the amount before. */
		noise = noise_of_diff_row(diff, row);
		if (diff->values->per)
			noise *= 100 / row->share[BEFORE].amount;
		if (isfinite(noise))
			printf(" %7.2f%%", noise);
		else
			printf(" %8s", "-");
		if (diff->values->stacks)
			print_comm_event_and_stack(diff, row);
		else
			print_cells_of_row(diff, row);
	}
	print_end_of_table(diff, &shown);
}

/* A change from zero has no percentage, and an unknown noise no number. */
static void print_amounts_as_csv(const struct diff *diff, const struct comparison_row *row)
{
	double before = row->share[BEFORE].amount, change = comparison_amount_change(row);
	double noise = noise_of_diff_row(diff, row);

	printf("%.10g,%.10g,%.10g,", before, row->share[AFTER].amount, change);
	if (before > 0)
		printf("%.4f", 100 * change / before);
	putchar(',');
	if (isfinite(noise))
		printf("%.4g", noise);
}

static int print_csv(const struct diff *diff)
{
	struct shown shown = {};
	int err = 0;

	printf("before,after,delta,count_before,count_after,value_before,value_after,"
	       "amount_before,amount_after,change,change_percent,noise,event");
	if (diff->values->stacks)
		printf(",comm,kernel,user");
	for (u32 key = 0; key < TABLE_KEY_COUNT && !diff->values->stacks; key++)
		if (shows_key_column(diff, key))
			printf(",%s", report_key_title(&diff->fields, key));
	putchar('\n');
	for (u32 i = 0; i < diff->comparison->row_count && !ferror(stdout) && !err; i++) {
		const struct comparison_row *row = &diff->comparison->rows[i];
		const struct compared_share *before = &row->share[BEFORE];
		const struct compared_share *after = &row->share[AFTER];

		if (!count_row_and_check_if_printed(diff, row, &shown))
			continue;
		printf("%.4f,%.4f,%.4f,%llu,%llu,%llu,%llu,", before->percent, after->percent,
		       comparison_share_change(row), (unsigned long long)before->count,
		       (unsigned long long)after->count, (unsigned long long)before->value,
		       (unsigned long long)after->value);
		print_amounts_as_csv(diff, row);
		csv_put(",", event_name_of_diff_row(diff, row), stdout);
		if (diff->values->stacks) {
			const struct report *report = report_of_row(diff, row);
			const struct profile_row *stack = stack_of_row(diff, row);

			csv_put(",", stack->comm, stdout);
			err = print_path_as_csv(report, stack->kernel)
				      ?: print_path_as_csv(report, stack->user);
		} else {
			char room[DIFF_CELL_ROOM];

			for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
				if (shows_key_column(diff, key))
					csv_put(",", cell_text(diff, row, key, room), stdout);
		}
		putchar('\n');
	}
	return err;
}

static json_t *make_json_of_share(const struct compared_share *share)
{
	return json_pack("{s:f, s:I, s:I, s:f}", "percent", share->percent, "count",
			 (json_int_t)share->count, "value", (json_int_t)share->value, "amount",
			 share->amount);
}

static json_t *make_json_array_of_path(const struct report *report, const struct profile_path *path)
{
	const char *marker = profile_path_marker(path);
	json_t *array = json_names_of_stack_path(report->profile, path);

	if (marker)
		json_array_append_new(array, json_text(marker));
	return array;
}

static json_t *make_json_of_diff_row(const struct diff *diff, const struct comparison_row *row)
{
	double before = row->share[BEFORE].amount;
	double noise = noise_of_diff_row(diff, row);
	json_t *object = json_pack(
		"{s:o, s:o, s:o, s:f, s:f, s:o, s:o}", "event",
		json_text(event_name_of_diff_row(diff, row)), "before",
		make_json_of_share(&row->share[BEFORE]), "after",
		make_json_of_share(&row->share[AFTER]), "delta", comparison_share_change(row),
		"change", comparison_amount_change(row), "change_percent",
		before > 0 ? json_real(100 * comparison_amount_change(row) / before) : json_null(),
		"noise", isfinite(noise) ? json_real(noise) : json_null());

	if (object && diff->values->stacks) {
		const struct report *report = report_of_row(diff, row);
		const struct profile_row *stack = stack_of_row(diff, row);

		json_object_set_new(object, "comm", json_text(stack->comm));
		json_object_set_new(object, "kernel",
				    make_json_array_of_path(report, stack->kernel));
		json_object_set_new(object, "user", make_json_array_of_path(report, stack->user));
	} else if (object) {
		char room[DIFF_CELL_ROOM];

		for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
			if (shows_key_column(diff, key))
				json_object_set_new(object, report_key_title(&diff->fields, key),
						    json_text(cell_text(diff, row, key, room)));
	}
	return object;
}

/* The sum of the ledgers of a side; null if one of its recordings has none. */
static json_t *make_json_of_side_ledger(const struct diff_side *side)
{
	struct trace_ledger sum = {};

	for (u32 i = 0; i < side->part_count; i++) {
		const struct trace_ledger *ledger =
			trace_reader_ledger(side->parts[i]->report.reader);

		if (!ledger)
			return json_ledger(NULL);
		trace_ledger_add(&sum, ledger);
	}
	return json_ledger(&sum);
}

static int print_json(const struct diff *diff)
{
	struct shown shown = {};
	json_t *rows = json_array();

	for (u32 i = 0; i < diff->comparison->row_count; i++) {
		const struct comparison_row *row = &diff->comparison->rows[i];

		if (count_row_and_check_if_printed(diff, row, &shown) &&
		    json_array_append_new(rows, make_json_of_diff_row(diff, row)))
			return -ENOMEM;
	}
	return json_put(
		json_pack("{s:o, s:o, s:o, s:o, s:o}", "before",
			  make_json_of_side_ledger(&diff->side[BEFORE]), "after",
			  make_json_of_side_ledger(&diff->side[AFTER]), "per",
			  diff->values->per ? json_text(diff->values->per) : json_null(), "units",
			  json_pack("{s:f, s:f}", "before",
				    sum_divisors_of_compared_units(&diff->units[BEFORE]), "after",
				    sum_divisors_of_compared_units(&diff->units[AFTER])),
			  diff->values->stacks ? "stacks" : "rows", rows),
		stdout);
}

int diff_print(const struct diff *diff)
{
	if (diff->values->json)
		return print_json(diff);
	if (diff->values->csv)
		return print_csv(diff);
	print_diff_as_text(diff);
	return 0;
}
