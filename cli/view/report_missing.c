/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists by file the code that has no names, with the reason and a remedy. Percentages are of the
 * number of events of all sources.
 */
#include <errno.h>
#include <stdio.h>

#include "format/json_text.h"
#include "format/printable.h"
#include "report.h"
#include "report/profile/missing_names.h"
#include "symbol/debuginfo/debian_package.h"
#include "terminal/message.h"

/* If at least this share of events lacks names, every report mentions the share. */
#define NOTED_SHARE 0.1
#define BUILD_ID_TEXT (2 * TRACE_BUILD_ID_MAX + 1)
#define FIX_BYTES (2 * DEBIAN_PACKAGE_BYTES + 128)

static double percent_of_events(const struct missing_names *missing, u64 count)
{
	return missing->events ? 100.0 * (double)count / (double)missing->events : 0;
}

static void format_build_id(const struct missing_file *file, char text[BUILD_ID_TEXT])
{
	u32 bytes = file->mapping ? file->mapping->build_id_bytes : 0;

	text[0] = 0;
	for (u32 i = 0; i < bytes; i++)
		sprintf(text + 2 * i, "%02x", file->mapping->build_id[i]);
}

/* Writes the remedy for the missing names of a file to `text`; "": none is known. */
static void format_remedy_for_missing_names(const struct missing_file *file, char text[FIX_BYTES])
{
	char package[DEBIAN_PACKAGE_BYTES];

	if (!missing_wants_debug_file(file->reason))
		snprintf(text, FIX_BYTES, "%s", missing_reason_fix(file->reason));
	else if (debian_package_of(DEBIAN_PACKAGE_LISTS, file->object, package))
		snprintf(
			text, FIX_BYTES,
			"install %s-dbgsym (or %s-dbg) of the recorded version, or unpack it below "
			"--sysroot, or name a server in DEBUGINFOD_URLS",
			package, package);
	else
		snprintf(text, FIX_BYTES,
			 "install its debug symbols, or put them below --sysroot, or name a server "
			 "in DEBUGINFOD_URLS");
}

/* Returns the number of files that have events and are large enough to be shown. */
static u32 count_shown_files(const struct report *report, const struct missing_names *missing)
{
	u32 count = 0;

	while (count < missing->count && count < report->limit && missing->files[count].children &&
	       percent_of_events(missing, missing->files[count].self) >= report->least)
		count++;
	return count;
}

static void print_file_line(const char *name, const char *text)
{
	if (!text[0])
		return;
	printf("%8s%s ", "", name);
	printable_put(text, stdout);
	putchar('\n');
}

static int print_interpreter(void *has_lines, const char *text)
{
	printf("%s# functions of scripts are not read: ", *(bool *)has_lines ? "" : "\n");
	printable_put(text, stdout);
	putchar('\n');
	*(bool *)has_lines = true;
	return 0;
}

int report_missing_plain(const struct report *report)
{
	char build_id[BUILD_ID_TEXT], fix[FIX_BYTES];
	struct missing_names missing;
	bool has_lines = false;
	int err = missing_names_find(report->reader, report->profile, report->debug, &missing);
	u32 shown;

	if (err)
		return err;
	shown = count_shown_files(report, &missing);
	printf("\n# %llu of %llu events end in code without a name\n",
	       (unsigned long long)missing.self, (unsigned long long)missing.events);
	if (shown)
		printf("# %6s  %8s  %6s  %s\n", "children", "self", "places", "file");
	for (u32 i = 0; i < shown && !ferror(stdout); i++) {
		const struct missing_file *file = &missing.files[i];

		printf("\n%7.2f%%  %7.2f%%  %6u  ", percent_of_events(&missing, file->children),
		       percent_of_events(&missing, file->self), file->places);
		printable_put(file->object, stdout);
		putchar('\n');
		format_build_id(file, build_id);
		format_remedy_for_missing_names(file, fix);
		print_file_line("build id:", build_id);
		print_file_line("why:", missing_reason_why(file->reason));
		print_file_line("fix:", fix);
	}
	if (shown == report->limit && shown < missing.count)
		printf("\n# %u of %u files shown, --top 0 shows all\n", shown, missing.count);
	missing_each_unread_interpreter(report->reader, print_interpreter, &has_lines);
	missing_names_free(&missing);
	return 0;
}

static json_t *make_json_of_missing_share(const struct missing_names *missing, u64 count)
{
	return json_pack("{s:f, s:I}", "percent", percent_of_events(missing, count), "count",
			 (json_int_t)count);
}

static json_t *make_json_of_missing_file(const struct missing_names *missing,
					 const struct missing_file *file)
{
	char build_id[BUILD_ID_TEXT], fix[FIX_BYTES];

	format_build_id(file, build_id);
	format_remedy_for_missing_names(file, fix);
	return json_pack("{s:o, s:s, s:o, s:o, s:I, s:s, s:s, s:o}", "file",
			 json_text(file->object), "build_id", build_id, "children",
			 make_json_of_missing_share(missing, file->children), "self",
			 make_json_of_missing_share(missing, file->self), "places",
			 (json_int_t)file->places, "reason", missing_reason_name(file->reason),
			 "why", missing_reason_why(file->reason), "fix", json_text(fix));
}

static int append_interpreter_json(void *array, const char *text)
{
	return json_array_append_new(array, json_text(text));
}

int report_missing_json(const struct report *report)
{
	struct missing_names missing;
	int failed = 0,
	    err = missing_names_find(report->reader, report->profile, report->debug, &missing);
	json_t *files, *interpreters, *value;
	u32 shown;

	if (err)
		return err;
	files = json_array();
	interpreters = json_array();
	shown = count_shown_files(report, &missing);
	for (u32 i = 0; i < shown; i++)
		failed |= json_array_append_new(
			files, make_json_of_missing_file(&missing, &missing.files[i]));
	failed |= missing_each_unread_interpreter(report->reader, append_interpreter_json,
						  interpreters);
	value = json_pack("{s:I, s:I, s:o, s:o}", "events", (json_int_t)missing.events, "self",
			  (json_int_t)missing.self, "missing", files, "unread_interpreters",
			  interpreters);
	missing_names_free(&missing);
	if (failed) {
		json_decref(value);
		return -ENOMEM;
	}
	return report_put_json(report, value);
}

void print_hint_for_missing_names(const struct report *report)
{
	double share = missing_names_share(report->profile);

	if (share >= NOTED_SHARE)
		message("%.0f%% of the events end in user code without a name: 'report --missing' "
			"says why, and what would bring names",
			100 * share);
}
