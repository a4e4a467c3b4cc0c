/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Columns are as wide as their numbers; names come last, and are cut on terminals only. */
#include "top_view.h"

#include "format/printable.h"
#include "format/value_text.h"
#include "terminal/terminal.h"
#include "view/ledger_text.h"

#define OBJECT_MAX 32 /* columns for the name of a file on a terminal */

static const char *source_name(const struct top_view *view)
{
	const struct top_model *model = view->model;

	return view->choice.kind < model->source_count ? model->sources[view->choice.kind].name
						       : "";
}

/* Numbers the shown source among the sources that have events. */
static void place_among(const struct top_view *view, u32 *place, u32 *count)
{
	*place = *count = 0;
	for (u32 kind = 0; kind < view->model->source_count; kind++) {
		if (!view->model->sources[kind].weight)
			continue;
		++*count;
		if (kind <= view->choice.kind)
			*place = *count;
	}
}

static void weight_text(const struct top_view *view, char *text, size_t bytes)
{
	const struct top_model *model = view->model;
	const struct top_source *source;
	char value[VALUE_TEXT_ROOM];

	snprintf(text, bytes, "0 events");
	if (view->choice.kind >= model->source_count)
		return;
	source = &model->sources[view->choice.kind];
	if (source->unit[0])
		value_text(source->weight, source->unit, value);
	else
		snprintf(value, sizeof(value), "%llu events", (unsigned long long)source->weight);
	snprintf(text, bytes, "%s", value);
}

void top_title(const struct top_view *view, char *text, size_t bytes)
{
	char clock[16], weight[64], place_text[32] = "";
	u32 place, count;
	struct tm local;

	localtime_r(&view->time, &local);
	strftime(clock, sizeof(clock), "%T", &local);
	weight_text(view, weight, sizeof(weight));
	place_among(view, &place, &count);
	if (count > 1)
		snprintf(place_text, sizeof(place_text), "(%u of %u) ", place, count);
	snprintf(text, bytes, "%s%s%s%s  %s in %.1f s  %s%s", clock,
		 view->paused ? " [paused]" : "", view->instance ? "  " : "", view->instance ?: "",
		 weight, view->seconds, place_text, source_name(view));
}

static void map_text(const struct table_stat *stacks, char *text, size_t bytes)
{
	u64 refused = table_stat_refused(stacks);

	if (refused)
		snprintf(text, bytes, "; stack map: full, %llu stacks of events are not in it",
			 (unsigned long long)refused);
	else if (stacks->max_entries)
		snprintf(text, bytes, "; stack map: %u %% full", table_stat_fill(stacks));
}

void top_account(const struct top_view *view, char *text, size_t bytes)
{
	char ledger[256], map[128] = "";

	ledger_line(view->ledger, ledger, sizeof(ledger));
	if (view->instance)
		map_text(view->stacks, map, sizeof(map));
	snprintf(text, bytes, "ledger: %s%s", ledger, map);
}

const char *top_columns(const struct top_view *view)
{
	if (view->choice.stacks)
		return "  SHARE  COMMAND          INNERMOST FUNCTION";
	return view->choice.order == TOP_BY_SELF ? "  SELF*   TOTAL  FUNCTION"
						 : "  SELF    TOTAL* FUNCTION";
}

void top_line_start(const struct top_line *line, char *text, size_t bytes)
{
	switch (line->type) {
	case TOP_LINE_FUNCTION:
		snprintf(text, bytes, "%6.2f%% %6.2f%%  ", line->self, line->total);
		break;
	case TOP_LINE_STACK:
		snprintf(text, bytes, "%6.2f%%  %-15s  ", line->self, line->comm);
		break;
	case TOP_LINE_PART:
		snprintf(text, bytes, "         %6.2f%%  %s", line->self,
			 line->comm[0] ? line->comm : "[unknown]");
		break;
	case TOP_LINE_FRAME:
	case TOP_LINE_END:
		snprintf(text, bytes, "             [%c] ", line->in_kernel ? 'k' : 'u');
		break;
	case TOP_LINE_VALUES:
		snprintf(text, bytes, "         ");
		break;
	}
}

/* A line is cut to the width of the terminal. */
static void print_line(const struct top_line *line, FILE *to)
{
	char start[64];
	u32 object, used;

	top_line_start(line, start, sizeof(start));
	printable_put(start, to);
	object = printable_count(line->object);
	object = object > OBJECT_MAX && terminal_width() ? OBJECT_MAX : object;
	used = printable_count(start) + (object ? object + 2 : 0);
	printable_put_cut(line->text, terminal_left(used), to);
	if (object) {
		fputs("  ", to);
		printable_put_cut(line->object, terminal_width() ? OBJECT_MAX : 0, to);
	}
	fputc('\n', to);
}

void top_print(const struct top_view *view, u64 limit, FILE *to)
{
	char text[512];

	top_title(view, text, sizeof(text));
	printable_put(text, to);
	fputc('\n', to);
	top_account(view, text, sizeof(text));
	fprintf(to, "%s\n%s\n", text, top_columns(view));
	for (u32 i = 0; i < view->lines.count; i++) {
		if (view->lines.lines[i].key && !limit--)
			break;
		print_line(&view->lines.lines[i], to);
	}
	fputc('\n', to);
}
