/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap export`: writes a recording in a format of another tool, to a file or to a receiver.
 * The formats are in lib/export, the receivers in lib/push.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "command.h"
#include "error.h"
#include "export/export_format.h"
#include "option/option.h"
#include "push/push.h"
#include "secret_file.h"
#include "terminal/message.h"
#include "terminal/output_file.h"
#include "view/names.h"
#include "view/recording.h"
#include "view/report.h"

struct export_values {
	struct recording_values recording;
	struct names_values names;
	const char *format; /* name of the format; NULL: "folded", or the receiver's own format */
	const char *output; /* name of the file; NULL: standard output */
	const char *by;
	/*
	 * URL of the receiver of profiles; user, password and certificates are options for a store,
	 * too
	 */
	const char *to, *user, *password_file, *bearer_file, *ca_file;
	bool allow_cleartext;
	struct string_list labels;
};

static int refuse_option_without_receiver(const char *option)
{
	message("%s: only with --to URL", option);
	return -EINVAL;
}

static int set_identity_or_add_label(struct export_identity *identity, const char *label)
{
	struct string_list *labels = &identity->labels;
	const char **known[] = {&identity->service, &identity->version, &identity->host};
	static const char *const keys[] = {"service", "version", "host"};
	u32 room = (u32)labels->room;
	int err;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t length = strlen(keys[i]);

		if (strncmp(label, keys[i], length) != 0 || label[length] != '=')
			continue;
		*known[i] = &label[length + 1];
		return 0;
	}
	err = array_make_room(labels->items, labels->count, room);
	labels->room = room;
	if (!err)
		labels->items[labels->count++] = label;
	return err;
}

/* Reads the secrets and opens the receiver. NULL after a message on failure. */
static struct push *open_receiver(const struct export_values *values)
{
	struct push_access access = {.user = values->user,
				     .ca_file = values->ca_file,
				     .allows_cleartext = values->allow_cleartext};
	char *password = NULL, *bearer = NULL;
	struct stackmap_error error;
	struct push *push = NULL;
	int err = 0;

	if (values->user && password_file_read(values->password_file, &password))
		return NULL;
	if (values->bearer_file)
		err = secret_file_read(values->bearer_file, &bearer, &error);
	access.password = password;
	access.bearer = bearer;
	err = err ?: push_open(values->to, &access, &push, &error);
	if (err)
		print_error_message(&error);
	secret_free(&password);
	secret_free(&bearer);
	return err ? NULL : push;
}

static bool is_standard_output_chosen(const struct export_values *values)
{
	return !values->to && (!values->output || output_file_is_standard(values->output));
}

static int export_to_file(struct trace_reader *reader, const struct export_format *format,
			  const struct export_options *options, const char *path,
			  struct stackmap_error *error)
{
	FILE *stream;
	int err = output_file_open(path, &stream, error), write_err;

	if (err)
		return err;
	write_err = format->write(reader, options, stream, error);
	err = output_file_close(&stream, !write_err, error);
	return err ?: write_err;
}

/* Writes the recording to the receiver `push` if it is not NULL, else to the output file. */
static int write_recording(const struct export_values *values, const struct export_format *format,
			   struct push *push, const struct recording_choice *choice,
			   const struct export_options *options)
{
	struct trace_reader *reader = recording_open(choice);
	struct stackmap_error error;
	int err;

	if (!reader)
		return EXIT_FAILED;
	err = push ? push_recording(push, reader, options, &error)
		   : export_to_file(reader, format, options, values->output ?: "-", &error);
	return recording_close(&reader, choice, err, &error);
}

static int export_recording_to_receiver(const struct export_values *values,
					const struct recording_choice *choice,
					struct export_options *options)
{
	struct push *push = open_receiver(values);
	int status = EXIT_FAILED, err = 0;

	if (!push)
		return status;
	/* Sets the labels of the identity, which point into `values`. */
	for (size_t i = 0; i < values->labels.count && !err; i++)
		err = set_identity_or_add_label(&options->identity, values->labels.items[i]);
	if (err)
		message("--label: %s", strerror(ENOMEM));
	else
		status = write_recording(values, NULL, push, choice, options);
	free(options->identity.labels.items);
	options->identity = (struct export_identity){};
	push_close(&push);
	return status;
}

static int check_receiver_options(const struct export_values *values)
{
	struct stackmap_error error;
	struct push_url url;

	if (values->to && (values->format || values->output || values->by)) {
		message("--to URL: says the format as well, and goes without --format, --output "
			"and --by");
		return -EINVAL;
	}
	if (!values->to) {
		/* Refuses options that only a receiver uses if no receiver is given. */
		if (values->bearer_file)
			return refuse_option_without_receiver("--bearer-file");
		return values->labels.count ? refuse_option_without_receiver("--label") : 0;
	}
	if (push_url_parse(values->to, &url, &error)) {
		message("--to: %s", error.message);
		return -EINVAL;
	}
	push_url_clear(&url);
	if (values->bearer_file && (values->user || values->password_file)) {
		message("--bearer-file: instead of --user and --password-file, not beside them");
		return -EINVAL;
	}
	if (values->password_file && !values->user) {
		message("--password-file: --user is missing");
		return -EINVAL;
	}
	for (size_t i = 0; i < values->labels.count; i++) {
		const char *equals = strchr(values->labels.items[i], '=');

		if (equals && equals != values->labels.items[i] && equals[1])
			continue;
		message("--label %s: it is KEY=VALUE", values->labels.items[i]);
		return -EINVAL;
	}
	return 0;
}

/*
 * The options for user, password and certificates apply to the store if there is one, else to the
 * receiver.
 */
static void assign_access_options(struct export_values *values)
{
	struct from_values *from = &values->recording.from;

	if (from->url || !values->to)
		return;
	values->user = from->user;
	values->password_file = from->password_file;
	values->ca_file = from->ca_file;
	values->allow_cleartext = from->allow_cleartext;
	from->user = from->password_file = from->ca_file = NULL;
	from->allow_cleartext = false;
}

static int export_run(const void *arg, int count, char **operands)
{
	struct export_values values = *(const struct export_values *)arg;
	const struct export_format *format = export_format_find(values.format ?: "folded");
	struct recording_choice choice;
	struct export_options options;
	int status;

	(void)count;
	assign_access_options(&values);
	if (check_receiver_options(&values))
		return EXIT_USAGE;
	if (values.by && !format->weighed) {
		message("--by %s: --format %s has no choice of it, folded has", values.by,
			format->name);
		return EXIT_USAGE;
	}
	if (choose_recording_by_options(&values.recording, operands, &choice))
		return EXIT_USAGE;
	if (format->binary && is_standard_output_chosen(&values) && isatty(STDOUT_FILENO)) {
		message("--format %s: is binary and not shown on a terminal, use --output FILE",
			format->name);
		return EXIT_USAGE;
	}
	choice.store.question.no_inlined = values.names.no_inline;
	choice.output = is_standard_output_chosen(&values) ? NULL : values.output;
	options = (struct export_options){.filter = choice.filter, .by = values.by};
	status = recording_names_open(&values.names, &choice, &options.naming);
	if (status)
		return status;
	status = values.to ? export_recording_to_receiver(&values, &choice, &options)
			   : write_recording(&values, format, NULL, &choice, &options);
	names_close(&options.naming);
	return status;
}

static const struct option_row rows[] = {
	{.name = "format",
	 .letter = 'f',
	 .type = OPTION_WORD,
	 .argument = "FORMAT",
	 .target = offsetof(struct export_values, format),
	 .group = "Output",
	 .help = "folded (default), json, pprof, otlp, speedscope, perf-script, chrome, "
		 "perfetto, stack_map_bin or mappings",
	 .words = EXPORT_FORMATS},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = offsetof(struct export_values, output),
	 .group = "Output",
	 .help = "write to this file (default -, standard output)"},
	{.name = "by",
	 .type = OPTION_WORD,
	 .argument = "WHAT",
	 .target = offsetof(struct export_values, by),
	 .group = "Output",
	 .help = "folded: what events weigh, count or value (default value where it has a unit)",
	 .words = "count, value"},
	{.name = "to",
	 .type = OPTION_STRING,
	 .argument = "URL",
	 .target = offsetof(struct export_values, to),
	 .group = "Sending",
	 .help = "send it: otlp+https://HOST, pyroscope+..., parca+..."},
	{.name = "label",
	 .type = OPTION_STRINGS,
	 .argument = "LABEL",
	 .target = offsetof(struct export_values, labels),
	 .group = "Sending",
	 .help = "said of the recording: service, version, host or your own; may be repeated"},
	{.name = "bearer-file",
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = offsetof(struct export_values, bearer_file),
	 .group = "Sending",
	 .help = "a token instead of a user and a password"},
	NAMES_ROWS(struct export_values, names),
	VALUE_ROW(struct export_values, recording.value),
	RECORDING_ROWS(struct export_values, recording),
	{0},
};

const struct command export_command = {
	.name = "export",
	.operands = "[FILE]",
	.operands_max = 1,
	.summary = "write a recording in a format for other tools",
	.rows = rows,
	.values_bytes = sizeof(struct export_values),
	.run = export_run,
};
