/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `stackmap doctor`: what works here for this user, what does not, why, and what to do about it. */
#include <jansson.h>

#include "capture/feature.h"
#include "command.h"
#include "trial.h"

struct doctor_values {
	bool json;
};

struct findings {
	struct feature_result features[FEATURE_COUNT];
	bool records;
	struct stackmap_error refusal; /* why not */
};

static void print_feature(enum feature feature, const struct feature_result *result)
{
	printf("%-4s %-23s %s\n", result->works ? "yes" : "no", feature_name(feature),
	       feature_meaning(feature));
	if (result->why[0])
		printf("     why: %s\n", result->why);
	if (result->fix[0])
		printf("     fix: %s\n", result->fix);
}

/* How user stacks are finished that cannot be at the event itself. */
static const struct user_way {
	const char *name;
	const char *meaning;
} deferred = {"deferred", "the kernel unwinds them in the task, before it returns to user mode"},
  assisted = {"assisted", "'stackmap record' finishes them from a copy of registers and stack"};

static const struct user_way *user_way(const struct feature_result *results)
{
	return results[FEATURE_TASK_WORK].works ? &deferred : &assisted;
}

static void print_table(const struct findings *findings)
{
	const struct user_way *way = user_way(findings->features);

	for (int feature = 0; feature < FEATURE_COUNT; feature++)
		print_feature(feature, &findings->features[feature]);
	printf("\nUser stacks are %s here: %s.\n", way->name, way->meaning);
	if (findings->records)
		printf("Recording works here.\n");
	else
		printf("Recording does not work here: %s\n", findings->refusal.message);
}

static json_t *feature_json(enum feature feature, const struct feature_result *result)
{
	return json_pack("{s:s, s:s, s:b, s:s, s:s}", "name", feature_name(feature), "for",
			 feature_meaning(feature), "works", result->works, "why", result->why,
			 "fix", result->fix);
}

static int print_json(const struct findings *findings)
{
	const struct feature_result *results = findings->features;
	json_t *features = json_array();
	json_t *report = json_pack("{s:b, s:s, s:s, s:o}", "works", findings->records, "why",
				   findings->refusal.message, "user_stacks",
				   user_way(results)->name, "features", features);
	int err = report ? 0 : -1;

	for (int feature = 0; feature < FEATURE_COUNT && !err; feature++)
		err = json_array_append_new(features, feature_json(feature, &results[feature]));
	if (!err)
		err = json_dumpf(report, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	printf("\n");
	json_decref(report);
	return err;
}

static int doctor_run(const void *values, int count, char **operands)
{
	const struct doctor_values *doctor = values;
	struct findings findings = {};

	(void)count;
	(void)operands;
	for (int feature = 0; feature < FEATURE_COUNT; feature++)
		feature_probe(feature, &findings.features[feature]);
	findings.records = !trial_recording(&findings.refusal);
	if (!doctor->json)
		print_table(&findings);
	else if (print_json(&findings))
		return EXIT_FAILED;
	return findings.records ? EXIT_DONE : EXIT_FAILED;
}

static const struct option_row rows[] = {
	{.name = "json",
	 .type = OPTION_FLAG,
	 .target = offsetof(struct doctor_values, json),
	 .group = "Output",
	 .help = "print a JSON object"},
	{.name = NULL},
};

const struct command doctor_command = {
	.name = "doctor",
	.operands = "",
	.summary = "tell what works on this machine for this user, and how to fix the rest",
	.rows = rows,
	.values_bytes = sizeof(struct doctor_values),
	.run = doctor_run,
};
