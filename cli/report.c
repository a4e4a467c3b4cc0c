/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap report`: what was recorded, what became of every event, and where the time or the
 * events went: the hottest stacks, or with --tree the call tree. Percentages are of the events of
 * the same source.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "error.h"
#include "format/json_text.h"
#include "ledger_text.h"
#include "message.h"
#include "names.h"
#include "recording.h"
#include "report/calltree.h"
#include "report/profile.h"
#include "terminal.h"

#define TOP_DEFAULT 20
#define TOP_UNSET UINT64_MAX

struct report_values {
	struct recording_values recording;
	struct names_values names;
	u64 top;
	u64 min_percent;
	bool tree;
	bool json;
};

struct report {
	const struct report_values *values;
	struct trace_reader *reader;
	const struct profile *profile;
	const struct trace_source *sources;
	u32 source_count;
	u64 *totals; /* events by source */
	bool color;
};

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_field(const char *name, const char *text)
{
	printf("# %-9s ", name);
	terminal_put_name(text, stdout);
	putchar('\n');
}

static void print_host(const struct trace_info *info)
{
	printf("# %-9s ", "host:");
	terminal_put_name(info->hostname, stdout);
	printf(", Linux ");
	terminal_put_name(info->kernel, stdout);
	printf(", ");
	terminal_put_name(info->machine, stdout);
	printf(", %u CPUs\n", info->cpus);
	if (!info->address_shown)
		print_field("note:",
			    "kernel addresses were hidden (kptr_restrict): no names for them");
}

/* A glob makes hundreds of sources; those without events share a line. */
static void print_counts(const struct report *report)
{
	u32 silent = 0;

	for (u32 i = 0; i < report->source_count; i++) {
		silent += !report->totals[i];
		if (!report->totals[i])
			continue;
		printf("# %-9s %llu ", "events:", (unsigned long long)report->totals[i]);
		terminal_put_name(report->sources[i].name, stdout);
		putchar('\n');
	}
	if (silent)
		printf("# %-9s 0 of %u %ssources\n", "events:", silent,
		       silent < report->source_count ? "other " : "");
}

static void print_header(const struct report *report, const struct recording_choice *choice)
{
	const struct trace_info *info = trace_reader_info(report->reader);
	const struct profile *profile = report->profile;

	print_field(choice->is_instance ? "instance:" : "file:", choice->name);
	print_field("command:", info->command);
	print_host(info);
	if (info->frequency)
		printf("# %-9s %llu Hz\n", "rate:", (unsigned long long)info->frequency);
	print_counts(report);
	printf("# %-9s %.3f s from the first event to the last\n",
	       "duration:", (double)(profile->last - profile->first) / 1e9);
}

static void print_ledger(const struct report *report)
{
	const struct trace_ledger *ledger = trace_reader_ledger(report->reader);

	if (ledger)
		ledger_print(ledger, "# ledger:   ", stdout);
	else
		printf("# ledger:   none, the recording was not finished\n");
}

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

static void print_row(const struct report *report, const struct profile_row *row)
{
	const struct trace_source *source = &report->sources[row->kind];
	bool alone = !row->kernel->depth && !row->user->depth;

	printf("\n%s%6.2f%%  %llu  ", report->color ? "\033[1m" : "",
	       percent(row->count, report->totals[row->kind]), (unsigned long long)row->count);
	terminal_put_name(row->comm[0] ? row->comm : "[unknown]", stdout);
	printf("  ");
	terminal_put_name(source->name, stdout);
	if (source->extras & TRACE_EXTRA_VALUE)
		printf("  %llu %s", (unsigned long long)row->value, source->value_unit);
	printf("%s\n", report->color ? "\033[0m" : "");
	print_path(report, row->kernel, "[k]", alone);
	print_path(report, row->user, "[u]", alone);
}

/* --top 0 is all of them. */
static u64 limit_of(const struct report *report, u64 unset)
{
	u64 top = report->values->top == TOP_UNSET ? unset : report->values->top;

	return top ? top : UINT64_MAX;
}

static int print_stacks(const struct report *report)
{
	u64 limit = limit_of(report, TOP_DEFAULT);
	const struct profile *profile = report->profile;

	for (u32 i = 0; i < profile->row_count && i < limit && !ferror(stdout); i++)
		print_row(report, profile->rows[i]);
	if (profile->row_count > limit)
		printf("\n# %llu of %u stacks shown, --top 0 shows all\n",
		       (unsigned long long)limit, profile->row_count);
	return 0;
}

static void print_node(const struct calltree_node *node, u64 total, int indent, const char *mark)
{
	printf("%6.2f%% %6.2f%%  %*s%s ", percent(node->count, total), percent(node->self, total),
	       indent, "", mark);
	terminal_put_name(node->name, stdout);
	putchar('\n');
}

/* The only child of a function that does nothing itself goes on in its column: chains do not drift
 * to the right. */
static bool is_chain(const struct calltree_node *node)
{
	return node->first_child && node->first_child->count == node->count;
}

static void print_branches(const struct report *report, const struct calltree_node *node, u64 total,
			   int indent)
{
	double least = (double)report->values->min_percent;
	const struct calltree_node *end;

	for (const struct calltree_node *branch = node->first_child; branch;
	     branch = branch->next) {
		if (percent(branch->count, total) < least)
			return;
		print_node(branch, total, indent, "-");
		for (end = branch; is_chain(end); end = end->first_child)
			print_node(end->first_child, total, indent, " ");
		print_branches(report, end, total, indent + 2);
	}
}

static int print_trees(const struct report *report)
{
	struct calltree_node *root;

	for (u32 kind = 0; kind < report->source_count; kind++) {
		if (!report->totals[kind])
			continue;
		if (calltree_create(report->profile, kind, &root))
			return -ENOMEM;
		printf("\n# call tree of ");
		terminal_put_name(report->sources[kind].name, stdout);
		printf(": with callees, itself, function (outermost first)\n");
		print_branches(report, root, root->count, 0);
		calltree_free(&root);
	}
	return 0;
}

static int print_json(const struct report *report)
{
	u64 limit = limit_of(report, 0);
	json_t *ledger = json_ledger(trace_reader_ledger(report->reader));
	json_t *stacks = json_stacks(report->reader, report->profile, limit);

	return json_put(json_pack("{s:o, s:o}", "ledger", ledger, "stacks", stacks), stdout);
}

static int count_events(struct report *report)
{
	const struct profile *profile = report->profile;

	report->source_count = trace_reader_sources(report->reader, &report->sources);
	report->totals = calloc(report->source_count + 1UL, sizeof(u64));
	if (!report->totals)
		return -ENOMEM;
	for (u32 i = 0; i < profile->row_count; i++)
		report->totals[profile->rows[i]->kind] += profile->rows[i]->count;
	return 0;
}

static int print_report(struct report *report, const struct recording_choice *choice)
{
	int err = count_events(report);

	if (err)
		return err;
	if (report->values->json)
		return print_json(report);
	print_header(report, choice);
	print_ledger(report);
	return report->values->tree ? print_trees(report) : print_stacks(report);
}

static int report_recording(const struct report_values *values, struct trace_reader *reader,
			    const struct recording_choice *choice,
			    const struct frame_naming *naming, struct stackmap_error *error)
{
	struct report report = {
		.values = values, .reader = reader, .color = terminal_color(stdout)};
	struct profile *profile;
	int err = profile_create(reader, &choice->filter, naming, &profile, error);

	if (err)
		return err;
	report.profile = profile;
	err = print_report(&report, choice);
	if (err)
		error_set(error, -err, "report: %s", strerror(-err));
	free(report.totals);
	profile_free(&profile);
	return err;
}

static int report_named(const struct report_values *values, const struct recording_choice *choice)
{
	struct trace_reader *reader;
	struct frame_naming naming;
	struct stackmap_error error;
	int status = names_open(&values->names, &naming), err;

	if (status)
		return status;
	reader = recording_open(choice);
	status = EXIT_FAILED;
	if (reader) {
		err = report_recording(values, reader, choice, &naming, &error);
		status = recording_close(&reader, err, &error);
	}
	names_close(&naming);
	return status;
}

static int report_run(const void *arg, int count, char **operands)
{
	const struct report_values *values = arg;
	struct recording_choice choice;

	(void)count;
	if (recording_choose(&values->recording, operands, &choice))
		return EXIT_USAGE;
	return report_named(values, &choice);
}

static const struct option_row rows[] = {
	{.name = "top",
	 .letter = 'n',
	 .type = OPTION_U64,
	 .argument = "N",
	 .target = offsetof(struct report_values, top),
	 .group = "Output",
	 .help = "how many stacks, 0 for all (default 20; with --json all)",
	 .max = UINT32_MAX},
	{.name = "tree",
	 .letter = 't',
	 .type = OPTION_FLAG,
	 .target = offsetof(struct report_values, tree),
	 .group = "Output",
	 .help = "the call tree instead of single stacks"},
	{.name = "min-percent",
	 .type = OPTION_U64,
	 .argument = "PERCENT",
	 .target = offsetof(struct report_values, min_percent),
	 .group = "Output",
	 .help = "leave out branches of the tree below this share (default 1)",
	 .max = 100},
	{.name = "json",
	 .letter = 'j',
	 .type = OPTION_FLAG,
	 .target = offsetof(struct report_values, json),
	 .group = "Output",
	 .help = "one JSON object: ledger and stacks"},
	NAMES_ROWS(struct report_values, names),
	RECORDING_ROWS(struct report_values, recording),
	{0},
};

const struct command report_command = {
	.name = "report",
	.operands = "[FILE]",
	.operands_max = 1,
	.summary = "show the ledger and the hottest stacks of a recording",
	.rows = rows,
	.values_bytes = sizeof(struct report_values),
	.defaults = &(const struct report_values){.recording = RECORDING_DEFAULTS,
						  .top = TOP_UNSET,
						  .min_percent = 1},
	.run = report_run,
};
