/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flat table: percentages, numbers and keys. Each source has its own table, as percentages are of
 * the source's own events. If the source is one of the keys, one table has all rows, sorted by
 * number of events. CSV and JSON always have one table.
 *
 * A key in the list of columns also distinguishes rows, as with perf, so one of the two lists is
 * enough.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"
#include "terminal/message.h"
#include "terminal/terminal.h"

#define TITLE_COLUMNS 32 /* width of a table's title without the name of the source */
/* Columns of a text without a terminal. A longer text moves the rest of its line to the right. */
#define TEXT_COLUMN_MAX 48

#define X(id, name) [MEASURE_##id] = name,
static const char *const measure_names[] = {TABLE_MEASURES(X)};
#undef X

#define X(id, name, ...) " " name
const char report_key_words[] = TABLE_KEYS(X);
const char report_field_words[] = TABLE_KEYS(X) TABLE_MEASURES(X);
#undef X

#define FRAME_KEYS (1U << TABLE_DSO | 1U << TABLE_SYMBOL)

#define ATTRIBUTE_PREFIX "attribute:"

bool report_is_attribute(const char *word)
{
	size_t length = strlen(ATTRIBUTE_PREFIX);

	return strncmp(word, ATTRIBUTE_PREFIX, length) ? strchr(word, '.') != NULL : word[length];
}

const char *report_attribute_name(const char *word)
{
	size_t length = strlen(ATTRIBUTE_PREFIX);

	return word + (strncmp(word, ATTRIBUTE_PREFIX, length) ? 0 : length);
}

const char *report_attribute(const struct report_fields *fields)
{
	return report_attribute_name(fields->attribute);
}

const char *report_key_title(const struct report_fields *fields, enum table_key key)
{
	return key == TABLE_ATTRIBUTE ? fields->attribute : table_key_name(key);
}

static const char *field_title(const struct report_fields *fields, const struct table_field *field)
{
	return field->is_key ? report_key_title(fields, field->key) : measure_names[field->measure];
}

static void append_field(struct report_fields *fields, struct table_field field)
{
	if (field.is_key)
		fields->keys |= 1U << field.key;
	for (u32 i = 0; i < fields->count; i++)
		if (fields->field[i].is_key == field.is_key &&
		    (field.is_key ? fields->field[i].key == field.key
				  : fields->field[i].measure == field.measure))
			return;
	fields->field[fields->count++] = field;
}

static void append_key_column(struct report_fields *fields, enum table_key key)
{
	append_field(fields, (struct table_field){.is_key = true, .key = key});
}

static void append_measure_column(struct report_fields *fields, enum table_measure measure)
{
	append_field(fields, (struct table_field){.measure = measure});
}

static int append_attribute(struct report_fields *fields, const char *option, const char *name)
{
	if (fields->attribute[0] && strcmp(fields->attribute, name) != 0) {
		message("%s %s: a table has one attribute, and %s is one already", option, name,
			fields->attribute);
		return -EINVAL;
	}
	strcpy(fields->attribute, name);
	append_key_column(fields, TABLE_ATTRIBUTE);
	return 0;
}

static int append_field_by_name(struct report_fields *fields, const char *option, const char *name,
				bool measures)
{
	struct table_field field = {.is_key = true};

	if (report_is_attribute(name))
		return append_attribute(fields, option, name);
	if (!table_key_find(name, &field.key)) {
		append_field(fields, field);
		return 0;
	}
	field.is_key = false;
	for (u32 i = 0; measures && i < TABLE_MEASURE_COUNT; i++)
		if (!strcmp(measure_names[i], name)) {
			field.measure = i;
			append_field(fields, field);
			return 0;
		}
	message("%s %s: no such %s, there are:%s", option, name, measures ? "field" : "key",
		measures ? report_field_words : report_key_words);
	return -EINVAL;
}

static int parse_field_list(const char *option, const char *list, bool measures,
			    struct report_fields *fields)
{
	char name[REPORT_KEY_ROOM];
	int err = 0;

	for (const char *end; !err; list = end + 1) {
		end = strchrnul(list, ',');
		snprintf(name, sizeof(name), "%.*s", (int)(end - list), list);
		err = append_field_by_name(fields, option, name, measures);
		if (!*end)
			break;
	}
	return err;
}

int report_fields_parse(const char *sort, const char *columns, struct report_fields *fields)
{
	struct report_fields keys = {}, shown = {};

	if (sort && parse_field_list("--sort", sort, false, &keys))
		return -EINVAL;
	strcpy(shown.attribute, keys.attribute);
	if (!columns) {
		/*
		 * Percentages come first, then numbers. The column `children` is shown only for
		 * keys with which it differs from `self`.
		 */
		if (keys.keys & FRAME_KEYS)
			append_measure_column(&shown, MEASURE_CHILDREN);
		append_measure_column(&shown, MEASURE_SELF);
		append_measure_column(&shown, MEASURE_COUNT);
		for (u32 i = 0; i < keys.count; i++)
			append_key_column(&shown, keys.field[i].key);
	} else if (parse_field_list("--fields", columns, true, &shown))
		return -EINVAL;
	*fields = shown;
	fields->keys |= keys.keys;
	return 0;
}

void report_fields_add_event(struct report_fields *fields)
{
	struct report_fields with = {.keys = fields->keys};

	strcpy(with.attribute, fields->attribute);
	append_key_column(&with, TABLE_EVENT);
	for (u32 i = 0; i < fields->count; i++)
		append_field(&with, fields->field[i]);
	*fields = with;
}

int report_fields_check_store(const struct report_fields *fields)
{
	static const enum table_key keys[] = {TABLE_PID,   TABLE_TID,  TABLE_CPU,
					      TABLE_TRACE, TABLE_SPAN, TABLE_ATTRIBUTE};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (fields->keys & 1U << keys[i]) {
			message("--sort %s: a store has no %s", report_key_title(fields, keys[i]),
				i < 3	? "processes, threads and CPUs"
				: i < 5 ? "trace ids"
					: "attributes of processes");
			return -EINVAL;
		}
	return 0;
}

struct view {
	const struct report *report;
	const struct report_fields *fields;
	struct report_table *table;
	bool together; /* true: percentages are of the events of all sources */
	u32 kind;      /* source of the last row that is_next_row_shown() was called for */
	u64 taken;     /* number of rows so far of this source, or of all sources */
};

static const struct table_sum *table_sum_of_measure(const struct table_row *row,
						    enum table_measure measure)
{
	switch (measure) {
	case MEASURE_CHILDREN:
	case MEASURE_CHILDREN_COUNT:
	case MEASURE_CHILDREN_VALUE:
		return &row->children;
	default:
		return &row->self;
	}
}

static bool is_percentage(enum table_measure measure)
{
	return measure == MEASURE_SELF || measure == MEASURE_CHILDREN;
}

static bool is_value_measure(enum table_measure measure)
{
	return measure == MEASURE_VALUE || measure == MEASURE_CHILDREN_VALUE;
}

static double measure_share(const struct view *view, const struct table_row *row,
			    enum table_measure measure)
{
	const struct report *report = view->report;
	const struct table_sum *sum = table_sum_of_measure(row, measure);
	u64 all = report->profile->count;

	if (!view->together)
		return report_percent(report, row->kind,
				      table_sum_weight(sum, report->weights.by[row->kind]));
	return all ? 100.0 * (double)sum->count / (double)all : 0;
}

static u64 choose_sum_of_measure(const struct table_row *row, enum table_measure measure)
{
	const struct table_sum *sum = table_sum_of_measure(row, measure);

	return is_value_measure(measure) ? sum->value : sum->count;
}

static bool is_row_shown(const struct view *view, const struct table_row *row)
{
	return measure_share(view, row, MEASURE_CHILDREN) >= view->report->least;
}

#define CELL_ROOM 48

/* Returns the cell's text, or a number formatted into `room`. */
static const char *cell_text(const struct view *view, const struct table_row *row,
			     const struct table_field *field, char room[CELL_ROOM])
{
	enum table_measure measure = field->measure;

	if (field->is_key)
		return report_table_cell_text(view->table, view->report->sources, row, field->key,
					      room);
	if (is_percentage(measure))
		snprintf(room, CELL_ROOM, "%.2f%%", measure_share(view, row, measure));
	else if (is_value_measure(measure))
		snprintf(room, CELL_ROOM, "%s",
			 format_value_of_source(view->report, row->kind,
						choose_sum_of_measure(row, measure)));
	else
		snprintf(room, CELL_ROOM, "%llu",
			 (unsigned long long)choose_sum_of_measure(row, measure));
	return room;
}

static bool is_text_column(const struct table_field *field)
{
	return field->is_key && field->key != TABLE_PID && field->key != TABLE_TID &&
	       field->key != TABLE_CPU;
}

/* Prints a cell. Without a width limit a text may be longer than its column. */
static void print_cell(const struct table_field *field, const char *text, u32 width, bool is_last)
{
	bool is_cut = is_text_column(field) && terminal_width();
	size_t length = printable_count(text);
	int padding = length < width ? (int)(width - length) : 0;

	if (!is_text_column(field))
		printf("%*s", padding, "");
	printable_put_cut(text, is_cut ? width : 0, stdout);
	if (is_text_column(field) && !is_last)
		printf("%*s", padding, "");
	fputs(is_last ? "\n" : "  ", stdout);
}

static void set_column_widths(const struct view *view, const struct table_row *rows, u32 count,
			      u32 *widths)
{
	const struct report_fields *fields = view->fields;
	char room[CELL_ROOM];
	u32 texts = 0;

	for (u32 f = 0; f < fields->count; f++) {
		const struct table_field *field = &fields->field[f];

		texts |= (u32)is_text_column(field) << f;
		widths[f] = (u32)strlen(field_title(fields, field)) + (f ? 0 : 2);
		for (u32 i = 0; i < count && i < view->report->limit; i++) {
			size_t length = printable_count(cell_text(view, &rows[i], field, room));

			if (length > widths[f] && (length <= TEXT_COLUMN_MAX || terminal_width()))
				widths[f] = (u32)length;
		}
	}
	shrink_columns_to_terminal(widths, fields->count, texts);
}

static void print_rows(const struct view *view, const struct table_row *rows, u32 count)
{
	u32 widths[TABLE_FIELDS_MAX];
	u64 shown = 0;
	const struct report_fields *fields = view->fields;
	char room[CELL_ROOM];

	set_column_widths(view, rows, count, widths);
	printf("# ");
	for (u32 i = 0; i < fields->count; i++)
		print_cell(&fields->field[i], field_title(fields, &fields->field[i]),
			   widths[i] - (i ? 0 : 2), i + 1 == fields->count);
	for (u32 i = 0; i < count && shown < view->report->limit && !ferror(stdout); i++) {
		if (!is_row_shown(view, &rows[i]))
			continue;
		for (u32 f = 0; f < fields->count; f++)
			print_cell(&fields->field[f],
				   cell_text(view, &rows[i], &fields->field[f], room), widths[f],
				   f + 1 == fields->count);
		shown++;
	}
	if (shown == view->report->limit && shown < count)
		printf("# %llu of %u rows shown, --top 0 shows all\n", (unsigned long long)shown,
		       count);
}

static int make_table_view(struct view *view, const struct report *report,
			   const struct report_table_request *request)
{
	enum profile_weight *by_count = calloc(report->source_count + 1UL, sizeof(*by_count));
	struct table_options options = {.keys = request->fields.keys,
					.by_children = request->by_children,
					.reader = report->reader,
					.attribute = report_attribute(&request->fields)};
	int err;

	if (!by_count)
		return -ENOMEM;
	*view = (struct view){.report = report, .fields = &request->fields};
	view->together = options.keys & 1U << TABLE_EVENT;
	options.together = view->together;
	options.by = view->together ? by_count : report->weights.by;
	err = report_table_create(report->profile, &options, &view->table);
	free(by_count);
	return err;
}

int report_table_plain(const struct report *report, const struct report_table_request *request)
{
	struct view view;
	u32 next, count;
	int err = make_table_view(&view, report, request);

	if (err)
		return err;
	count = view.table->row_count;
	if (view.together) {
		putchar('\n');
		print_rows(&view, view.table->rows, count);
	}
	for (u32 first = 0; first < count && !view.together; first = next) {
		u32 kind = view.table->rows[first].kind;
		u64 total;

		for (next = first; next < count && view.table->rows[next].kind == kind;)
			next++;
		total = view.report->weights.totals[kind];
		printf("\n# ");
		printable_put_cut(view.report->sources[kind].name,
				  columns_left_in_terminal_line(TITLE_COLUMNS), stdout);
		if (view.report->weights.by[kind] == WEIGHT_VALUE)
			printf(": %s\n", format_value_of_source(view.report, kind, total));
		else
			printf(": %llu events\n", (unsigned long long)total);
		print_rows(&view, &view.table->rows[first], next - first);
	}
	report_table_free(&view.table);
	return 0;
}

/*
 * True if the next row is to be shown: each source has as many rows as a separate table would have.
 */
static bool is_next_row_shown(struct view *view, const struct table_row *row)
{
	if (!is_row_shown(view, row))
		return false;
	if (!view->together && row->kind != view->kind) {
		view->kind = row->kind;
		view->taken = 0;
	}
	return view->taken++ < view->report->limit;
}

int report_table_csv(const struct report *report, const struct report_table_request *request)
{
	struct report_fields fields = request->fields;
	char room[CELL_ROOM];
	u32 sources = 0;
	struct view view;
	int err = make_table_view(&view, report, request);

	if (err)
		return err;
	for (u32 i = 0; i < report->source_count; i++)
		sources += report->weights.counts[i] != 0;
	if (sources > 1)
		report_fields_add_event(&fields);
	for (u32 i = 0; i < fields.count; i++)
		printf("%s%s", i ? "," : "", field_title(&fields, &fields.field[i]));
	putchar('\n');
	for (u32 i = 0; i < view.table->row_count && !ferror(stdout); i++) {
		const struct table_row *row = &view.table->rows[i];

		if (!is_next_row_shown(&view, row))
			continue;
		for (u32 f = 0; f < fields.count; f++) {
			const struct table_field *field = &fields.field[f];
			const char *comma = f ? "," : "";

			if (field->is_key && !table_row_has(row, field->key))
				fputs(comma, stdout);
			else if (field->is_key)
				csv_put(comma, cell_text(&view, row, field, room), stdout);
			else if (is_percentage(field->measure))
				printf("%s%.4f", comma, measure_share(&view, row, field->measure));
			else
				printf("%s%llu", comma,
				       (unsigned long long)choose_sum_of_measure(row,
										 field->measure));
		}
		putchar('\n');
	}
	report_table_free(&view.table);
	return 0;
}

static json_t *make_json_of_table_sum(const struct view *view, const struct table_row *row,
				      enum table_measure share)
{
	const struct table_sum *sum = table_sum_of_measure(row, share);

	json_t *object =
		json_pack("{s:f, s:I, s:I}", "percent", measure_share(view, row, share), "count",
			  (json_int_t)sum->count, "value", (json_int_t)sum->value);

	if (object && json_set_standard_error(object, view->report->sources[row->kind].name,
					      sum->estimates)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *row_json(const struct view *view, const struct table_row *row)
{
	json_t *object = json_pack("{s:o, s:o, s:o}", "event",
				   json_text(view->report->sources[row->kind].name), "self",
				   make_json_of_table_sum(view, row, MEASURE_SELF), "children",
				   make_json_of_table_sum(view, row, MEASURE_CHILDREN));
	char room[CELL_ROOM];

	for (u32 key = 0; object && key < TABLE_KEY_COUNT; key++) {
		const struct table_field field = {.is_key = true, .key = key};
		json_t *cell;

		if (key == TABLE_EVENT || !(view->fields->keys & 1U << key))
			continue;
		if (!table_row_has(row, key))
			cell = json_null();
		else if (is_text_column(&field))
			cell = json_text(cell_text(view, row, &field, room));
		else
			cell = json_integer(row->cell[key]);
		if (json_object_set_new(object, report_key_title(view->fields, key), cell)) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

int report_table_json(const struct report *report, const struct report_table_request *request)
{
	struct view view;
	json_t *rows;
	int failed = 0, err = make_table_view(&view, report, request);

	if (err)
		return err;
	rows = json_array();
	for (u32 i = 0; i < view.table->row_count && !failed; i++)
		if (is_next_row_shown(&view, &view.table->rows[i]))
			failed = json_array_append_new(rows, row_json(&view, &view.table->rows[i]));
	report_table_free(&view.table);
	if (failed) {
		json_decref(rows);
		rows = NULL;
	}
	return report_put_json(report, json_pack("{s:o}", "rows", rows));
}
