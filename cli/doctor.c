/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap doctor`: prints which features work on this machine for this user, which do not work,
 * why, and what helps.
 */
#include <stdio.h>

#include "capture/feature/feature.h"
#include "command.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "interrupt.h"
#include "process/signals.h"
#include "recording/session_face.h"

struct findings {
	struct feature_result features[FEATURE_COUNT];
	bool records;
	enum user_way way;
	/* why user stacks cannot be unwound, or why not in a better way */
	struct stackmap_error refusal;
};

static void print_described_text(const char *what, const char *text)
{
	if (!text[0])
		return;
	fputs(what, stdout);
	printable_put(text, stdout);
	putchar('\n');
}

/* The ways to complete user stacks that could not be unwound completely at the event. */
static const char *const ways[] = {
	[USER_WAY_DEFERRED] = "deferred here: the kernel unwinds them in the task, before it "
			      "returns to user mode",
	[USER_WAY_ASSISTED] = "assisted here: 'stackmap record' finishes them from a copy of "
			      "registers and stack",
	[USER_WAY_FP] = "taken by frame pointers alone here, so callers may be missing",
};

static bool has_instance_files(const struct findings *findings)
{
	return findings->features[FEATURE_MAP_ITERATOR].works ||
	       findings->features[FEATURE_SYMBOL_ITERATOR].works;
}

static void print_table(const struct findings *findings)
{
	for (int feature = 0; feature < FEATURE_COUNT; feature++) {
		printf("%-4s %-23s %s\n", findings->features[feature].works ? "yes" : "no",
		       feature_name(feature), feature_meaning(feature));
		print_described_text("     why: ", findings->features[feature].why);
		print_described_text("     fix: ", findings->features[feature].fix);
	}
	if (!findings->records) {
		print_described_text("\nRecording does not work here: ", findings->refusal.message);
		return;
	}
	printf("\nUser stacks are %s.\n", ways[findings->way]);
	print_described_text("A better way was tried: ", findings->refusal.message);
	printf("Instances have %s.\n",
	       has_instance_files(findings)
		       ? "files here, which cat reads"
		       : "no files here; 'stackmap status', 'dump --instance', 'script --instance' "
			 "and 'record --instance' read them");
	if (findings->way == USER_WAY_ASSISTED)
		printf("User stacks of instances are taken by frame pointers alone here, so "
		       "callers may be missing.\n");
	printf("Recording works here.\n");
}

static int print_json(const struct findings *findings)
{
	const struct feature_result *results = findings->features;
	const char *way = findings->records ? name_of_user_stack_method(findings->way) : "none";
	const char *instance_way = findings->records && findings->way == USER_WAY_ASSISTED
					   ? name_of_user_stack_method(USER_WAY_FP)
					   : way;
	json_t *features = json_array();
	json_t *report = json_pack("{s:b, s:o, s:s, s:s, s:b, s:o}", "works", findings->records,
				   "why", json_text(findings->refusal.message), "user_stacks", way,
				   "instance_user_stacks", instance_way, "instance_files",
				   has_instance_files(findings), "features", features);
	int err = report ? 0 : -1;

	for (int feature = 0; feature < FEATURE_COUNT && !err; feature++)
		err = json_array_append_new(
			features,
			json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", feature_name(feature), "for",
				  feature_meaning(feature), "works", results[feature].works, "why",
				  json_text(results[feature].why), "fix",
				  json_text(results[feature].fix)));
	if (!err)
		return json_put(report, stdout);
	json_decref(report);
	return err;
}

static int doctor_run(const void *values, int count, char **operands)
{
	const bool *json = values;
	struct findings findings = {};

	(void)count;
	(void)operands;
	signals_install_and_open_fd();
	for (int feature = 0; feature < FEATURE_COUNT && !interrupted(); feature++)
		feature_probe(feature, &findings.features[feature]);
	findings.records = !try_recording_of_whole_machine(&findings.way, &findings.refusal);
	signals_exit_as_interrupted();
	if (!*json)
		print_table(&findings);
	else if (print_json(&findings))
		return EXIT_FAILED;
	return findings.records ? EXIT_DONE : EXIT_FAILED;
}

static const struct option_row rows[] = {
	{.name = "json", .type = OPTION_FLAG, .group = "Output", .help = "print a JSON object"},
	{.name = NULL},
};

const struct command doctor_command = {
	.name = "doctor",
	.operands = "",
	.summary = "tell what works on this machine for this user, and how to fix the rest",
	.rows = rows,
	.values_bytes = sizeof(bool) /* --json */,
	.run = doctor_run,
};
