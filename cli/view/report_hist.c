/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The values of events as histograms, with sums and percentiles: one for each stack, or for each
 * row of a table. Events of a source without values have no histogram.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "format/value_text.h"
#include "report.h"
#include "terminal/terminal.h"

/* The subject of one histogram: a stack, or a row of the table. */
struct group {
	u32 kind;
	u64 weight;
	struct distribution *values;
	const struct profile_row *stack;   /* stack of the histogram; NULL: the histogram is about a
					      row of the table */
	const struct table_row *table_row; /* row of the histogram; NULL: the histogram is about a
					      stack */
};

struct view {
	const struct report *report;
	const struct report_hist_request *request;
	struct report_table *table; /* the table with the keys; NULL: histograms are by stack */
	struct group *groups; /* groups that are shown, sorted by source, then the heaviest first */
	u32 count;
	u32 all; /* number of groups, hidden groups included */
};

static double percent_of_histogram_group(const struct view *view, const struct group *group)
{
	return report_percent(view->report, group->kind, group->weight);
}

static void add_histogram_group(struct view *view, struct group group)
{
	if (!trace_source_adds_up(&view->report->sources[group.kind]))
		return;
	view->all++;
	if (view->count >= view->report->limit ||
	    percent_of_histogram_group(view, &group) < view->report->least)
		return;
	distribution_sort(group.values);
	view->groups[view->count++] = group;
}

static int collect_histograms(struct view *view, const struct report *report,
			      const struct report_hist_request *request)
{
	const struct profile *profile = report->profile;
	const enum profile_weight *by = report->weights.by;
	bool by_children = request->table && request->table->by_children;
	struct table_options options = {.by = by, .by_children = by_children};
	int err = 0;

	*view = (struct view){.report = report, .request = request};
	if (request->table) {
		options.keys = request->table->fields.keys;
		options.reader = report->reader;
		options.attribute = report_attribute(&request->table->fields);
		err = report_table_create(profile, &options, &view->table);
	}
	if (err)
		return err;
	view->groups = calloc((view->table ? view->table->row_count : profile->row_count) + 1UL,
			      sizeof(*view->groups));
	if (!view->groups) {
		report_table_free(&view->table);
		return -ENOMEM;
	}
	for (u32 i = 0; !view->table && i < profile->row_count; i++) {
		struct profile_row *row = profile->rows[i];

		add_histogram_group(view,
				    (struct group){.kind = row->kind,
						   .weight = profile_row_weight(row, by[row->kind]),
						   .values = &row->values,
						   .stack = row});
	}
	for (u32 i = 0; view->table && i < view->table->row_count; i++) {
		struct table_row *row = &view->table->rows[i];

		if (row->values.count)
			add_histogram_group(
				view,
				(struct group){.kind = row->kind,
					       .weight = table_sum_weight(
						       by_children ? &row->children : &row->self,
						       by[row->kind]),
					       .values = &row->values,
					       .table_row = row});
	}
	return 0;
}

static void free_histograms(struct view *view)
{
	report_table_free(&view->table);
	free(view->groups);
}

static u64 smallest_value(const struct distribution *values)
{
	return values->items[0].value;
}

static u64 largest_value(const struct distribution *values)
{
	return values->items[values->item_count - 1].value;
}

/* --- histograms as text --- */

static void print_histogram_title(const struct view *view, const struct group *group)
{
	const struct report *report = view->report;
	const char *source = report->sources[group->kind].name;
	char room[16];

	printf("\n%s%6.2f%%  ", report->color ? "\033[1m" : "",
	       percent_of_histogram_group(view, group));
	for (u32 i = 0; view->table && i < view->request->table->fields.count; i++) {
		const struct table_field *field = &view->request->table->fields.field[i];

		if (!field->is_key || field->key == TABLE_EVENT)
			continue;
		printable_put(report_table_cell_text(view->table, report->sources, group->table_row,
						     field->key, room),
			      stdout);
		fputs("  ", stdout);
	}
	if (group->stack) {
		printable_put(group->stack->comm[0] ? group->stack->comm : "[unknown]", stdout);
		fputs("  ", stdout);
	}
	printable_put(source, stdout);
	printf("%s\n", report->color ? "\033[0m" : "");
	if (group->stack)
		print_kernel_and_user_path(report, group->stack);
}

static int print_histogram_line(void *arg, const char *line)
{
	(void)arg;
	printf("  %s\n", line);
	return 0;
}

int report_hist_plain(const struct report *report, const struct report_hist_request *request)
{
	struct view view;
	int err = collect_histograms(&view, report, request);

	if (err)
		return err;
	if (trace_reader_info(report->reader)->has_aggregates)
		printf("# " HISTOGRAM_OF_AGGREGATES "\n");
	for (u32 i = 0; i < view.count && !ferror(stdout); i++) {
		print_histogram_title(&view, &view.groups[i]);
		histogram_text(view.groups[i].values, request->scale,
			       report->sources[view.groups[i].kind].value_unit,
			       print_histogram_line, NULL);
	}
	if (view.count < view.all && view.count == report->limit)
		printf("\n# %u of %u histograms shown, --top 0 shows all\n", view.count, view.all);
	free_histograms(&view);
	return 0;
}

/* --- histograms as CSV: the buckets are one field, "FROM..TO:COUNT" with blanks between them ---
 */

static int print_csv_group(const struct view *view, const struct group *group)
{
	const struct report *report = view->report;
	char room[16];
	int err = 0;
	const struct distribution *values = group->values;
	struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX];
	u32 count = distribution_histogram(values, view->request->scale, buckets);

	printf("%.4f,%llu,%llu,%.3f,%llu,%llu", percent_of_histogram_group(view, group),
	       (unsigned long long)values->count, (unsigned long long)values->sum,
	       (double)values->sum / (double)values->count,
	       (unsigned long long)smallest_value(values),
	       (unsigned long long)largest_value(values));
	for (u32 i = 0; i < HISTOGRAM_PERCENTILES; i++)
		printf(",%llu", (unsigned long long)distribution_percentile(
					values, histogram_percentiles[i].permille));
	putchar(',');
	for (u32 i = 0; i < count; i++)
		printf("%s%llu..%llu:%llu", i ? " " : "", (unsigned long long)buckets[i].from,
		       (unsigned long long)buckets[i].to, (unsigned long long)buckets[i].count);
	csv_put(",", report->sources[group->kind].name, stdout);
	for (u32 key = 0; group->table_row && key < TABLE_KEY_COUNT; key++) {
		if (key == TABLE_EVENT || !(view->request->table->fields.keys & 1U << key))
			continue;
		if (table_row_has(group->table_row, key))
			csv_put(",",
				report_table_cell_text(view->table, report->sources,
						       group->table_row, key, room),
				stdout);
		else
			putchar(',');
	}
	if (group->stack) {
		csv_put(",", group->stack->comm, stdout);
		err = print_path_as_csv(report, group->stack->kernel)
			      ?: print_path_as_csv(report, group->stack->user);
	}
	putchar('\n');
	return err;
}

int report_hist_csv(const struct report *report, const struct report_hist_request *request)
{
	struct view view;
	int err = collect_histograms(&view, report, request);

	if (err)
		return err;
	printf("share,count,sum,average,min,max");
	for (u32 i = 0; i < HISTOGRAM_PERCENTILES; i++)
		printf(",%s", histogram_percentiles[i].name);
	printf(",histogram,event");
	for (u32 key = 0; request->table && key < TABLE_KEY_COUNT; key++)
		if (key != TABLE_EVENT && request->table->fields.keys & 1U << key)
			printf(",%s", report_key_title(&request->table->fields, key));
	printf("%s\n", request->table ? "" : ",comm,kernel,user");
	for (u32 i = 0; i < view.count && !ferror(stdout) && !err; i++)
		err = print_csv_group(&view, &view.groups[i]);
	free_histograms(&view);
	return err;
}

/* --- histograms as JSON --- */

static json_t *make_json_of_buckets(const struct view *view, const struct group *group)
{
	struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX];
	u32 count = distribution_histogram(group->values, view->request->scale, buckets);
	json_t *array = json_array();
	int failed = 0;

	/*
	 * Values are below 2^63, so the numbers fit into json_int_t. Only the end of the last log2
	 * bucket may be larger.
	 */
	for (u32 i = 0; i < count; i++)
		failed |= json_array_append_new(array, json_pack("{s:I, s:I, s:I}", "from",
								 (json_int_t)buckets[i].from, "to",
								 (json_int_t)buckets[i].to, "count",
								 (json_int_t)buckets[i].count));
	if (!failed)
		return array;
	json_decref(array);
	return NULL;
}

static int add_group_keys(const struct view *view, const struct group *group, json_t *object)
{
	const struct report *report = view->report;
	int failed = 0;
	char room[16];

	if (group->stack)
		return json_object_set_new(object, "comm", json_text(group->stack->comm)) |
		       json_set_names_of_stack_path(object, "kernel", report->profile,
						    group->stack->kernel) |
		       json_set_names_of_stack_path(object, "user", report->profile,
						    group->stack->user);
	for (u32 key = 0; key < TABLE_KEY_COUNT; key++) {
		bool is_number = key == TABLE_PID || key == TABLE_TID || key == TABLE_CPU;
		json_t *cell;

		if (key == TABLE_EVENT || !(view->request->table->fields.keys & 1U << key))
			continue;
		if (!table_row_has(group->table_row, key))
			cell = json_null();
		else if (is_number)
			cell = json_integer(group->table_row->cell[key]);
		else
			cell = json_text(report_table_cell_text(view->table, report->sources,
								group->table_row, key, room));
		failed |= json_object_set_new(
			object, report_key_title(&view->request->table->fields, key), cell);
	}
	return failed;
}

static json_t *make_json_of_histogram_group(const struct view *view, const struct group *group)
{
	const struct report *report = view->report;
	const struct distribution *values = group->values;
	json_t *object = json_pack(
		"{s:o, s:o, s:f, s:I, s:I, s:f, s:I, s:I, s:o}", "event",
		json_text(report->sources[group->kind].name), "unit",
		json_text(report->sources[group->kind].value_unit), "percent",
		percent_of_histogram_group(view, group), "count", (json_int_t)values->count, "sum",
		(json_int_t)values->sum, "average", (double)values->sum / (double)values->count,
		"min", (json_int_t)smallest_value(values), "max", (json_int_t)largest_value(values),
		"buckets", make_json_of_buckets(view, group));
	int failed = !object;

	for (u32 i = 0; i < HISTOGRAM_PERCENTILES && !failed; i++)
		failed = json_object_set_new(object, histogram_percentiles[i].name,
					     json_integer((json_int_t)distribution_percentile(
						     values, histogram_percentiles[i].permille)));
	if (!failed && !add_group_keys(view, group, object))
		return object;
	json_decref(object);
	return NULL;
}

int report_hist_json(const struct report *report, const struct report_hist_request *request)
{
	json_t *array = json_array();
	struct view view;
	int failed = 0, err = collect_histograms(&view, report, request);

	if (err) {
		json_decref(array);
		return err;
	}
	for (u32 i = 0; i < view.count; i++)
		failed |= json_array_append_new(
			array, make_json_of_histogram_group(&view, &view.groups[i]));
	free_histograms(&view);
	if (failed) {
		json_decref(array);
		return -ENOMEM;
	}
	return report_put_json(report,
			       json_pack("{s:s, s:b, s:o}", "scale",
					 request->scale == HISTOGRAM_LOG2 ? "log2" : "lin",
					 "has_estimated_percentiles",
					 trace_reader_info(report->reader)->has_aggregates != 0,
					 "histograms", array));
}
