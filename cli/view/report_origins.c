/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints events of queued work, with the stack of the work and the stack of the thread that queued
 * it (report --origins).
 */
#include <errno.h>
#include <stdio.h>

#include "csv.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"

static double row_share(const struct report *report, const struct origin_row *row)
{
	return percent_or_zero(origin_row_weight(report->origins, row),
			       report->origins->weights[row->kind]);
}

static u32 count_shown_rows(const struct report *report)
{
	u32 count = 0;

	while (count < report->origins->count && count < report->limit &&
	       row_share(report, report->origins->rows[count]) >= report->least)
		count++;
	return count;
}

/*
 * Prints the thread or the interrupt that queued the work or does it: a thread with its name, an
 * interrupt with its kind and the function that it called.
 */
static void print_name_of_wait_end(const struct wait_end *end)
{
	if (end->interrupt)
		printf("%s ", end->interrupt);
	printable_put(end->interrupt ? end->function ?: "" : end->comm, stdout);
}

int report_origins_plain(const struct report *report)
{
	u32 shown = count_shown_rows(report);

	printf("# %-9s %llu events are of work that was queued, or ends of spans, and their origin "
	       "is "
	       "known\n",
	       "origins:", (unsigned long long)report->origins->events);
	for (u32 i = 0; i < shown && !ferror(stdout); i++) {
		const struct origin_row *row = report->origins->rows[i];
		const struct wait_end *origin = &row->origin;
		const struct profile_row work = {.kernel = row->work.kernel,
						 .user = row->work.user};
		const struct profile_row queued = {.kernel = origin->kernel, .user = origin->user};
		const struct origin_row one = {.kind = row->kind, .value = 1};

		printf("\n%s%6.2f%%  %llu  ", report->color ? "\033[1m" : "",
		       row_share(report, row), (unsigned long long)row->count);
		print_name_of_wait_end(&row->work);
		printf("  ");
		printable_put(report->sources[row->kind].name, stdout);
		/* Events that weigh by their value also have a sum of values. */
		if (origin_row_weight(report->origins, &one))
			printf("  %s", format_value_of_source(report, row->kind, row->value));
		printf("%s\n", report->color ? "\033[0m" : "");
		print_kernel_and_user_path(report, &work);
		fputs(row->is_begin ? "  begun by " : "  queued by ", stdout);
		print_name_of_wait_end(origin);
		printf(" up to %s before, in\n", format_duration_ns(row->longest));
		print_kernel_and_user_path(report, &queued);
	}
	if (shown == report->limit && shown < report->origins->count)
		printf("\n# %u of %u rows shown, --top 0 shows all\n", shown,
		       report->origins->count);
	return 0;
}

int report_origins_csv(const struct report *report)
{
	u32 shown = count_shown_rows(report);
	int err = 0;

	printf("share,count,value,longest,event,comm,kernel,user,origin_comm,origin_kernel,"
	       "origin_user\n");
	for (u32 i = 0; i < shown && !err && !ferror(stdout); i++) {
		const struct origin_row *row = report->origins->rows[i];

		printf("%.4f,%llu,%llu,%llu", row_share(report, row),
		       (unsigned long long)row->count, (unsigned long long)row->value,
		       (unsigned long long)row->longest);
		csv_put(",", report->sources[row->kind].name, stdout);
		csv_put(",", row->work.comm, stdout);
		err = print_path_as_csv(report, row->work.kernel)
			      ?: print_path_as_csv(report, row->work.user);
		csv_put(",", row->origin.comm, stdout);
		err = err ?: print_path_as_csv(report, row->origin.kernel)
				  ?: print_path_as_csv(report, row->origin.user);
		putchar('\n');
	}
	return err;
}

static json_t *make_json_of_origin_end(const struct report *report, const struct wait_end *end)
{
	json_t *object = json_pack("{s:o, s:s*, s:s*}", "comm", json_text(end->comm), "interrupt",
				   end->interrupt, "function", end->function);
	int failed = json_set_names_of_stack_path(object, "kernel", report->profile, end->kernel) |
		     json_set_names_of_stack_path(object, "user", report->profile, end->user);

	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

int report_origins_json(const struct report *report)
{
	u32 shown = count_shown_rows(report);
	json_t *rows = json_array();
	int failed = !rows;

	for (u32 i = 0; i < shown && !failed; i++) {
		const struct origin_row *row = report->origins->rows[i];

		failed = json_array_append_new(
			rows, json_pack("{s:o, s:I, s:I, s:I, s:o, s:o}", "event",
					json_text(report->sources[row->kind].name), "count",
					(json_int_t)row->count, "value", (json_int_t)row->value,
					"longest", (json_int_t)row->longest, "work",
					make_json_of_origin_end(report, &row->work),
					row->is_begin ? "begun_by" : "queued_by",
					make_json_of_origin_end(report, &row->origin)));
	}
	if (!failed)
		return report_put_json(report, json_pack("{s:I, s:o}", "events",
							 (json_int_t)report->origins->events,
							 "origins", rows));
	json_decref(rows);
	return -ENOMEM;
}
