/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap report`: prints the events of a recording, the ledger that accounts for every event,
 * and the distribution of time or events: as hottest stacks, call trees or a table; or the code
 * that has no names. Percentages are of the events of the same source, or of the sum of their
 * values if the values have a unit.
 */
#include "view/report.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "error.h"
#include "format/printable.h"
#include "format/value_text.h"
#include "report/name/process_attributes.h"
#include "report/profile/function_set.h"
#include "report/profile/profile.h"
#include "report/profile/runtime_hint.h"
#include "terminal/message.h"
#include "terminal/terminal.h"
#include "view/ledger_text.h"
#include "view/names.h"
#include "view/recording.h"

#define TOP_DEFAULT 20
#define TOP_UNSET UINT64_MAX
#define TREE_PERCENT_DEFAULT 1
#define PROCESSES_SHOWN 20 /* limit for the number of process contexts that are printed */

struct report_values {
	struct recording_values recording;
	struct names_values names;
	const char *sort, *fields, *callers, *callees, *by, *min_percent, *hist;
	struct leaf_filter leaves;
	struct string_list idle;
	u64 top, chain;
	bool tree, children, missing, time, wakers, locks, origins;
	bool json, csv, no_pager;
};

/* The options, parsed and checked. */
struct report_request {
	struct recording_choice choice;
	struct leaf_filter leaves;
	struct string_list idle;
	bool is_table, is_tree, is_missing, is_time, is_wakers, is_locks, is_origins;
	u32 chain;
	enum time_key time_key;
	struct report_table_request table;
	struct report_tree_request tree;
	struct report_hist_request hist;
	/* weight of events: "count" or "value"; NULL: by the source of the events */
	const char *by;
	double least;
	u64 limit;
	bool json, csv, paged;
};

const char *format_duration_ns(u64 ns)
{
	static char text[VALUE_TEXT_ROOM];

	value_text(ns, "ns", text);
	return text;
}

double percent_or_zero(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

double report_percent(const struct report *report, u32 kind, u64 weight)
{
	u64 total = report->weights.totals[kind];

	return total ? 100.0 * (double)weight / (double)total : 0;
}

const char *format_value_of_source(const struct report *report, u32 kind, u64 value)
{
	static char text[VALUE_TEXT_ROOM];

	value_text(value, report->sources[kind].value_unit, text);
	replace_unprintable_bytes(text);
	return text;
}

const char *format_sampling_error(const struct report *report, u32 kind, u64 estimates)
{
	static char text[VALUE_TEXT_ROOM + 4];
	u64 every = read_sampling_period_of_source(report->sources[kind].name);
	char error[VALUE_TEXT_ROOM];

	text[0] = '\0';
	if (!every)
		return text;
	value_text(estimate_error_of_sampled_sum(every, estimates),
		   report->sources[kind].value_unit, error);
	snprintf(text, sizeof(text), " +- %s", error);
	replace_unprintable_bytes(text);
	return text;
}

static void print_header_field(const char *name, const char *text)
{
	printf("# %-9s ", name);
	printable_put(text, stdout);
	putchar('\n');
}

/*
 * Prints the event count of each source. A glob makes hundreds of sources; all sources without
 * events share one line.
 */
static void print_counts(const struct report *report)
{
	u32 silent = 0;

	for (u32 i = 0; i < report->source_count; i++) {
		silent += !report->weights.counts[i];
		if (report->weights.counts[i]) {
			printf("# %-9s %llu ",
			       "events:", (unsigned long long)report->weights.counts[i]);
			printable_put(report->sources[i].name, stdout);
			if (report->weights.by[i] == WEIGHT_VALUE)
				printf(", together %s%s",
				       format_value_of_source(report, i, report->weights.totals[i]),
				       format_sampling_error(report, i,
							     report->weights.estimates[i]));
			putchar('\n');
		}
	}
	if (silent)
		printf("# %-9s 0 of %u %ssources\n", "events:", silent,
		       silent < report->source_count ? "other " : "");
}

static void print_header(const struct report *report, const struct recording_choice *choice)
{
	const struct trace_info *info = trace_reader_info(report->reader);
	const struct profile *profile = report->profile;
	struct runtime_hint hints[RUNTIME_HINTS_MAX];
	u32 count;

	print_header_field(choice->from		 ? "store:"
			   : choice->is_instance ? "instance:"
						 : "file:",
			   choice->name);
	print_header_field(choice->from ? "choice:" : "command:", info->command);
	printf("# %-9s ", "host:");
	printable_put(info->hostname, stdout);
	printf(", Linux ");
	printable_put(info->kernel, stdout);
	printf(", ");
	printable_put(info->machine, stdout);
	printf(", %u CPUs\n", info->cpus);
	if (!info->address_shown)
		print_header_field(
			"note:", "kernel addresses were hidden (kptr_restrict): no names for them");
	if (!choice->from) {
		time_t seconds = (time_t)(info->start_realtime / 1000000000);
		char text[32];
		struct tm utc;

		/* Prints the start in UTC, as on the page of flamegraph. */
		if (info->start_realtime && gmtime_r(&seconds, &utc) &&
		    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &utc))
			printf("# %-9s %s UTC\n", "date:", text);
	}
	if (info->frequency)
		printf("# %-9s %llu Hz\n", "rate:", (unsigned long long)info->frequency);
	print_counts(report);
	if (profile->last && !choice->from)
		printf("# %-9s %.3f s from the first event to the last\n",
		       "duration:", (double)(profile->last - profile->first) / 1e9);
	count = runtime_hints(report->reader, report->profile, hints);
	for (u32 i = 0; i < count; i++)
		printf("# %-9s %s has no names: %s\n", "note:", hints[i].name, hints[i].remedy);
}

int report_weigh_events(struct report *report, const char *by)
{
	report->source_count = trace_reader_sources(report->reader, &report->sources);
	return profile_weigh(report->profile, report->sources, report->source_count, by,
			     &report->weights);
}

/*
 * Adds the ledger of each source to the JSON object `ledger`, if the recording has such ledgers.
 * -1: memory is short.
 */
static int add_source_ledgers_to_json(const struct report *report, json_t *ledger)
{
	const struct trace_source_ledger *ledgers;
	u32 count = trace_reader_source_ledgers(report->reader, &ledgers);
	const struct trace_source *sources;
	json_t *list;

	if (!count || !json_is_object(ledger))
		return 0;
	trace_reader_sources(report->reader, &sources);
	list = json_array();
	for (u32 i = 0; i < count; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:I, s:I, s:I}", "event", json_text(sources[i].name),
					"recorded", (json_int_t)ledgers[i].recorded, "counted_only",
					(json_int_t)ledgers[i].counted, "lost",
					(json_int_t)ledgers[i].lost));
	return json_object_set_new(ledger, "sources", list);
}

/* Prints how many events each source has lost, if the recording has a ledger of each source. */
static void print_source_losses(const struct report *report)
{
	const struct trace_source_ledger *ledgers;
	u32 count = trace_reader_source_ledgers(report->reader, &ledgers);
	const struct trace_source *sources;

	trace_reader_sources(report->reader, &sources);
	for (u32 i = 0; i < count; i++) {
		if (!ledgers[i].lost)
			continue;
		printf("# ledger:   lost of ");
		printable_put(sources[i].name, stdout);
		printf(": %llu\n", (unsigned long long)ledgers[i].lost);
	}
}

/* Adds the process contexts, if there are any. -1: memory is short. */
static int add_process_attributes_to_json(const struct report *report, json_t *whole)
{
	const struct trace_process *processes;
	u32 count = trace_reader_processes(report->reader, &processes);
	json_t *list;
	int err = 0;

	if (!count || !json_is_object(whole))
		return 0;
	list = json_array();
	for (u32 i = 0; i < count && !err; i++) {
		struct process_attributes published;
		json_t *attributes = json_object();

		err = process_attributes_read(&processes[i], &published);
		for (u32 k = 0; k < published.count && !err; k++)
			err = json_object_set_new(attributes, published.items[k].key,
						  json_string(published.items[k].value));
		err = err
			      ?: json_array_append_new(
					 list, json_pack("{s:I, s:O, s:I, s:b}", "pid",
							 (json_int_t)processes[i].tgid,
							 "attributes", attributes, "left_out",
							 (json_int_t)published.left_out, "damaged",
							 published.is_damaged));
		json_decref(attributes);
		process_attributes_clear(&published);
	}
	return json_object_set_new(whole, "processes", list) || err ? -1 : 0;
}

/* Prints the process contexts, a line each. */
static void print_processes(const struct report *report)
{
	const struct trace_process *processes;
	u32 count = trace_reader_processes(report->reader, &processes);

	for (u32 i = 0; i < count && i < PROCESSES_SHOWN; i++) {
		struct process_attributes published;

		process_attributes_read(&processes[i], &published);
		printf("# %-9s %u", "process:", processes[i].tgid);
		for (u32 k = 0; k < published.count; k++) {
			putchar(' ');
			printable_put(published.items[k].key, stdout);
			putchar('=');
			printable_put(published.items[k].value, stdout);
		}
		if (published.left_out)
			printf(" (%u attributes are not shown)", published.left_out);
		if (published.is_damaged)
			printf(" (the rest is damaged)");
		putchar('\n');
		process_attributes_clear(&published);
	}
	if (count > PROCESSES_SHOWN)
		printf("# %-9s %u more are in --json\n", "process:", count - PROCESSES_SHOWN);
}

int report_put_json(const struct report *report, json_t *view)
{
	u64 start = report->is_store ? 0 : trace_reader_info(report->reader)->start_realtime;
	json_t *whole = json_pack("{s:o, s:o}", "start_ns",
				  start ? json_integer((json_int_t)start) : json_null(), "ledger",
				  json_ledger(trace_reader_ledger(report->reader)));

	if (add_source_ledgers_to_json(report, json_object_get(whole, "ledger")) ||
	    add_process_attributes_to_json(report, whole) || json_object_update(whole, view)) {
		json_decref(whole);
		whole = NULL;
	}
	json_decref(view);
	return json_put(whole, stdout);
}

static int print_json(const struct report *report, const struct report_request *request)
{
	if (request->hist.is_asked)
		return report_hist_json(report, &request->hist);
	if (request->is_table)
		return report_table_json(report, &request->table);
	if (request->is_tree)
		return report_tree_json(report, &request->tree);
	if (request->is_missing)
		return report_missing_json(report);
	if (request->is_time)
		return report_time_json(report, report->times, request->time_key);
	if (request->is_wakers)
		return report_wakers_json(report);
	if (request->is_locks)
		return report_locks_json(report);
	if (request->is_origins)
		return report_origins_json(report);
	return report_stacks_json(report);
}

static int print_csv(const struct report *report, const struct report_request *request)
{
	if (request->hist.is_asked)
		return report_hist_csv(report, &request->hist);
	if (request->is_time)
		return report_time_csv(report, report->times, request->time_key);
	if (request->is_wakers)
		return report_wakers_csv(report);
	if (request->is_locks)
		return report_locks_csv(report);
	if (request->is_origins)
		return report_origins_csv(report);
	return request->is_table ? report_table_csv(report, &request->table)
				 : report_stacks_csv(report);
}

static int print_text(struct report *report, const struct report_request *request)
{
	const struct trace_ledger *ledger = trace_reader_ledger(report->reader);

	report->color = can_show_color_on_terminal(stdout);
	if (request->paged)
		pipe_output_to_pager();
	print_header(report, &request->choice);
	if (report->times->all.threads)
		report_print_time_ledger(report->times, "# time:     ");
	if (ledger)
		ledger_print(ledger, "# ledger:   ", stdout);
	else
		printf("# ledger:   none, the recording was not finished\n");
	print_source_losses(report);
	print_processes(report);
	if (request->hist.is_asked)
		return report_hist_plain(report, &request->hist);
	if (request->is_table)
		return report_table_plain(report, &request->table);
	if (request->is_tree)
		return report_tree_plain(report, &request->tree);
	if (request->is_missing)
		return report_missing_plain(report);
	if (request->is_time)
		return report_time_plain(report, report->times, request->time_key);
	if (request->is_wakers)
		return report_wakers_plain(report);
	if (request->is_locks)
		return report_locks_plain(report);
	if (request->is_origins)
		return report_origins_plain(report);
	return report_stacks_plain(report);
}

static int weigh_events_and_print_view(struct report *report, struct report_request *request,
				       struct stackmap_error *error)
{
	const char *symbol = request->tree.symbol;
	int err = symbol ? function_set_create(report->profile, symbol, &request->tree.functions,
					       error)
			 : 0;

	if (err)
		return err;
	err = report_weigh_events(report, request->by);
	if (!err && !request->is_missing && !request->is_time && !request->is_wakers &&
	    !request->is_locks && !request->is_origins)
		print_hint_for_missing_names(report);
	if (!err)
		err = request->json  ? print_json(report, request)
		      : request->csv ? print_csv(report, request)
				     : print_text(report, request);
	if (err)
		error_set(error, -err, "report: %s", strerror(-err));
	function_set_free(&request->tree.functions);
	profile_weights_clear(&report->weights);
	return err;
}

/*
 * Makes the table of threads' time. Only this table shows idle waits separately; the totals are
 * part of every report.
 */
static int make_time_table(struct report *report, const struct report_request *request,
			   struct stackmap_error *error)
{
	struct wait_ends *ends = NULL;
	int err = 0;

	if (request->is_time)
		err = wait_ends_create(report->reader, report->profile->names,
				       report->profile->paths, NULL, &request->idle, &ends);
	err = err
		      ?: time_table_create(report->reader, &request->choice.filter,
					   request->time_key, ends, &report->times);
	wait_ends_free(&ends);
	if (err)
		return error_set(error, -err, "report: %s", strerror(-err));
	if (!request->is_time || trace_reader_info(report->reader)->has_times)
		return 0;
	return error_set(
		error, ENODATA,
		"--thread-time: this recording has no account of time; record --time makes one");
}

/* Makes the table for --wakers, --locks or --origins. At most one of these options is given. */
static int make_requested_table(struct report *report, const struct report_request *request,
				struct stackmap_error *error)
{
	const struct event_filter *filter = &request->choice.filter;
	struct frame_names *names = report->profile->names;
	struct event_paths *paths = report->profile->paths;
	const char *view = "wakers";
	int err = 0;

	if (request->is_wakers) {
		err = wait_pairs_create(report->reader, filter, &request->idle, names, paths,
					request->chain, request->limit, &report->wakers);
	} else if (request->is_locks) {
		view = "locks";
		err = lock_table_create(report->reader, filter, names, paths, &report->locks);
	} else if (request->is_origins) {
		view = "origins";
		err = origin_table_create(report->reader, filter, names, paths, &report->origins);
	}
	if (err == -ENODATA)
		return error_set(error, ENODATA, "--%s: this recording has no %s; record --%s has",
				 view, view, view);
	return err ? error_set(error, -err, "report: %s", strerror(-err)) : 0;
}

static int refuse_histograms_without_values(struct trace_reader *reader,
					    const struct report_request *request,
					    struct stackmap_error *error)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);

	if (!request->hist.is_asked)
		return 0;
	if (request->hist.scale == HISTOGRAM_LINEAR && trace_reader_info(reader)->has_aggregates)
		return error_set(error, EINVAL,
				 "--hist lin: the kernel aggregated these events by powers of two; "
				 "--hist log2 shows them");
	for (u32 i = 0; i < count; i++)
		if (sources[i].extras & TRACE_EXTRA_VALUE &&
		    strcmp(sources[i].value_unit, TRACE_UNIT_ADDRESS))
			return 0;
	return error_set(error, ENODATA,
			 "--hist: no event of this recording has a value; those of "
			 "record -e EVENT/value=.../ and --off-cpu have");
}

static int report_recording(struct report_request *request, struct trace_reader *reader,
			    const struct frame_naming *naming, struct stackmap_error *error)
{
	struct report report = {.reader = reader,
				.is_store = request->choice.from,
				.debug = naming->debug,
				.limit = request->limit,
				.least = request->least};
	u32 split =
		(request->is_table ? event_split_of_table_keys(request->table.fields.keys) : 0) |
		(request->hist.is_asked ? EVENTS_WITH_VALUES : 0);
	int err = refuse_histograms_without_values(reader, request, error)
			  ?: profile_create_split(reader, &request->choice.filter, naming, split,
						  NULL, &report.profile, error);

	if (err)
		return err;
	err = leaf_filter_apply(&request->leaves, report.profile, error);
	err = err ?: make_time_table(&report, request, error) ?: make_requested_table(&report, request, error);
	err = err ?: weigh_events_and_print_view(&report, request, error);
	profile_free(&report.profile);
	time_table_free(&report.times);
	wait_pairs_free(&report.wakers);
	lock_table_free(&report.locks);
	origin_table_free(&report.origins);
	return err;
}

static int check_at_most_one(const char *what, const char *const *names, const bool *given,
			     u32 count)
{
	const char *first = NULL;

	for (u32 i = 0; i < count; i++) {
		if (!given[i])
			continue;
		if (first) {
			message("%s and %s: choose one %s", first, names[i], what);
			return -EINVAL;
		}
		first = names[i];
	}
	return 0;
}

static int check_option_combination(const struct report_values *values)
{
	static const char *const views[] = {
		"--sort or --fields", "--tree",	  "--callers", "--callees", "--missing",
		"--thread-time",      "--wakers", "--locks",   "--origins", "--hist"};
	static const char *const formats[] = {"--json", "--csv"};
	const bool viewed[] = {(values->sort && !values->time && !values->hist) || values->fields,
			       values->tree,
			       values->callers,
			       values->callees,
			       values->missing,
			       values->time,
			       values->wakers,
			       values->locks,
			       values->origins,
			       values->hist};
	const bool formatted[] = {values->json, values->csv};

	if (check_at_most_one("view", views, viewed, sizeof(viewed)) ||
	    check_at_most_one("format", formats, formatted, sizeof(formatted)))
		return -EINVAL;
	if (values->idle.count && !values->wakers && !values->time) {
		message("--idle: it goes with --wakers and --thread-time");
		return -EINVAL;
	}
	if (values->chain && !values->wakers) {
		message("--chain: it goes with --wakers");
		return -EINVAL;
	}
	if (!values->csv ||
	    !(values->tree || values->callers || values->callees || values->missing))
		return 0;
	message("--csv: %s is not a table, use --json",
		values->missing ? "what is missing" : "a tree");
	return -EINVAL;
}

int report_parse_percent(const char *text, double *percent)
{
	char *end;

	if (!text)
		return 0;
	*percent = strtod(text, &end);
	if (end != text && !*end && *percent >= 0 && *percent <= 100)
		return 0;
	message("--min-percent %s: must be between 0 and 100", text);
	return -EINVAL;
}

static int parse_request(const struct report_values *values, char **operands,
			 struct report_request *request)
{
	u32 keys;
	u64 unset;
	u64 top;

	*request = (struct report_request){
		.by = values->by, .leaves = values->leaves, .idle = values->idle};
	if (check_option_combination(values))
		return -EINVAL;
	request->is_tree = values->tree || values->callers || values->callees;
	request->tree.view = values->callers   ? CALLTREE_CALLERS
			     : values->callees ? CALLTREE_CALLEES
					       : CALLTREE_WHOLE;
	request->tree.symbol = values->callers ?: values->callees;
	request->least = request->is_tree && !values->json ? TREE_PERCENT_DEFAULT : 0;
	unset = values->json || values->csv ? 0 : TOP_DEFAULT;
	top = values->top == TOP_UNSET ? unset : values->top;
	request->limit = top ?: UINT64_MAX;
	request->json = values->json;
	request->csv = values->csv;
	request->paged = !values->no_pager;
	request->is_time = values->time;
	request->is_wakers = values->wakers;
	request->is_locks = values->locks;
	request->is_origins = values->origins;
	request->chain = (u32)values->chain;
	request->is_table = !values->time && (values->sort || values->fields);
	request->is_missing = values->missing;
	request->hist = (struct report_hist_request){
		.is_asked = values->hist,
		.scale = values->hist && !strcmp(values->hist, "lin") ? HISTOGRAM_LINEAR
								      : HISTOGRAM_LOG2,
		.table = values->sort ? &request->table : NULL,
	};
	request->table.by_children = values->children;
	if (request->is_table &&
	    report_fields_parse(values->sort, values->fields, &request->table.fields))
		return -EINVAL;
	if (values->time && parse_key_of_time_table(values->sort, &request->time_key))
		return -EINVAL;
	if (report_parse_percent(values->min_percent, &request->least))
		return -EINVAL;
	if (choose_recording_by_options(&values->recording, operands, &request->choice))
		return -EINVAL;
	if (values->hist && request->choice.from) {
		message("--hist: a store has sums and no single values");
		return -EINVAL;
	}
	request->choice.store.question.no_inlined = values->names.no_inline;
	/*
	 * A store sends cgroups only if the question asks for them. A store lacks some keys
	 * (processes, threads, CPUs, trace ids, attributes); report_fields_check_store() refuses
	 * these.
	 */
	keys = request->is_table ? request->table.fields.keys : 0;
	request->choice.store.question.by_cgroup = keys & 1U << TABLE_CGROUP;
	if (!request->choice.from || !request->is_table)
		return 0;
	return report_fields_check_store(&request->table.fields);
}

static int report_run(const void *arg, int count, char **operands)
{
	const struct report_values *values = arg;
	struct report_request request;
	struct trace_reader *reader;
	struct frame_naming naming;
	struct stackmap_error error;
	int status, err;

	(void)count;
	if (parse_request(values, operands, &request))
		return EXIT_USAGE;
	status = recording_names_open(&values->names, &request.choice, &naming);
	if (status)
		return status;
	reader = recording_open(&request.choice);
	status = EXIT_FAILED;
	if (reader) {
		err = report_recording(&request, reader, &naming, &error);
		status = recording_close(&reader, &request.choice, err, &error);
	}
	names_close(&naming);
	return status;
}

/* clang-format off */
#define ROW(field, ...) .target = offsetof(struct report_values, field), __VA_ARGS__
static const struct option_row rows[] = {
	{.name = "sort", .letter = 's', .type = OPTION_STRING, .argument = "KEYS",
	 ROW(sort, .group = "View"), .words = report_key_words,
	 .help = "a table by these: event, pid, comm, tid, cgroup, cpu, trace, span, service.name..., dso, symbol"},
	{.name = "fields", .letter = 'F', .type = OPTION_STRING, .argument = "FIELDS",
	 ROW(fields, .group = "View"), .words = report_field_words,
	 .help = "the columns of the table: keys, and self, children, count, value..."},
	{.name = "children", .type = OPTION_FLAG, ROW(children, .group = "View"),
	 .help = "order the table by function with callees, not itself"},
	{.name = "tree", .letter = 't', .type = OPTION_FLAG, ROW(tree, .group = "View"),
	 .help = "the call tree instead of single stacks"},
	{.name = "callers", .type = OPTION_STRING, .argument = "SYMBOL",
	 ROW(callers, .group = "View"), .help = "who calls this function (a glob), as a tree"},
	{.name = "callees", .type = OPTION_STRING, .argument = "SYMBOL",
	 ROW(callees, .group = "View"), .help = "what this function (a glob) calls, as a tree"},
	{.name = "missing", .type = OPTION_FLAG, ROW(missing, .group = "View"),
	 .help = "which code has no names, why, and what would bring them"},
	{.name = "thread-time", .type = OPTION_FLAG, ROW(time, .group = "View"),
	 .help = "where the time of each thread went; with --sort pid, comm or cgroup: of theirs"},
	{.name = "wakers", .type = OPTION_FLAG, ROW(wakers, .group = "View"),
	 .help = "who ended the waits: both stacks of each pair, by time"},
	{.name = "chain", .type = OPTION_U64, .argument = "N", ROW(chain, .group = "View"),
	 .max = WAIT_CHAIN_MAX,
	 .help = "--wakers: for what the waker itself had waited, up to N steps"},
	{.name = "idle", .type = OPTION_STRINGS, .argument = "FUNCTION", ROW(idle, .group = "View"),
	 .help = "a thread that waits in this function (a glob) is idle, not blocked; may be repeated"},
	{.name = "locks", .type = OPTION_FLAG, ROW(locks, .group = "View"),
	 .help = "the locks that threads waited for, and both ends of the waits"},
	{.name = "origins", .type = OPTION_FLAG, ROW(origins, .group = "View"),
	 .help = "work that was queued, and who queued it; spans with stack=both: both stacks"},
	{.name = "hist", .type = OPTION_WORD, .argument = "SCALE", ROW(hist, .group = "View"),
	 .words = "log2, lin",
	 .help = "the values as histograms (log2 or lin), by stack or by the keys of --sort"},
	{.name = "by", .type = OPTION_WORD, .argument = "WHAT", ROW(by, .group = "View"),
	 .words = "count, value",
	 .help = "what events weigh: count or value (default value where it has a unit)"},
	{.name = "top", .letter = 'n', .type = OPTION_U64, .argument = "N",
	 ROW(top, .group = "Output"), .max = UINT32_MAX,
	 .help = "how many stacks or rows, 0 for all (default 20; --json, --csv: all)"},
	{.name = "min-percent", .type = OPTION_STRING, .argument = "PERCENT",
	 ROW(min_percent, .group = "Output"),
	 .help = "leave out what has a smaller share (default 0; trees 1, with --json 0)"},
	{.name = "json", .letter = 'j', .type = OPTION_FLAG, ROW(json, .group = "Output"),
	 .help = "one JSON object: ledger and stacks, rows or trees"},
	{.name = "csv", .type = OPTION_FLAG, ROW(csv, .group = "Output"),
	 .help = "comma-separated values"},
	{.name = "no-pager", .type = OPTION_FLAG, ROW(no_pager, .group = "Output"),
	 .help = "straight to the terminal"},
	NAMES_ROWS(struct report_values, names),
	FOLD_ROW(struct report_values, names),
	{.name = "dsos", .letter = 'd', .type = OPTION_STRINGS, .argument = "LIST",
	 ROW(leaves.objects, .group = "Events"),
	 .help = "only if the innermost frame is in these files (globs)"},
	{.name = "symbols", .letter = 'S', .type = OPTION_STRINGS, .argument = "LIST",
	 ROW(leaves.functions, .group = "Events"),
	 .help = "only if it is in these functions (globs)"},
	VALUE_ROW(struct report_values, recording.value),
	RECORDING_ROWS(struct report_values, recording),
	{0},
};
/* clang-format on */

const struct command report_command = {
	.name = "report",
	.operands = "[FILE]",
	.operands_max = 1,
	.summary = "show the ledger and the hottest stacks of a recording",
	.rows = rows,
	.values_bytes = sizeof(struct report_values),
	.defaults = &(const struct report_values){.top = TOP_UNSET},
	.run = report_run,
};
