/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap diff`: the changes from one recording to another, as amounts and as shares of the
 * events of the same source. Rows are functions, or the keys of --sort, or whole stacks. A share
 * also changes with all the other shares, an amount with the length of the runs: the two complement
 * each other, and --per makes amounts of runs of different length comparable.
 *
 * Rows of two recordings are the same if they have the same name: offsets and addresses differ from
 * build to build, and labels are numbers of one profile.
 */
#include "view/diff.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "error.h"
#include "terminal/message.h"

#define NS_PER_SECOND 1e9

struct count {
	const struct trace_reader *reader;
	const struct trace_source *sources;
	struct event_filter filter;
	const char *source; /* NULL: any source */
	u64 events, first, last;
};

static int add_event(void *arg, const struct trace_event *event)
{
	struct count *count = arg;

	if (count->source && strcmp(count->source, count->sources[event->kind].name) != 0)
		return 0;
	if (!event_filter_passes(&count->filter, count->reader, event))
		return 0;
	if (!count->events)
		count->first = event->time;
	count->events += event_stands_for(event);
	count->last = event->time;
	return 0;
}

/* Finds the divisor that makes recordings of different length comparable: the seconds that a
 * recording lasted, from the first event to the last of any source and task, so that the time in
 * which the filtered tasks sleep counts as well; or the number of occurrences of a chosen event.
 * `per`: UNIT_SECOND, or the name of an event source, whose events count if they pass the filter
 * except its list of sources. -ENOENT, with an error: there are no such events, or they span no
 * time. */
static int diff_unit_count(const char *per, const struct recording_choice *choice,
			   struct trace_reader *reader, double *units, struct stackmap_error *error)
{
	bool is_time = strcmp(per, UNIT_SECOND) == 0;
	struct count count = {.reader = reader, .source = is_time ? NULL : per};
	int err;

	if (is_time) {
		count.filter.from = choice->filter.from;
		count.filter.to = choice->filter.to;
	} else {
		count.filter = choice->filter;
		count.filter.events = (struct string_list){0};
	}
	trace_reader_sources(reader, &count.sources);
	err = trace_reader_events(reader, add_event, &count, error);
	if (err)
		return err;
	*units =
		is_time ? (double)(count.last - count.first) / NS_PER_SECOND : (double)count.events;
	if (*units > 0)
		return 0;
	return error_set(error, ENOENT, "--per %s: %s has none", per, choice->name);
}

#define TOP_DEFAULT 20
#define TOP_UNSET UINT64_MAX
#define LEAST_DEFAULT 0.005 /* percent: smaller changes round to 0.00% */
#define SEPARATOR '\n'	    /* between the parts of an item's text */

/* As in tables of `stackmap report`: the share is of all events if the source is a key. */
static double percent_of(const struct diff *diff, const struct report *report, u32 kind, u64 count,
			 u64 value)
{
	u64 all = report->profile->count;

	if (diff_has_event_key(diff))
		return all ? 100.0 * (double)count / (double)all : 0;
	return report_percent(report, kind,
			      report->weights.by[kind] == WEIGHT_VALUE ? value : count);
}

/* The amount of all events of the source before, per unit; without such events, of those after. */
static double whole_amount(const struct diff *diff, enum comparison_side side, u32 kind)
{
	const struct report *before = &diff->side[BEFORE], *here = &diff->side[side];

	for (u32 i = 0; i < before->source_count; i++)
		if (strcmp(before->sources[i].name, here->sources[kind].name) == 0 &&
		    before->weights.totals[i])
			return (double)before->weights.totals[i] / diff->units[BEFORE];
	return (double)here->weights.totals[kind] / diff->units[side];
}

static struct compared_share share_of(const struct diff *diff, enum comparison_side side, u32 kind,
				      u64 count, u64 value)
{
	const struct report *report = &diff->side[side];
	bool by_value = report->weights.by[kind] == WEIGHT_VALUE;
	struct compared_share share = {
		.percent = percent_of(diff, report, kind, count, value),
		.count = count,
		.value = value,
		.amount = (double)(by_value ? value : count) / diff->units[side],
	};
	double whole = whole_amount(diff, side, kind);

	share.rank = share.percent;
	if (diff->values->per)
		share.rank = whole > 0 ? 100 * share.amount / whole : 0;
	return share;
}

static int set_stack(const struct diff *diff, enum comparison_side side,
		     const struct profile_row *row, struct compared_item *item)
{
	const struct report *report = &diff->side[side];
	size_t bytes;
	FILE *text = open_memstream(&item->text, &bytes);

	if (!text)
		return -ENOMEM;
	fprintf(text, "%s%c%s%c", report->sources[row->kind].name, SEPARATOR, row->comm, SEPARATOR);
	report_put_path(report, row->kernel, text);
	fputc(SEPARATOR, text);
	report_put_path(report, row->user, text);
	item->share = share_of(diff, side, row->kind, row->count, row->value);
	return fclose(text) ? -ENOMEM : 0;
}

static int list_stacks(struct diff *diff, enum comparison_side side)
{
	const struct report *report = &diff->side[side];
	struct compared_list *list = &diff->list[side];
	int err = compared_list_create(list, report->profile->row_count);

	for (u32 i = 0; !err && i < list->count; i++)
		err = set_stack(diff, side, report->profile->rows[i], &list->items[i]);
	return err;
}

const char *diff_cell_text(const struct diff *diff, enum comparison_side side,
			   const struct table_row *row, enum table_key key,
			   char room[DIFF_CELL_ROOM])
{
	return report_table_text(diff->table[side], diff->side[side].sources, row, key, room);
}

static int set_row(const struct diff *diff, enum comparison_side side, const struct table_row *row,
		   struct compared_item *item)
{
	const struct table_sum *sum = diff->values->children ? &row->children : &row->self;
	const struct report *report = &diff->side[side];
	char room[DIFF_CELL_ROOM];
	size_t bytes;
	FILE *text = open_memstream(&item->text, &bytes);

	if (!text)
		return -ENOMEM;
	fputs(report->sources[row->kind].name, text);
	for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
		if (diff->fields.keys & 1U << key)
			fprintf(text, "%c%s", SEPARATOR,
				diff_cell_text(diff, side, row, key, room));
	item->share = share_of(diff, side, row->kind, sum->count, sum->value);
	return fclose(text) ? -ENOMEM : 0;
}

static int list_rows(struct diff *diff, enum comparison_side side)
{
	const struct table_options options = {
		.keys = diff->fields.keys, .by = diff->side[side].weights.by, .by_file_name = true};
	struct compared_list *list = &diff->list[side];
	int err = report_table_create(diff->side[side].profile, &options, &diff->table[side]);

	err = err ?: compared_list_create(list, diff->table[side]->row_count);
	for (u32 i = 0; !err && i < list->count; i++)
		err = set_row(diff, side, &diff->table[side]->rows[i], &list->items[i]);
	return err;
}

/* Notes the sources of both sides. */
static void note_sources(struct diff *diff, const struct report *report)
{
	for (u32 i = 0; i < report->source_count; i++) {
		const char *name = report->sources[i].name;

		if (!report->weights.counts[i])
			continue;
		diff->many_sources |= diff->source && strcmp(diff->source, name) != 0;
		diff->source = name;
	}
}

static int list_side(struct diff *diff, enum comparison_side side)
{
	int err = report_weigh_events(&diff->side[side], diff->values->by);

	if (err)
		return err;
	note_sources(diff, &diff->side[side]);
	return diff->values->stacks ? list_stacks(diff, side) : list_rows(diff, side);
}

static int compare(struct diff *diff)
{
	int err = list_side(diff, BEFORE) ?: list_side(diff, AFTER);

	err = err ?: comparison_create(diff->list, &diff->comparison);
	err = err ?: diff_print(diff);
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

static int count_units(struct diff *diff, struct stackmap_error *error)
{
	int err = 0;

	for (u32 side = BEFORE; side < COMPARISON_SIDES && !err; side++) {
		diff->units[side] = 1;
		if (diff->values->per)
			err = diff_unit_count(diff->values->per, &diff->choice[side],
					      diff->side[side].reader, &diff->units[side], error);
	}
	return err;
}

static int diff_readers(struct diff *diff, struct frame_naming *naming,
			struct stackmap_error *error)
{
	struct trace_reader *readers[] = {diff->side[BEFORE].reader, diff->side[AFTER].reader};
	int err, compare_err;

	names_check_boots(naming, readers, COMPARISON_SIDES);
	err = count_units(diff, error) ?: read_profiles(diff, naming, error);
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
	status = recording_close(&diff->side[BEFORE].reader, &diff->choice[BEFORE], err, &error);
	return recording_close(&diff->side[AFTER].reader, &diff->choice[AFTER], 0, NULL) ?: status;
}

static int choose_of_store(const struct diff_values *values, int count, char **operands,
			   struct diff *diff)
{
	const struct recording_values *recording = &values->recording;

	if (count != 1) {
		message("diff --from: one operand is needed, the second value of --version, --host "
			"or --since");
		return -EINVAL;
	}
	if (!values->stacks && report_fields_check_store(&diff->fields))
		return -EINVAL;
	if (recording_choose(recording, operands + count, &diff->choice[BEFORE]) ||
	    recording_choose_second(recording, operands, &diff->choice[AFTER]))
		return -EINVAL;
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
		struct store_question *question = &diff->choice[side].store.question;

		question->no_inlined = values->names.no_inline;
		question->by_cgroup = diff->fields.keys & 1U << TABLE_CGROUP;
	}
	return 0;
}

/* Chooses the recordings. The second one may be an instance in its current state. */
static int choose(const struct diff_values *values, int count, char **operands, struct diff *diff)
{
	struct recording_values before = values->recording;

	if (values->recording.from.url)
		return choose_of_store(values, count, operands, diff);
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
	return 0;
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
	status = recording_names_open(&values->names, &diff.choice[BEFORE], &naming);
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
	 ROW(sort, .group = "View"), .words = report_key_words,
	 .help = "by these: event, pid, comm, tid, cgroup, cpu, dso, symbol (default symbol)"},
	{.name = "children", .type = OPTION_FLAG, ROW(children, .group = "View"),
	 .help = "shares of functions with callees, not of themselves"},
	{.name = "stacks", .type = OPTION_FLAG, ROW(stacks, .group = "View"),
	 .help = "whole stacks instead"},
	{.name = "by", .type = OPTION_WORD, .argument = "WHAT", ROW(by, .group = "View"),
	 .words = "count, value",
	 .help = "what events weigh: count or value (default value where it has a unit)"},
	{.name = "per", .type = OPTION_STRING, .argument = "EVENT", ROW(per, .group = "View"),
	 .help = "amounts for each event of this source, or for each " UNIT_SECOND},
	{.name = "top", .letter = 'n', .type = OPTION_U64, .argument = "N",
	 ROW(top, .group = "Output"), .max = UINT32_MAX,
	 .help = "how many, 0 for all (default 20; --json, --csv: all)"},
	{.name = "min-percent", .type = OPTION_STRING, .argument = "PERCENT",
	 ROW(min_percent, .group = "Output"), .help = "leave out smaller changes of the share (default 0.005; --json, --csv: 0)"},
	{.name = "json", .letter = 'j', .type = OPTION_FLAG, ROW(json, .group = "Output"),
	 .help = "one JSON object: ledgers and rows or stacks"},
	{.name = "csv", .type = OPTION_FLAG, ROW(csv, .group = "Output"),
	 .help = "comma-separated values"},
	{.name = "no-pager", .type = OPTION_FLAG, ROW(no_pager, .group = "Output"),
	 .help = "straight to the terminal"},
	NAMES_ROWS(struct diff_values, names),
	FOLD_ROW(struct diff_values, names),
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
