/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The hottest stacks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"
#include "terminal/terminal.h"

/* A path without frames gets a line if something was lost, or if the event has no other stack
 * (`alone`): an event in user mode has no kernel stack, which is no loss. */
static void print_path(const struct report *report, const struct profile_path *path,
		       const char *tag, bool alone)
{
	for (u32 i = 0; i < path->depth; i++) {
		printf("    %s ", tag);
		printable_put_cut(frame_names_label(report->profile->names, path->labels[i]),
				  terminal_left(8), stdout);
		putchar('\n');
	}
	if (alone || stack_end_is_cut(path->end))
		printf("    %s %s %s\n", tag, path->end->marker, path->end->meaning);
}

void report_put_stack(const struct report *report, const struct profile_row *row)
{
	bool alone = !row->kernel->depth && !row->user->depth;

	print_path(report, row->kernel, "[k]", alone);
	print_path(report, row->user, "[u]", alone);
}

static double row_percent(const struct report *report, const struct profile_row *row)
{
	return report_percent(report, row->kind,
			      profile_row_weight(row, report->weights.by[row->kind]));
}

static void print_row(const struct report *report, const struct profile_row *row)
{
	const struct trace_source *source = &report->sources[row->kind];
	const char *comm = row->comm[0] ? row->comm : "[unknown]", *value = "", *error = "";
	u32 used;

	if (source->extras & TRACE_EXTRA_VALUE && strcmp(source->value_unit, TRACE_UNIT_ADDRESS))
		value = report_value(report, row->kind, row->value);
	if (value[0])
		error = report_error(report, row->kind, row->estimates);
	printf("\n%s", report->color ? "\033[1m" : "");
	used = (u32)printf("%6.2f%%  %llu  ", row_percent(report, row),
			   (unsigned long long)row->count);
	used += (u32)(printable_count(comm) + 2 +
		      (value[0] ? strlen(value) + strlen(error) + 2 : 0));
	printable_put(comm, stdout);
	printf("  ");
	printable_put_cut(source->name, terminal_left(used), stdout);
	printf("%s%s%s%s\n", value[0] ? "  " : "", value, error, report->color ? "\033[0m" : "");
	report_put_stack(report, row);
}

/* Returns the number of rows to show; rows are sorted by share. */
static u32 shown_rows(const struct report *report)
{
	const struct profile *profile = report->profile;
	u32 count = 0;

	while (count < profile->row_count && count < report->limit &&
	       row_percent(report, profile->rows[count]) >= report->least)
		count++;
	return count;
}

int report_stacks_plain(const struct report *report)
{
	u32 shown = shown_rows(report);

	for (u32 i = 0; i < shown && !ferror(stdout); i++)
		print_row(report, report->profile->rows[i]);
	if (report->profile->row_count > shown && shown == report->limit)
		printf("\n# %u of %u stacks shown, --top 0 shows all\n", shown,
		       report->profile->row_count);
	return 0;
}

void report_put_path(const struct report *report, const struct profile_path *path, FILE *to)
{
	const char *marker = profile_path_marker(path);

	for (u32 i = 0; i < path->depth; i++) {
		const char *name;

		fputs(i ? ";" : "", to);
		name = frame_names_label(report->profile->names, path->labels[i]);
		for (; *name; name++)
			fputc(*name == ';' ? ':' : *name, to);
	}
	if (marker)
		fprintf(to, "%s%s", path->depth ? ";" : "", marker);
}

int report_csv_path(const struct report *report, const struct profile_path *path)
{
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);
	int err = -ENOMEM;

	if (!memory)
		return err;
	report_put_path(report, path, memory);
	if (!fclose(memory)) {
		csv_put(",", text, stdout);
		err = 0;
	}
	free(text);
	return err;
}

static int csv_row(const struct report *report, const struct profile_row *row)
{
	int err;

	printf("%.4f,%llu,%llu", row_percent(report, row), (unsigned long long)row->count,
	       (unsigned long long)row->value);
	csv_put(",", report->sources[row->kind].name, stdout);
	csv_put(",", row->comm, stdout);
	err = report_csv_path(report, row->kernel) ?: report_csv_path(report, row->user);
	putchar('\n');
	return err;
}

int report_stacks_csv(const struct report *report)
{
	u32 shown = shown_rows(report);
	int err = 0;

	printf("self,count,value,event,comm,kernel,user\n");
	for (u32 i = 0; i < shown && !ferror(stdout) && !err; i++)
		err = csv_row(report, report->profile->rows[i]);
	return err;
}

int report_stacks_json(const struct report *report)
{
	return report_put_json(report, json_pack("{s:o}", "stacks",
						 json_stacks(report->reader, report->profile,
							     shown_rows(report))));
}
