/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits by both ends (report --wakers): both stacks of each pair, and chains of waits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"
#include "terminal/terminal.h"

#define STEP_FRAMES 4U /* of a step that is printed */

/* "worker", "timer hrtimer_wakeup", or "[not recorded]". */
static void put_end(const struct wait_end *end, FILE *to)
{
	if (!end->kernel)
		fputs("[not recorded]", to);
	else if (end->interrupt)
		fprintf(to, "%s ", end->interrupt);
	printable_put(end->interrupt ? end->function ?: "" : end->kernel ? end->comm : "", to);
}

static void print_ends(const struct wait_pair *pair)
{
	fputs(pair->sleeper.is_idle ? "idle " : "", stdout);
	put_end(&pair->sleeper, stdout);
	fputs(pair->waker.holds_lock ? " <- held by " : " <- ", stdout);
	put_end(&pair->waker, stdout);
}

static void print_times(const struct wait_pair *pair)
{
	printf("  %s", report_time_text(pair->total));
	if (pair->count > 1)
		printf(", at most %s", report_time_text(pair->most));
	if (pair->until_run * 100 >= pair->total && pair->until_run)
		printf(", of it %s woken but without a CPU", report_time_text(pair->until_run));
}

static void print_stack(const struct report *report, const struct wait_end *end, const char *does)
{
	const struct profile_row row = {.kernel = end->kernel, .user = end->user};

	if (!end->kernel)
		return;
	printf("  ");
	put_end(end, stdout);
	printf(" %s\n", does);
	report_put_stack(report, &row);
}

void report_put_pair(const struct report *report, const struct wait_pair *pair, u64 whole)
{
	printf("\n%s%6.2f%%  %llu  ", report->color ? "\033[1m" : "",
	       report_share(pair->total, whole), (unsigned long long)pair->count);
	print_ends(pair);
	print_times(pair);
	printf("%s\n", report->color ? "\033[0m" : "");
	print_stack(report, &pair->sleeper, "sleeps in");
	if (!pair->waker.holds_lock)
		print_stack(report, &pair->waker,
			    pair->waker.interrupt ? "ends the wait in" : "wakes it in");
}

/* Calls `each` for the pairs that are shown and their chains. Returns the number of shown pairs. */
static u64 each_row(const struct report *report,
		    int (*each)(const struct report *report, const struct wait_pair *const *row,
				bool is_last, void *arg),
		    void *arg, int *err)
{
	const struct wait_pairs *pairs = report->wakers;
	bool is_shown = false;
	u64 shown = 0;

	for (u32 i = 0; i < pairs->count && !*err; i++) {
		if (!pairs->rows[i]->depth) {
			is_shown =
				report_share(pairs->rows[i]->total, pairs->total) >= report->least;
			if (is_shown && shown++ == report->limit)
				return shown - 1;
		}
		if (!is_shown)
			continue;
		*err = each(report, &pairs->rows[i], i + 1 == pairs->count, arg);
	}
	return shown;
}

static int plain_row(const struct report *report, const struct wait_pair *const *row, bool is_last,
		     void *arg)
{
	const struct wait_pair *pair;
	bool has_chain;

	(void)arg;
	pair = *row;
	has_chain = !is_last && row[1]->depth > pair->depth;
	if (pair->depth) {
		const struct profile_path *path;

		printf("  %*s%llu  ", (int)(2 * pair->depth), "", (unsigned long long)pair->count);
		print_ends(pair);
		print_times(pair);
		printf("%s\n", pair->is_cycle ? "  DEADLOCK: back to a thread above" : "");
		printf("  %*s   in ", (int)(2 * pair->depth), "");
		/* The innermost frames of a step, of the user stack if there is one. */
		path = pair->sleeper.user->depth ? pair->sleeper.user : pair->sleeper.kernel;
		for (u32 i = 0; i < path->depth && i < STEP_FRAMES; i++) {
			fputs(i ? " < " : "", stdout);
			printable_put(frame_names_label(report->profile->names, path->labels[i]),
				      stdout);
		}
		if (path->depth > STEP_FRAMES)
			fputs(" < ...", stdout);
		putchar('\n');
	} else {
		report_put_pair(report, pair, report->wakers->total);
		if (has_chain)
			printf("  meanwhile, in the longest wait, %s:\n",
			       report_time_text(pair->most));
	}
	if (pair->is_partial)
		printf("  %*s   and more waits than are followed\n", (int)(2 * pair->depth), "");
	return ferror(stdout) ? -EIO : 0;
}

int report_wakers_plain(const struct report *report)
{
	const struct wait_pairs *pairs = report->wakers;
	u64 all = 0, shown;
	int err = 0;

	for (u32 i = 0; i < pairs->count; i++)
		all += !pairs->rows[i]->depth;
	printf("# %-9s %llu, together %s", "waits:", (unsigned long long)pairs->waits,
	       report_time_text(pairs->total));
	if (pairs->unknown)
		printf("; of %llu the waker is not recorded, together %s",
		       (unsigned long long)pairs->unknown, report_time_text(pairs->unknown_total));
	putchar('\n');
	if (pairs->idle)
		printf("# %-9s %llu of these, together %s, are last\n",
		       "idle:", (unsigned long long)pairs->idle,
		       report_time_text(pairs->idle_total));
	shown = each_row(report, plain_row, NULL, &err);
	if (shown == report->limit && shown < all)
		printf("\n# %llu of %llu pairs shown, --top 0 shows all\n",
		       (unsigned long long)shown, (unsigned long long)all);
	return err == -EIO ? 0 : err;
}

static int csv_end(const struct report *report, const struct wait_end *end)
{
	if (!end->kernel) {
		printf(",,,");
		return 0;
	}
	csv_put(",", end->comm, stdout);
	return report_csv_path(report, end->kernel) ?: report_csv_path(report, end->user);
}

static int csv_row(const struct report *report, const struct wait_pair *const *row, bool is_last,
		   void *arg)
{
	const struct wait_pair *pair = *row;
	int err;

	(void)arg;
	(void)is_last;
	if (pair->depth)
		return 0;
	printf("%.4f,%llu,%llu,%llu", report_share(pair->total, report->wakers->total),
	       (unsigned long long)pair->count, (unsigned long long)pair->total,
	       (unsigned long long)pair->most);
	err = csv_end(report, &pair->sleeper) ?: csv_end(report, &pair->waker);
	printf(",%s\n", pair->waker.holds_lock ? "holds" : pair->waker.kernel ? "woke" : "");
	return err;
}

int report_wakers_csv(const struct report *report)
{
	int err = 0;

	printf("share,count,total,most,comm,kernel,user,other_comm,other_kernel,other_user,"
	       "other\n");
	each_row(report, csv_row, NULL, &err);
	return err;
}

static json_t *end_object(const struct report *report, const struct wait_end *end)
{
	json_t *object;
	int failed;

	if (!end->kernel)
		return json_null();
	object = json_object();
	failed = json_object_set_new(object, "comm", json_text(end->comm));
	if (end->interrupt)
		failed |= json_object_set_new(object, "interrupt", json_text(end->interrupt));
	if (end->function)
		failed |= json_object_set_new(object, "function", json_text(end->function));
	failed |= json_object_set_new(object, "idle", json_boolean(end->is_idle));
	failed |= json_set_path(object, "kernel", report->profile, end->kernel);
	failed |= json_set_path(object, "user", report->profile, end->user);
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

json_t *report_pair_json(const struct report *report, const struct wait_pair *pair)
{
	return json_pack("{s:I, s:I, s:I, s:o, s:o, s:b}", "count", (json_int_t)pair->count,
			 "total", (json_int_t)pair->total, "most", (json_int_t)pair->most,
			 "sleeper", end_object(report, &pair->sleeper), "waker",
			 end_object(report, &pair->waker), "holds_lock", pair->waker.holds_lock);
}

static json_t *row_object(const struct report *report, const struct wait_pair *pair)
{
	const struct trace_event *longest = pair->longest;
	json_t *object = report_pair_json(report, pair);
	json_t *more =
		json_pack("{s:I, s:{s:I, s:I, s:I}, s:b, s:b, s:[]}", "until_run",
			  (json_int_t)pair->until_run, "longest", "tid", (json_int_t)longest->tid,
			  "end", (json_int_t)longest->time, "ns", (json_int_t)longest->value,
			  "deadlock", pair->is_cycle, "partial", pair->is_partial, "chain");

	if (object && more && !json_object_update(object, more)) {
		json_decref(more);
		return object;
	}
	json_decref(object);
	json_decref(more);
	return NULL;
}

/* `arg`: the lists of rows by depth. A row belongs to the last row of the depth above. */
static int json_row(const struct report *report, const struct wait_pair *const *row, bool is_last,
		    void *arg)
{
	json_t **lists = arg, *object = row_object(report, *row);

	(void)is_last;
	if (json_array_append_new(lists[(*row)->depth], object))
		return -ENOMEM;
	lists[(*row)->depth + 1] = json_object_get(object, "chain");
	return 0;
}

int report_wakers_json(const struct report *report)
{
	const struct wait_pairs *pairs = report->wakers;
	json_t *lists[WAIT_CHAIN_MAX + 2] = {json_array()}, *all;
	int err = 0;

	each_row(report, json_row, lists, &err);
	all = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)pairs->waits,
			"total", (json_int_t)pairs->total, "idle", (json_int_t)pairs->idle,
			"idle_total", (json_int_t)pairs->idle_total, "unknown",
			(json_int_t)pairs->unknown, "unknown_total",
			(json_int_t)pairs->unknown_total);
	if (!err && all)
		return report_put_json(report,
				       json_pack("{s:o, s:o}", "waits", all, "pairs", lists[0]));
	json_decref(all);
	json_decref(lists[0]);
	return -ENOMEM;
}
