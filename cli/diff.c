/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap diff`: what changed from one recording to another, as shares of the events of the same
 * source: the runs need not be of one length. Functions, or whatever --sort names, or whole stacks.
 *
 * Things of two recordings are the same if they are called the same: offsets and addresses differ
 * from build to build, labels are numbers of one profile.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "csv.h"
#include "error.h"
#include "format/json_text.h"
#include "message.h"
#include "names.h"
#include "pager.h"
#include "recording.h"
#include "report.h"
#include "report/comparison.h"
#include "terminal.h"

#define TOP_DEFAULT 20
#define TOP_UNSET UINT64_MAX
#define LEAST_DEFAULT 0.005 /* percent: what rounds to 0.00% */
#define CELL_ROOM 16
#define SEPARATOR '\n' /* of what makes up the text of an item */

struct diff_values {
	struct recording_values recording;
	struct names_values names;
	const char *sort, *by, *min_percent;
	u64 top;
	bool stacks, children, json, csv, no_pager;
};

struct diff {
	const struct diff_values *values;
	struct report_fields fields;
	struct recording_choice choice[COMPARISON_SIDES];
	struct report side[COMPARISON_SIDES];
	struct report_table *table[COMPARISON_SIDES]; /* NULL with --stacks */
	struct compared_list list[COMPARISON_SIDES];
	struct comparison *comparison;
	bool many_sources;
	double least;
	u64 limit;
};

static bool has_event_key(const struct diff *diff)
{
	return diff->fields.keys & 1U << TABLE_EVENT;
}

/* As in tables of `stackmap report`: of all events if the source is a key. */
static double percent_of(const struct diff *diff, const struct report *report, u32 kind, u64 count,
			 u64 value)
{
	u64 all = report->profile->count;

	if (has_event_key(diff))
		return all ? 100.0 * (double)count / (double)all : 0;
	return report_percent(report, kind,
			      report->weights.by[kind] == WEIGHT_VALUE ? value : count);
}

static struct compared_share share_of(const struct diff *diff, const struct report *report,
				      u32 kind, u64 count, u64 value)
{
	return (struct compared_share){.percent = percent_of(diff, report, kind, count, value),
				       .count = count,
				       .value = value};
}

static int set_stack(const struct diff *diff, const struct report *report,
		     const struct profile_row *row, struct compared_item *item)
{
	size_t bytes;
	FILE *text = open_memstream(&item->text, &bytes);

	if (!text)
		return -ENOMEM;
	fprintf(text, "%s%c%s%c", report->sources[row->kind].name, SEPARATOR, row->comm, SEPARATOR);
	report_put_path(report, row->kernel, text);
	fputc(SEPARATOR, text);
	report_put_path(report, row->user, text);
	item->share = share_of(diff, report, row->kind, row->count, row->value);
	return fclose(text) ? -ENOMEM : 0;
}

static int list_stacks(struct diff *diff, enum comparison_side side)
{
	const struct report *report = &diff->side[side];
	struct compared_list *list = &diff->list[side];
	int err = compared_list_create(list, report->profile->row_count);

	for (u32 i = 0; !err && i < list->count; i++)
		err = set_stack(diff, report, report->profile->rows[i], &list->items[i]);
	return err;
}

static const char *cell_text(const struct diff *diff, enum comparison_side side,
			     const struct table_row *row, enum table_key key, char room[CELL_ROOM])
{
	return report_table_text(diff->table[side], diff->side[side].sources, row, key, room);
}

static int set_row(const struct diff *diff, enum comparison_side side, const struct table_row *row,
		   struct compared_item *item)
{
	const struct table_sum *sum = diff->values->children ? &row->children : &row->self;
	const struct report *report = &diff->side[side];
	char room[CELL_ROOM];
	size_t bytes;
	FILE *text = open_memstream(&item->text, &bytes);

	if (!text)
		return -ENOMEM;
	fputs(report->sources[row->kind].name, text);
	for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
		if (diff->fields.keys & 1U << key)
			fprintf(text, "%c%s", SEPARATOR, cell_text(diff, side, row, key, room));
	item->share = share_of(diff, report, row->kind, sum->count, sum->value);
	return fclose(text) ? -ENOMEM : 0;
}

static int list_rows(struct diff *diff, enum comparison_side side)
{
	const struct table_options options = {.keys = diff->fields.keys,
					      .by = diff->side[side].weights.by};
	struct compared_list *list = &diff->list[side];
	int err = report_table_create(diff->side[side].profile, &options, &diff->table[side]);

	err = err ?: compared_list_create(list, diff->table[side]->row_count);
	for (u32 i = 0; !err && i < list->count; i++)
		err = set_row(diff, side, &diff->table[side]->rows[i], &list->items[i]);
	return err;
}

static const char *event_of(const struct diff *diff, const struct comparison_row *row)
{
	const struct report *report = &diff->side[row->side];

	if (diff->values->stacks)
		return report->sources[report->profile->rows[row->index]->kind].name;
	return report->sources[diff->table[row->side]->rows[row->index].kind].name;
}

static bool is_shown(const struct diff *diff, const struct comparison_row *row)
{
	double delta = comparison_delta(row);

	return (delta < 0 ? -delta : delta) >= diff->least;
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
	return diff->many_sources || has_event_key(diff);
}

static void put_cells(const struct diff *diff, const struct comparison_row *row)
{
	const struct table_row *cells = &diff->table[row->side]->rows[row->index];
	char room[CELL_ROOM];

	if (shows_event(diff)) {
		fputs("  ", stdout);
		terminal_put_name(event_of(diff, row), stdout);
	}
	for (u32 key = 0; key < TABLE_KEY_COUNT; key++) {
		if (!has_key(diff, key))
			continue;
		fputs("  ", stdout);
		terminal_put_name(cell_text(diff, row->side, cells, key, room), stdout);
	}
	putchar('\n');
}

static void put_stack(const struct diff *diff, const struct comparison_row *row)
{
	const struct report *report = &diff->side[row->side];
	const struct profile_row *stack = report->profile->rows[row->index];

	fputs("  ", stdout);
	terminal_put_name(stack->comm[0] ? stack->comm : "[unknown]", stdout);
	fputs("  ", stdout);
	terminal_put_name(event_of(diff, row), stdout);
	putchar('\n');
	report_put_stack(report, stack);
}

static void put_heading(const struct diff *diff)
{
	printf("\n# before    after    delta");
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
	terminal_put_name(diff->choice[side].name, stdout);
	for (u32 i = 0; i < report->source_count; i++) {
		if (!report->weights.counts[i])
			continue;
		printf(", %llu ", (unsigned long long)report->weights.counts[i]);
		terminal_put_name(report->sources[i].name, stdout);
		if (report->weights.by[i] == WEIGHT_VALUE)
			printf(" (%llu%s)", (unsigned long long)report->weights.totals[i],
			       report_unit(report, i));
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

		printf("%7.2f%% %7.2f%% %+7.2f%%", row->share[BEFORE].percent,
		       row->share[AFTER].percent, comparison_delta(row));
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
	char room[CELL_ROOM];

	for (u32 key = 0; key < TABLE_KEY_COUNT; key++) {
		if (!has_key(diff, key))
			continue;
		putchar(',');
		csv_put(cell_text(diff, row->side, cells, key, room), stdout);
	}
}

static int csv_stack(const struct diff *diff, const struct comparison_row *row)
{
	const struct report *report = &diff->side[row->side];
	const struct profile_row *stack = report->profile->rows[row->index];
	int err;

	putchar(',');
	csv_put(stack->comm, stdout);
	putchar(',');
	err = report_csv_path(report, stack->kernel);
	putchar(',');
	return err ?: report_csv_path(report, stack->user);
}

static void csv_heading(const struct diff *diff)
{
	printf("before,after,delta,count_before,count_after,value_before,value_after,event");
	if (diff->values->stacks)
		printf(",comm,kernel,user");
	for (u32 key = 0; key < TABLE_KEY_COUNT && !diff->values->stacks; key++)
		if (has_key(diff, key))
			printf(",%s", table_key_name(key));
	putchar('\n');
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
		csv_put(event_of(diff, row), stdout);
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
	return json_pack("{s:f, s:I, s:I}", "percent", share->percent, "count",
			 (json_int_t)share->count, "value", (json_int_t)share->value);
}

static json_t *path_array(const struct report *report, const struct profile_path *path)
{
	const char *marker = profile_path_marker(path);
	json_t *array = json_array();

	for (u32 i = 0; i < path->depth; i++)
		json_array_append_new(array, json_text(frame_names_label(report->profile->names,
									 path->labels[i])));
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
	char room[CELL_ROOM];

	for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
		if (has_key(diff, key))
			json_object_set_new(
				object, table_key_name(key),
				json_text(cell_text(diff, row->side, cells, key, room)));
}

static json_t *row_object(const struct diff *diff, const struct comparison_row *row)
{
	json_t *object =
		json_pack("{s:o, s:o, s:o, s:f}", "event", json_text(event_of(diff, row)), "before",
			  share_object(&row->share[BEFORE]), "after",
			  share_object(&row->share[AFTER]), "delta", comparison_delta(row));

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
	return json_put(json_pack("{s:o, s:o, s:o}", "before",
				  json_ledger(trace_reader_ledger(diff->side[BEFORE].reader)),
				  "after",
				  json_ledger(trace_reader_ledger(diff->side[AFTER].reader)),
				  diff->values->stacks ? "stacks" : "rows", rows),
			stdout);
}

static int print_diff(const struct diff *diff)
{
	if (diff->values->json)
		return print_json(diff);
	if (diff->values->csv)
		return print_csv(diff);
	print_plain(diff);
	return 0;
}

static bool has_many_sources(const struct report *report)
{
	u32 sources = 0;

	for (u32 i = 0; i < report->source_count; i++)
		sources += report->weights.counts[i] != 0;
	return sources > 1;
}

static int list_side(struct diff *diff, enum comparison_side side)
{
	int err = report_weigh_events(&diff->side[side], diff->values->by);

	if (err)
		return err;
	diff->many_sources |= has_many_sources(&diff->side[side]);
	return diff->values->stacks ? list_stacks(diff, side) : list_rows(diff, side);
}

static int compare(struct diff *diff)
{
	int err = list_side(diff, BEFORE) ?: list_side(diff, AFTER);

	err = err ?: comparison_create(diff->list, &diff->comparison);
	err = err ?: print_diff(diff);
	comparison_free(&diff->comparison);
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		compared_list_free(&diff->list[side]);
		report_table_free(&diff->table[side]);
		profile_weights_clear(&diff->side[side].weights);
	}
	return err;
}

static int read_profiles(struct diff *diff, const struct frame_naming *naming,
			 struct stackmap_error *error)
{
	u32 split = table_keys_split(diff->fields.keys);
	int err = 0;

	for (u32 side = BEFORE; side < COMPARISON_SIDES && !err; side++)
		err = profile_create_split(diff->side[side].reader, &diff->choice[side].filter,
					   naming, split, &diff->side[side].profile, error);
	return err;
}

static int diff_readers(struct diff *diff, struct frame_naming *naming,
			struct stackmap_error *error)
{
	struct trace_reader *readers[] = {diff->side[BEFORE].reader, diff->side[AFTER].reader};
	int err, compare_err;

	names_check_boots(naming, readers, COMPARISON_SIDES);
	err = read_profiles(diff, naming, error);
	if (!err) {
		compare_err = compare(diff);
		if (compare_err)
			err = error_set(error, -compare_err, "diff: %s", strerror(-compare_err));
	}
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++)
		profile_free(&diff->side[side].profile);
	return err;
}

static int diff_recordings(struct diff *diff, struct frame_naming *naming)
{
	struct stackmap_error error;
	int status = EXIT_FAILED, err;

	diff->side[BEFORE].reader = recording_open(&diff->choice[BEFORE]);
	if (!diff->side[BEFORE].reader)
		return EXIT_FAILED;
	diff->side[AFTER].reader = recording_open(&diff->choice[AFTER]);
	if (!diff->side[AFTER].reader) {
		trace_reader_close(&diff->side[BEFORE].reader);
		return EXIT_FAILED;
	}
	err = diff_readers(diff, naming, &error);
	status = recording_close(&diff->side[BEFORE].reader, err, &error);
	return recording_close(&diff->side[AFTER].reader, 0, NULL) ?: status;
}

/* The second one may be an instance, as it is now. */
static int choose(const struct diff_values *values, int count, char **operands, struct diff *diff)
{
	struct recording_values before = values->recording;

	before.instance = NULL;
	if (count + (values->recording.instance != NULL) != COMPARISON_SIDES) {
		message("diff: two recordings are needed, BEFORE and AFTER, see 'stackmap help "
			"diff'");
		return -EINVAL;
	}
	return recording_choose(&before, operands, &diff->choice[BEFORE])
		       ?: recording_choose(&values->recording, operands + 1, &diff->choice[AFTER]);
}

static int check(const struct diff_values *values)
{
	if (values->json && values->csv) {
		message("--json and --csv: choose one format");
		return -EINVAL;
	}
	if (values->stacks && (values->sort || values->children)) {
		message("--stacks and --%s: choose one view", values->sort ? "sort" : "children");
		return -EINVAL;
	}
	return report_parse_by(values->by);
}

static int make_diff(const struct diff_values *values, int count, char **operands,
		     struct diff *diff)
{
	u64 unset = values->json || values->csv ? 0 : TOP_DEFAULT;

	*diff = (struct diff){.values = values};
	diff->limit = (values->top == TOP_UNSET ? unset : values->top) ?: UINT64_MAX;
	diff->least = values->json || values->csv ? 0 : LEAST_DEFAULT;
	if (check(values) || report_parse_percent(values->min_percent, &diff->least))
		return -EINVAL;
	if (!values->stacks && report_fields_parse(values->sort ?: "symbol", NULL, &diff->fields))
		return -EINVAL;
	return choose(values, count, operands, diff);
}

static int diff_run(const void *arg, int count, char **operands)
{
	const struct diff_values *values = arg;
	struct frame_naming naming;
	struct diff diff;
	int status;

	if (make_diff(values, count, operands, &diff))
		return EXIT_USAGE;
	status = names_open(&values->names, &naming);
	if (status)
		return status;
	status = diff_recordings(&diff, &naming);
	names_close(&naming);
	return status;
}

/* clang-format off */
#define ROW(field, ...) .target = offsetof(struct diff_values, field), __VA_ARGS__
static const struct option_row rows[] = {
	{.name = "sort", .letter = 's', .type = OPTION_STRING, .argument = "KEYS",
	 ROW(sort, .group = "View"), .choice = report_key_word,
	 .help = "by these: event, pid, comm, tid, cgroup, cpu, dso, symbol (default symbol)"},
	{.name = "children", .type = OPTION_FLAG, ROW(children, .group = "View"),
	 .help = "shares of functions with callees, not of themselves"},
	{.name = "stacks", .type = OPTION_FLAG, ROW(stacks, .group = "View"),
	 .help = "whole stacks instead"},
	{.name = "by", .type = OPTION_STRING, .argument = "WHAT", ROW(by, .group = "View"),
	 .help = "what events weigh: count or value (default value where it has a unit)"},
	{.name = "top", .letter = 'n', .type = OPTION_U64, .argument = "N",
	 ROW(top, .group = "Output"), .max = UINT32_MAX,
	 .help = "how many, 0 for all (default 20; --json, --csv: all)"},
	{.name = "min-percent", .type = OPTION_STRING, .argument = "PERCENT",
	 ROW(min_percent, .group = "Output"), .help = "leave out smaller changes (default 0.005; --json, --csv: 0)"},
	{.name = "json", .letter = 'j', .type = OPTION_FLAG, ROW(json, .group = "Output"),
	 .help = "one JSON object: ledgers and rows or stacks"},
	{.name = "csv", .type = OPTION_FLAG, ROW(csv, .group = "Output"),
	 .help = "comma-separated values"},
	{.name = "no-pager", .type = OPTION_FLAG, ROW(no_pager, .group = "Output"),
	 .help = "straight to the terminal"},
	NAMES_ROWS(struct diff_values, names),
	RECORDING_ROWS(struct diff_values, recording),
	{0},
};
/* clang-format on */

const struct command diff_command = {
	.name = "diff",
	.operands = "BEFORE AFTER",
	.operands_max = COMPARISON_SIDES,
	.summary = "show what changed from one recording to another",
	.rows = rows,
	.values_bytes = sizeof(struct diff_values),
	.defaults = &(const struct diff_values){.top = TOP_UNSET},
	.run = diff_run,
};
