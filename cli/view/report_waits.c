/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits with their waiting thread and their waker (report --wakers): both stacks of each pair, and
 * chains of waits. Waits for locks (report --locks): for each lock, its waiting threads and
 * holders.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"
#include "terminal/terminal.h"

#define STEP_FRAMES 4U /* number of frames that are printed for a step of a chain */

/*
 * Prints the thread or interrupt at one end of a wait: "worker", "timer hrtimer_wakeup", or "[not
 * recorded]".
 */
static void print_sleeper_or_waker(const struct wait_end *end, FILE *to)
{
	if (!end->kernel)
		fputs("[not recorded]", to);
	else if (end->interrupt)
		fprintf(to, "%s ", end->interrupt);
	printable_put(end->interrupt ? end->function ?: "" : end->kernel ? end->comm : "", to);
}

static void print_sleeper_and_waker(const struct wait_pair *pair)
{
	fputs(pair->sleeper.is_idle ? "idle " : "", stdout);
	print_sleeper_or_waker(&pair->sleeper, stdout);
	fputs(pair->waker.holds_lock ? " <- held by " : " <- ", stdout);
	print_sleeper_or_waker(&pair->waker, stdout);
}

static void print_wait_times(const struct wait_pair *pair)
{
	printf("  %s", format_duration_ns(pair->total));
	if (pair->count > 1)
		printf(", at most %s", format_duration_ns(pair->most));
	if (pair->until_run * 100 >= pair->total && pair->until_run)
		printf(", of it %s woken but without a CPU", format_duration_ns(pair->until_run));
}

static void print_stack_of_wait_end(const struct report *report, const struct wait_end *end,
				    const char *does)
{
	const struct profile_row row = {.kernel = end->kernel, .user = end->user};

	if (!end->kernel)
		return;
	printf("  ");
	print_sleeper_or_waker(end, stdout);
	printf(" %s\n", does);
	print_kernel_and_user_path(report, &row);
}

void print_wait_pair_with_stacks(const struct report *report, const struct wait_pair *pair,
				 u64 whole)
{
	printf("\n%s%6.2f%%  %llu  ", report->color ? "\033[1m" : "",
	       percent_or_zero(pair->total, whole), (unsigned long long)pair->count);
	print_sleeper_and_waker(pair);
	print_wait_times(pair);
	printf("%s\n", report->color ? "\033[0m" : "");
	print_stack_of_wait_end(report, &pair->sleeper, "sleeps in");
	if (!pair->waker.holds_lock)
		print_stack_of_wait_end(report, &pair->waker,
					pair->waker.interrupt ? "ends the wait in" : "wakes it in");
}

/*
 * Calls `each` for the pairs that are to be shown, and for the steps of their chains. Returns the
 * number of shown pairs.
 */
static u64 for_each_shown_row(const struct report *report,
			      int (*each)(const struct report *report,
					  const struct wait_pair *const *row, bool is_last,
					  void *arg),
			      void *arg, int *err)
{
	const struct wait_pairs *pairs = report->wakers;
	bool is_shown = false;
	u64 shown = 0;

	for (u32 i = 0; i < pairs->count && !*err; i++) {
		if (!pairs->rows[i]->depth) {
			is_shown = percent_or_zero(pairs->rows[i]->total, pairs->total) >=
				   report->least;
			if (is_shown && shown++ == report->limit)
				return shown - 1;
		}
		if (!is_shown)
			continue;
		*err = each(report, &pairs->rows[i], i + 1 == pairs->count, arg);
	}
	return shown;
}

static int print_pair_or_step(const struct report *report, const struct wait_pair *const *row,
			      bool is_last, void *arg)
{
	const struct wait_pair *pair;
	bool has_chain;

	(void)arg;
	pair = *row;
	has_chain = !is_last && row[1]->depth > pair->depth;
	if (pair->depth) {
		const struct profile_path *path;

		printf("  %*s%llu  ", (int)(2 * pair->depth), "", (unsigned long long)pair->count);
		print_sleeper_and_waker(pair);
		print_wait_times(pair);
		printf("%s\n", pair->is_cycle ? "  DEADLOCK: back to a thread above" : "");
		printf("  %*s   in ", (int)(2 * pair->depth), "");
		/*
		 * The innermost frames of a step, from the user stack if there is one, else from
		 * the kernel stack.
		 */
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
		print_wait_pair_with_stacks(report, pair, report->wakers->total);
		if (has_chain)
			printf("  meanwhile, in the longest wait, %s:\n",
			       format_duration_ns(pair->most));
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
	       format_duration_ns(pairs->total));
	if (pairs->unknown)
		printf("; of %llu the waker is not recorded, together %s",
		       (unsigned long long)pairs->unknown,
		       format_duration_ns(pairs->unknown_total));
	putchar('\n');
	if (pairs->idle)
		printf("# %-9s %llu of these, together %s, are last\n",
		       "idle:", (unsigned long long)pairs->idle,
		       format_duration_ns(pairs->idle_total));
	shown = for_each_shown_row(report, print_pair_or_step, NULL, &err);
	if (shown == report->limit && shown < all)
		printf("\n# %llu of %llu pairs shown, --top 0 shows all\n",
		       (unsigned long long)shown, (unsigned long long)all);
	return err == -EIO ? 0 : err;
}

static int print_sleeper_or_waker_as_csv(const struct report *report, const struct wait_end *end)
{
	if (!end->kernel) {
		printf(",,,");
		return 0;
	}
	csv_put(",", end->comm, stdout);
	return print_path_as_csv(report, end->kernel) ?: print_path_as_csv(report, end->user);
}

static int print_csv_row(const struct report *report, const struct wait_pair *const *row,
			 bool is_last, void *arg)
{
	const struct wait_pair *pair = *row;
	int err;

	(void)arg;
	(void)is_last;
	if (pair->depth)
		return 0;
	printf("%.4f,%llu,%llu,%llu", percent_or_zero(pair->total, report->wakers->total),
	       (unsigned long long)pair->count, (unsigned long long)pair->total,
	       (unsigned long long)pair->most);
	err = print_sleeper_or_waker_as_csv(report, &pair->sleeper)
		      ?: print_sleeper_or_waker_as_csv(report, &pair->waker);
	printf(",%s\n", pair->waker.holds_lock ? "holds" : pair->waker.kernel ? "woke" : "");
	return err;
}

int report_wakers_csv(const struct report *report)
{
	int err = 0;

	printf("share,count,total,most,comm,kernel,user,other_comm,other_kernel,other_user,"
	       "other\n");
	for_each_shown_row(report, print_csv_row, NULL, &err);
	return err;
}

static json_t *wait_end_json(const struct report *report, const struct wait_end *end)
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
	failed |= json_set_names_of_stack_path(object, "kernel", report->profile, end->kernel);
	failed |= json_set_names_of_stack_path(object, "user", report->profile, end->user);
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

json_t *report_pair_json(const struct report *report, const struct wait_pair *pair)
{
	return json_pack("{s:I, s:I, s:I, s:o, s:o, s:b}", "count", (json_int_t)pair->count,
			 "total", (json_int_t)pair->total, "most", (json_int_t)pair->most,
			 "sleeper", wait_end_json(report, &pair->sleeper), "waker",
			 wait_end_json(report, &pair->waker), "holds_lock", pair->waker.holds_lock);
}

/*
 * `arg`: lists of JSON rows, one for each depth. A row is added to the last row of the depth
 * before.
 */
static int append_json_row(const struct report *report, const struct wait_pair *const *row,
			   bool is_last, void *arg)
{
	const struct wait_pair *pair = *row;
	const struct trace_event *longest = pair->longest;
	json_t **lists = arg, *object = report_pair_json(report, pair);
	json_t *more =
		json_pack("{s:I, s:{s:I, s:I, s:I}, s:b, s:b, s:[]}", "until_run",
			  (json_int_t)pair->until_run, "longest", "tid", (json_int_t)longest->tid,
			  "end", (json_int_t)longest->time, "ns", (json_int_t)longest->value,
			  "deadlock", pair->is_cycle, "partial", pair->is_partial, "chain");
	bool failed = !object || !more || json_object_update(object, more);

	(void)is_last;
	json_decref(more);
	if (failed) {
		json_decref(object);
		return -ENOMEM;
	}
	if (json_array_append_new(lists[pair->depth], object))
		return -ENOMEM;
	lists[pair->depth + 1] = json_object_get(object, "chain");
	return 0;
}

int report_wakers_json(const struct report *report)
{
	const struct wait_pairs *pairs = report->wakers;
	json_t *lists[WAIT_CHAIN_MAX + 2] = {json_array()}, *all;
	int err = 0;

	for_each_shown_row(report, append_json_row, lists, &err);
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

/* --- waits for locks --- */

#define PAIRS_SHOWN 3U /* number of pairs shown for each lock, unless all locks are shown */

static u32 count_shown_locks(const struct report *report)
{
	u32 count = 0;

	while (count < report->locks->count && count < report->limit &&
	       percent_or_zero(report->locks->rows[count]->total, report->locks->total) >=
		       report->least)
		count++;
	return count;
}

static void print_lock(const struct report *report, const struct lock_row *row)
{
	u32 shown = row->pair_count;

	if (report->limit < UINT64_MAX && shown > PAIRS_SHOWN)
		shown = PAIRS_SHOWN;
	printf("\n%s%6.2f%%  %llu  %s ", report->color ? "\033[1m" : "",
	       percent_or_zero(row->total, report->locks->total), (unsigned long long)row->count,
	       row->type);
	if (row->address)
		printf("%#llx", (unsigned long long)row->address);
	else
		printf("[address not known]");
	printf(" of ");
	printable_put(row->tgid ? row->comm : "the kernel", stdout);
	if (row->tgid)
		printf(" %u", row->tgid);
	printf("  %s", format_duration_ns(row->total));
	if (row->count > 1)
		printf(", at most %s", format_duration_ns(row->most));
	printf("%s\n", report->color ? "\033[0m" : "");
	for (u32 i = 0; i < shown && !ferror(stdout); i++)
		print_wait_pair_with_stacks(report, row->pairs[i], row->total);
	if (shown < row->pair_count)
		printf("\n  and %u more pairs, --top 0 shows all\n", row->pair_count - shown);
}

int report_locks_plain(const struct report *report)
{
	const struct lock_table *table = report->locks;
	u32 shown = count_shown_locks(report);

	printf("# %-9s %llu waits for %u locks, together %s\n",
	       "locks:", (unsigned long long)table->waits, table->count,
	       format_duration_ns(table->total));
	for (u32 i = 0; i < shown && !ferror(stdout); i++)
		print_lock(report, table->rows[i]);
	if (shown == report->limit && shown < table->count)
		printf("\n# %u of %u locks shown, --top 0 shows all\n", shown, table->count);
	return 0;
}

int report_locks_csv(const struct report *report)
{
	u32 shown = count_shown_locks(report);

	printf("share,count,total,most,type,address,pid,comm\n");
	for (u32 i = 0; i < shown && !ferror(stdout); i++) {
		const struct lock_row *row = report->locks->rows[i];

		printf("%.4f,%llu,%llu,%llu,%s,%#llx,",
		       percent_or_zero(row->total, report->locks->total),
		       (unsigned long long)row->count, (unsigned long long)row->total,
		       (unsigned long long)row->most, row->type, (unsigned long long)row->address);
		if (row->tgid)
			printf("%u", row->tgid);
		csv_put(",", row->comm, stdout);
		putchar('\n');
	}
	return 0;
}

/* Many readers of JSON round numbers of 64 bits, so an address is a string. */
static json_t *lock_json(const struct report *report, const struct lock_row *row)
{
	json_t *pairs = json_array();
	char address[32];
	int failed = 0;

	for (u32 i = 0; i < row->pair_count; i++)
		failed |= json_array_append_new(pairs, report_pair_json(report, row->pairs[i]));
	snprintf(address, sizeof(address), "%#llx", (unsigned long long)row->address);
	if (failed) {
		json_decref(pairs);
		return NULL;
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "type", row->type, "address",
			 row->address ? json_string(address) : json_null(), "pid",
			 row->tgid ? json_integer(row->tgid) : json_null(), "comm",
			 row->tgid ? json_text(row->comm) : json_null(), "count",
			 (json_int_t)row->count, "total", (json_int_t)row->total, "most",
			 (json_int_t)row->most, "pairs", pairs);
}

int report_locks_json(const struct report *report)
{
	u32 shown = count_shown_locks(report);
	json_t *rows = json_array();
	int failed = 0;

	for (u32 i = 0; i < shown; i++)
		failed |= json_array_append_new(rows, lock_json(report, report->locks->rows[i]));
	if (failed) {
		json_decref(rows);
		return -ENOMEM;
	}
	return report_put_json(report, json_pack("{s:{s:I, s:I}, s:o}", "waits", "count",
						 (json_int_t)report->locks->waits, "total",
						 (json_int_t)report->locks->total, "locks", rows));
}
