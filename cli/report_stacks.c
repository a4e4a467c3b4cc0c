/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The hottest stacks. */
#include <errno.h>
#include <stdio.h>

#include "csv.h"
#include "format/json_text.h"
#include "report.h"
#include "terminal.h"

/* A missing stack that nothing was lost of (user mode) is only worth a line where there is no
 * other. */
static void print_path(const struct report *report, const struct profile_path *path,
		       const char *tag, bool alone)
{
	for (u32 i = 0; i < path->depth; i++) {
		printf("    %s ", tag);
		terminal_put_name(frame_names_label(report->profile->names, path->labels[i]),
				  stdout);
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
	return report_percent(report, row->kind, profile_row_weight(row, report->by[row->kind]));
}

static void print_row(const struct report *report, const struct profile_row *row)
{
	const struct trace_source *source = &report->sources[row->kind];

	printf("\n%s%6.2f%%  %llu  ", report->color ? "\033[1m" : "", row_percent(report, row),
	       (unsigned long long)row->count);
	terminal_put_name(row->comm[0] ? row->comm : "[unknown]", stdout);
	printf("  ");
	terminal_put_name(source->name, stdout);
	if (source->extras & TRACE_EXTRA_VALUE)
		printf("  %llu%s", (unsigned long long)row->value, report_unit(report, row->kind));
	printf("%s\n", report->color ? "\033[0m" : "");
	report_put_stack(report, row);
}

/* How many rows are shown: they are in the order of their shares. */
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

const char *report_path_text(const struct report *report, const struct profile_path *path)
{
	static char text[1 << 16];
	const char *marker = profile_path_marker(path);
	size_t used = 0;

	text[0] = '\0';
	for (u32 i = 0; i < path->depth + (marker != NULL) && used < sizeof(text); i++) {
		const char *name =
			i < path->depth ? frame_names_label(report->profile->names, path->labels[i])
					: marker;

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ";" : "",
					 name);
	}
	return text;
}

static void csv_row(const struct report *report, const struct profile_row *row)
{
	printf("%.4f,%llu,%llu,", row_percent(report, row), (unsigned long long)row->count,
	       (unsigned long long)row->value);
	csv_put(report->sources[row->kind].name, stdout);
	putchar(',');
	csv_put(row->comm, stdout);
	putchar(',');
	csv_put(report_path_text(report, row->kernel), stdout);
	putchar(',');
	csv_put(report_path_text(report, row->user), stdout);
	putchar('\n');
}

int report_stacks_csv(const struct report *report)
{
	u32 shown = shown_rows(report);

	printf("self,count,value,event,comm,kernel,user\n");
	for (u32 i = 0; i < shown && !ferror(stdout); i++)
		csv_row(report, report->profile->rows[i]);
	return 0;
}

int report_stacks_json(const struct report *report)
{
	json_t *ledger = json_ledger(trace_reader_ledger(report->reader));
	json_t *stacks = json_stacks(report->reader, report->profile, shown_rows(report));

	return json_put(json_pack("{s:o, s:o}", "ledger", ledger, "stacks", stacks), stdout);
}
