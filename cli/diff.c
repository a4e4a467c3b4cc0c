/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap diff`: the changes from one recording to another, as amounts and as shares of the
 * events of the same source. Rows are functions, or the keys of --sort, or whole stacks. A share
 * also changes with all the other shares, an amount with the length of the runs: the two complement
 * each other, and --per makes amounts of runs of different length comparable.
 *
 * Rows of two recordings are the same if they have the same name: offsets and addresses differ from
 * build to build, and labels are numbers of one profile.
 *
 * Amounts are those of all events that were produced: the amounts of a recording are scaled up by
 * the losses in its ledger. Otherwise a recording that lost a fifth of its events would look a
 * fifth faster. Shares, counts and values are those of the events in the file.
 *
 * A side may be several recordings. Their scatter, or that of slices of the side's only recording,
 * says which changes are beyond the noise.
 */
#include "view/diff.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "command.h"
#include "error.h"
#include "report/profile/comparison_noise.h"
#include "terminal/message.h"

#define NS_PER_SECOND 1e9
#define TOP_DEFAULT 20
#define TOP_UNSET UINT64_MAX
/* smallest change that is shown, in percent: smaller changes round to 0.00% */
#define LEAST_DEFAULT 0.005
#define SEPARATOR '\n' /* separator of the parts of an item's text */

/* Sets the scales of a recording's sources, and adds its ledger to the side's sums. -ENOMEM. */
static int read_ledger_of_diff_part(struct diff_side *side, struct diff_part *part)
{
	const struct trace_reader *reader = part->report.reader;
	const struct trace_ledger *ledger = trace_reader_ledger(reader);
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);
	u64 lost = count_lost_events_of_ledger(ledger);

	part->scales = calloc(count + 1UL, sizeof(*part->scales));
	if (!part->scales)
		return -ENOMEM;
	for (u32 kind = 0; kind < count; kind++)
		part->scales[kind] = compared_scale_of_source(reader, kind);
	side->produced += lost + (ledger ? ledger->recorded + ledger->counted : 0);
	side->lost += lost;
	return 0;
}

/* A pass over events that counts them by slice of time. */
struct count {
	const struct trace_reader *reader;
	const struct trace_source *sources;
	struct event_filter filter;
	const char *source; /* name of the source whose events are counted; NULL: any source */
	const struct time_slices *slices;
	u64 events[DIFF_SLICES], all, first, last;
};

static int count_event_in_slice(void *arg, const struct trace_event *event)
{
	struct count *count = arg;

	if (count->source && strcmp(count->source, count->sources[event->kind].name) != 0)
		return 0;
	if (!event_filter_passes(&count->filter, count->reader, event))
		return 0;
	if (!count->all)
		count->first = event->time;
	count->events[find_time_slice(count->slices, event->time)] += event_stands_for(event);
	count->all += event_stands_for(event);
	count->last = event->time;
	return 0;
}

/* Divides the time from the first chosen event of a side's only recording to the last one. */
static int divide_time_into_slices(struct diff_part *part, struct stackmap_error *error)
{
	struct count count = {.reader = part->report.reader,
			      .filter = part->choice.filter,
			      .slices = &part->slices};
	int err;

	trace_reader_sources(part->report.reader, &count.sources);
	err = trace_reader_events(part->report.reader, count_event_in_slice, &count, error);
	if (!err && count.last > count.first)
		part->slices =
			(struct time_slices){.begin = count.first,
					     .length = (count.last - count.first) / DIFF_SLICES + 1,
					     .count = DIFF_SLICES};
	return err;
}

/* Sets the divisors that make recordings of different length comparable: the seconds from the first
 * event to the last of any source and task within --time, so that the time in which the filtered
 * tasks sleep counts as well; or the number of events of the source that --per names, which pass
 * the filter except its list of sources. -ENOENT, with an error: there are no such events, or they
 * span no time. */
static int set_divisors_of_units(const char *per, struct diff_part *part,
				 struct compared_units *units, struct stackmap_error *error)
{
	const struct event_filter *filter = &part->choice.filter;
	bool is_time = strcmp(per, UNIT_SECOND) == 0;
	double *divisors = &units->divisors[part->first_unit];
	u32 slices = part->slices.count ?: 1;
	struct count count = {.reader = part->report.reader,
			      .source = is_time ? NULL : per,
			      .slices = &part->slices};
	u32 kind = trace_reader_source_named(part->report.reader, per);
	double scale = kind == TRACE_NO_SOURCE ? 1 : part->scales[kind], sum = 0;
	int err;

	count.filter = *filter;
	count.filter.events = (struct string_list){0};
	if (is_time)
		count.filter = (struct event_filter){.from = filter->from, .to = filter->to};
	trace_reader_sources(part->report.reader, &count.sources);
	err = trace_reader_events(part->report.reader, count_event_in_slice, &count, error);
	if (err)
		return err;
	for (u32 i = 0; i < slices; i++) {
		double seconds = (double)(count.last - count.first) / NS_PER_SECOND;

		divisors[i] = is_time ? seconds / slices : (double)count.events[i] * scale;
		units->divisor_events += is_time ? 0 : count.events[i];
		sum += divisors[i];
	}
	return sum > 0 ? 0
		       : error_set(error, ENOENT, "--per %s: %s has none", per, part->choice.name);
}

static u32 unit_number_of_time_slice(const struct diff_part *part, u32 slice)
{
	return part->first_unit + slice;
}

static int make_comparison_units(const struct diff *diff, struct diff_side *side,
				 struct compared_units *units, struct stackmap_error *error)
{
	int err = 0;

	units->are_slices = side->part_count == 1;
	if (units->are_slices)
		err = divide_time_into_slices(side->parts[0], error);
	for (u32 i = 0; i < side->part_count; i++) {
		const struct trace_source *sources;

		side->parts[i]->first_unit = i;
		units->has_many_sources |=
			trace_reader_sources(side->parts[i]->report.reader, &sources) > 1;
	}
	units->count = units->are_slices ? side->parts[0]->slices.count ?: 1 : side->part_count;
	if (err || !diff->values->per)
		return err;
	units->divisors = calloc(units->count, sizeof(*units->divisors));
	if (!units->divisors)
		return error_set(error, ENOMEM, "diff: %s", strerror(ENOMEM));
	for (u32 i = 0; i < side->part_count && !err; i++)
		err = set_divisors_of_units(diff->values->per, side->parts[i], units, error);
	return err;
}

/* The number of a source by its name. UINT32_MAX without memory. */
static u32 find_or_add_source_by_name(struct diff *diff, const struct report *report, u32 kind)
{
	const char *name = report->sources[kind].name;

	for (u32 i = 0; i < diff->source_count; i++)
		if (strcmp(diff->sources[i].name, name) == 0)
			return i;
	if (array_make_room(diff->sources, diff->source_count, diff->source_room))
		return UINT32_MAX;
	diff->sources[diff->source_count] =
		(struct diff_source){.name = name, .by = report->weights.by[kind]};
	return diff->source_count++;
}

static int add_event_sums_by_source(struct diff *diff, enum comparison_side side,
				    struct diff_part *part)
{
	const struct profile_weights *weights = &part->report.weights;

	if (report_weigh_events(&part->report, diff->values->by))
		return -ENOMEM;
	for (u32 kind = 0; kind < part->report.source_count; kind++) {
		u32 source = find_or_add_source_by_name(diff, &part->report, kind);

		if (source == UINT32_MAX)
			return -ENOMEM;
		diff->sources[source].counts[side] += weights->counts[kind];
		diff->sources[source].totals[side] += weights->totals[kind];
		diff->sources[source].amounts[side] +=
			part->scales[kind] * (double)weights->totals[kind];
		diff->sources[source].lost[side] +=
			compared_lost_of_source(part->report.reader, kind);
	}
	return 0;
}

static u64 choose_count_or_value_as_weight(const struct report *report, u32 kind, u64 count,
					   u64 value)
{
	return report->weights.by[kind] == WEIGHT_VALUE ? value : count;
}

/* Sets the denominators of a side's shares. As in tables of `stackmap report`, a share is of the
 * events of all sources if the source is a key. */
static int set_denominators_of_shares(struct diff *diff, enum comparison_side side)
{
	struct compared_units *units = &diff->units[side];
	const struct diff_side *recordings = &diff->side[side];

	units->source_count = diff->source_count;
	units->wholes = calloc((size_t)units->count * diff->source_count + 1, sizeof(u64));
	units->amounts = calloc(diff->source_count + 1UL, sizeof(double));
	units->events = calloc(diff->source_count + 1UL, sizeof(u64));
	units->lost_of = calloc(diff->source_count + 1UL, sizeof(u64));
	if (!units->wholes || !units->amounts || !units->events || !units->lost_of)
		return -ENOMEM;
	/* A share of the events of all sources is changed by the losses of each source. */
	units->lost = recordings->lost;
	for (u32 i = 0; i < diff->source_count; i++) {
		units->amounts[i] = diff->sources[i].amounts[side];
		units->events[i] = diff->sources[i].counts[side];
		if (diff_has_event_key(diff))
			continue;
		units->lost_of[i] = diff->sources[i].lost[side];
		units->lost -= units->lost_of[i] < units->lost ? units->lost_of[i] : units->lost;
	}
	for (u32 i = 0; i < recordings->part_count; i++) {
		struct diff_part *part = recordings->parts[i];
		const struct profile *profile = part->report.profile;

		for (u32 r = 0; r < profile->row_count; r++) {
			const struct profile_row *row = profile->rows[r];
			u64 *whole = &units->wholes[unit_number_of_time_slice(part, row->slice)];

			if (!diff_has_event_key(diff)) {
				whole +=
					find_or_add_source_by_name(diff, &part->report, row->kind) *
					units->count;
				*whole += choose_count_or_value_as_weight(&part->report, row->kind,
									  row->count, row->value);
				continue;
			}
			for (u32 source = 0; source < diff->source_count; source++)
				whole[source * units->count] += row->count;
		}
	}
	return 0;
}

/* Sets all members of an item except its text. */
static void set_item_of_comparison(struct diff *diff, enum comparison_side side, u32 number,
				   const struct diff_place *place, u32 kind, u32 slice, u64 count,
				   u64 value)
{
	const struct diff_part *part = diff->side[side].parts[place->part];
	struct compared_item *item = &diff->list[side].items[number];
	u64 amount = choose_count_or_value_as_weight(&part->report, kind, count, value);

	diff->side[side].places[number] = *place;
	item->source = find_or_add_source_by_name(diff, &part->report, kind);
	item->unit = unit_number_of_time_slice(part, slice);
	item->is_sampled = part->report.sources[kind].extras & TRACE_EXTRA_LEAF;
	item->count = count;
	item->value = value;
	item->amount = part->scales[kind] * (double)amount;
	item->part = diff_has_event_key(diff) ? count : amount;
}

static char *make_text_of_stack(const struct report *report, const struct profile_row *row)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return NULL;
	fprintf(to, "%s%c%s%c", report->sources[row->kind].name, SEPARATOR, row->comm, SEPARATOR);
	write_folded_path(report, row->kernel, to);
	fputc(SEPARATOR, to);
	write_folded_path(report, row->user, to);
	return fclose(to) ? NULL : text;
}

const char *diff_cell_text(const struct diff_part *part, const struct table_row *row,
			   enum table_key key, char room[DIFF_CELL_ROOM])
{
	return report_table_cell_text(part->table, part->report.sources, row, key, room);
}

static char *make_text_of_row(const struct diff *diff, const struct diff_part *part,
			      const struct table_row *row)
{
	char *text = NULL, room[DIFF_CELL_ROOM];
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		return NULL;
	fputs(part->report.sources[row->kind].name, to);
	for (u32 key = 0; key < TABLE_KEY_COUNT; key++)
		if (diff->fields.keys & 1U << key)
			fprintf(to, "%c%s", SEPARATOR, diff_cell_text(part, row, key, room));
	return fclose(to) ? NULL : text;
}

static u32 count_rows(const struct diff_part *part)
{
	return part->table ? part->table->row_count : part->report.profile->row_count;
}

/* Sets the items of a recording's rows. The side's list has room for the rows of all its
 * recordings. */
static int list_items_of_recording(struct diff *diff, enum comparison_side side, u32 number,
				   u32 *listed)
{
	const struct diff_part *part = diff->side[side].parts[number];
	struct compared_item *items = diff->list[side].items;

	for (u32 i = 0; i < count_rows(part); i++, ++*listed) {
		const struct diff_place place = {.part = number, .row = i};

		if (part->table) {
			const struct table_row *row = &part->table->rows[i];
			const struct table_sum *sum =
				diff->values->children ? &row->children : &row->self;

			items[*listed].text = make_text_of_row(diff, part, row);
			set_item_of_comparison(diff, side, *listed, &place, row->kind, row->slice,
					       sum->count, sum->value);
		} else {
			const struct profile_row *row = part->report.profile->rows[i];

			items[*listed].text = make_text_of_stack(&part->report, row);
			set_item_of_comparison(diff, side, *listed, &place, row->kind, row->slice,
					       row->count, row->value);
		}
		if (!items[*listed].text)
			return -ENOMEM;
	}
	return 0;
}

static int list_items_of_side(struct diff *diff, enum comparison_side side)
{
	struct diff_side *recordings = &diff->side[side];
	u32 count = 0, listed = 0;
	int err = set_denominators_of_shares(diff, side);

	for (u32 i = 0; i < recordings->part_count && !err; i++) {
		const struct table_options options = {.keys = diff->fields.keys,
						      .by = recordings->parts[i]->report.weights.by,
						      .by_file_name = true,
						      .reader = recordings->parts[i]->report.reader,
						      .attribute = report_attribute(&diff->fields)};

		err = diff->values->stacks
			      ? 0
			      : report_table_create(recordings->parts[i]->report.profile, &options,
						    &recordings->parts[i]->table);
		count += err ? 0 : count_rows(recordings->parts[i]);
	}
	err = err ?: compared_list_create(&diff->list[side], count);
	recordings->places = calloc(count + 1UL, sizeof(*recordings->places));
	if (!recordings->places)
		err = -ENOMEM;
	for (u32 i = 0; i < recordings->part_count && !err; i++)
		err = list_items_of_recording(diff, side, i, &listed);
	return err;
}

static int compare_recordings_of_sides(struct diff *diff)
{
	int err = 0;
	u32 met = 0;

	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++)
		for (u32 i = 0; i < diff->side[side].part_count && !err; i++)
			err = add_event_sums_by_source(diff, side, diff->side[side].parts[i]);
	for (u32 i = 0; i < diff->source_count; i++)
		met += diff->sources[i].counts[BEFORE] || diff->sources[i].counts[AFTER];
	diff->many_sources = met > 1;
	err = err ?: list_items_of_side(diff, BEFORE);
	err = err ?: list_items_of_side(diff, AFTER);
	err = err ?: comparison_create(diff->list, diff->units, &diff->comparison);
	err = err ?: comparison_find_noise(diff->list, diff->units, diff->comparison);
	return err ?: diff_print(diff);
}

static int read_and_compare(struct diff *diff, struct frame_naming *naming,
			    struct stackmap_error *error)
{
	struct trace_reader *readers[COMPARISON_SIDES * DIFF_RECORDINGS_MAX];
	u32 count = 0;
	int err = 0;

	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++)
		for (u32 i = 0; i < diff->side[side].part_count; i++) {
			err = err
				      ?: read_ledger_of_diff_part(&diff->side[side],
								  diff->side[side].parts[i]);
			readers[count++] = diff->side[side].parts[i]->report.reader;
		}
	names_check_boots(naming, readers, count);
	for (u32 side = BEFORE; side < COMPARISON_SIDES && !err; side++)
		err = make_comparison_units(diff, &diff->side[side], &diff->units[side], error);
	for (u32 side = BEFORE; side < COMPARISON_SIDES && !err; side++)
		for (u32 i = 0; i < diff->side[side].part_count && !err; i++)
			err = profile_create_split(
				diff->side[side].parts[i]->report.reader,
				&diff->side[side].parts[i]->choice.filter, naming,
				event_split_of_table_keys(diff->fields.keys),
				&diff->side[side].parts[i]->slices,
				&diff->side[side].parts[i]->report.profile, error);
	if (err)
		return err;
	err = compare_recordings_of_sides(diff);
	return err ? error_set(error, -err, "diff: %s", strerror(-err)) : 0;
}

static int check_options(const struct diff_values *values)
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
	if (check_options(values) || report_parse_percent(values->min_percent, &diff->least))
		return -EINVAL;
	if (!values->stacks && report_fields_parse(values->sort ?: "symbol", NULL, &diff->fields))
		return -EINVAL;
	return diff_choose(values, count, operands, diff);
}

static int diff_run(const void *arg, int count, char **operands)
{
	struct stackmap_error error;
	struct frame_naming naming;
	struct diff diff;
	int status, err;

	if (make_diff(arg, count, operands, &diff)) {
		diff_close(&diff, 0, NULL);
		return EXIT_USAGE;
	}
	status = recording_names_open(&diff.values->names, &diff.side[BEFORE].parts[0]->choice,
				      &naming);
	if (status) {
		diff_close(&diff, 0, NULL);
		return status;
	}
	status = diff_open(&diff);
	if (status) {
		diff_close(&diff, 0, NULL);
	} else {
		err = read_and_compare(&diff, &naming, &error);
		comparison_free(&diff.comparison);
		for (u32 i = BEFORE; i < COMPARISON_SIDES; i++) {
			struct diff_side *side = &diff.side[i];

			compared_list_free(&diff.list[i]);
			free(diff.units[i].wholes);
			free(diff.units[i].lost_of);
			free(diff.units[i].amounts);
			free(diff.units[i].events);
			free(diff.units[i].divisors);
			free(side->places);
			for (u32 p = 0; p < side->part_count; p++) {
				report_table_free(&side->parts[p]->table);
				profile_weights_clear(&side->parts[p]->report.weights);
				profile_free(&side->parts[p]->report.profile);
			}
		}
		free(diff.sources);
		status = diff_close(&diff, err, &error);
	}
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
	{.name = "noise", .type = OPTION_FLAG, ROW(noise, .group = "Output"),
	 .help = "also changes within the noise (--json, --csv: always)"},
	{.name = "json", .letter = 'j', .type = OPTION_FLAG, ROW(json, .group = "Output"),
	 .help = "one JSON object: ledgers and rows or stacks"},
	{.name = "csv", .type = OPTION_FLAG, ROW(csv, .group = "Output"),
	 .help = "comma-separated values"},
	{.name = "no-pager", .type = OPTION_FLAG, ROW(no_pager, .group = "Output"),
	 .help = "straight to the terminal"},
	NAMES_ROWS(struct diff_values, names),
	FOLD_ROW(struct diff_values, names),
	VALUE_ROW(struct diff_values, recording.value),
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
