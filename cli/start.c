/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap start`: begins a recording by an instance that lives in the kernel. This process
 * creates the instance, attaches its programs, makes its folder, and ends.
 */
#include <grp.h>
#include <stdlib.h>

#include "capture/bpffs/folder.h"
#include "capture/instance/persist.h"
#include "command.h"
#include "command_line.h"
#include "process/privilege.h"
#include "process/signals.h"
#include "recording/session_face.h"
#include "session/session.h"
#include "table.h"
#include "terminal/message.h"

struct start_values {
	struct session_options record;
	const char *group;
	bool quiet;
};

struct start {
	const struct start_values *values;
	struct session_options options;
	gid_t group;
	struct folder *folder;
	struct session *session;
};

static int find_group_id_by_name(const char *name, gid_t *group)
{
	struct group *found = name ? getgrnam(name) : NULL;
	u64 number;

	*group = FOLDER_NO_GROUP;
	if (found)
		*group = found->gr_gid;
	else if (name && !number_parse(name, false, &number) && number < FOLDER_NO_GROUP)
		*group = number;
	else if (name) {
		message("--group %s: no such group", name);
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

/*
 * Sets the session's options. If the options choose no tasks, the tasks of the whole machine are
 * recorded.
 */
static int set_options_and_create_session(struct start *start)
{
	struct session_options *options = &start->options;
	struct stackmap_error error;
	int result;

	*options = start->values->record;
	options->all = options->all || !options->pids.count;
	options->has_files = true;
	result = session_create(options, NULL, &start->session, &error);
	return result ? print_error_and_choose_exit_status(result, &error)
		      : find_group_id_by_name(start->values->group, &start->group);
}

static void print_next_steps(const struct start *start, const char *name,
			     const struct stackmap_error *files_refusal)
{
	struct capture *capture = session_capture(start->session);

	if (start->values->quiet)
		return;
	if (start->options.aggregate)
		message("%s: counts events by thread and stack until its tables are full; "
			"'stackmap record --instance %s' takes the counts into a file, for "
			"'stackmap report --hist log2', and 'stackmap reset %s' frees the rows",
			name, name, name);
	else if (!start->options.flight)
		message("%s: records until its rings are full; 'stackmap record --instance %s' "
			"empties them into a file, --flight would keep the latest events",
			name, name);
	report_refused_kernel_features(capture);
	if (loaded_lacks_deferral(capture_loaded(capture)) &&
	    !capture_refusals(capture)->user_stacks.message[0])
		message("%s: this kernel cannot defer user stacks ('stackmap doctor' says why); "
			"they are walked by frame pointers alone",
			name);
	if (loaded_lacks_engine(capture_loaded(capture)))
		message("%s: it cannot share the engine that is running, of another build or "
			"incomplete; its user stacks are unwound for it alone",
			name);
	if (files_refusal->message[0])
		message("%s: this kernel refuses files that cat could read (%s); 'stackmap "
			"status', "
			"'dump --instance', 'script --instance' and 'record --instance' read it",
			name, files_refusal->message);
}

static int start_instance(struct start *start, const char *name)
{
	struct persist_options options = {.group = start->group,
					  .pids = &session_target(start->session)->pids};
	struct stackmap_error error, files_refusal;
	struct capture *capture;
	char *command_line;
	int result = folder_create_and_lock(name, &start->folder, &error)
			     ?: session_open(start->session, 0, NULL, &error)
			     ?: session_start(start->session, &error);

	if (result)
		return print_error_and_choose_exit_status(result, &error);
	capture = session_capture(start->session);
	command_line = command_line_read();
	options.command_line = command_line ?: "";
	options.symbolizers = capture_symbolizers(capture);
	result = instance_persist(capture_loaded(capture), start->folder, &options, &files_refusal,
				  &error);
	free(command_line);
	if (result)
		return print_error_and_choose_exit_status(result, &error);
	print_next_steps(start, name, &files_refusal);
	return EXIT_DONE;
}

static int start_run(const void *values, int count, char **operands)
{
	struct start start = {.values = values};
	int status;

	(void)count;
	raise_open_file_limit();
	signals_install_and_open_fd();
	status = set_options_and_create_session(&start) ?: start_instance(&start, operands[0]);
	session_close(&start.session);
	folder_close(&start.folder);
	if (status)
		signals_exit_as_interrupted();
	return status;
}

/* clang-format off */
static const struct option_row rows[] = {
	TARGET_EVENT_ROWS(struct start_values, record., "999"),
	PERIOD_ROW(struct start_values, record.),
	TARGET_ROW(struct start_values, record.trace_ids, .name = "trace-ids",
	    .type = OPTION_FLAG, .group = "Events",
	    .help = "the trace and span that a thread works for; a process that reads the instance finds them"),
	TARGET_ROW(struct start_values, record.count_unmet, .name = "count-unmet",
	    .type = OPTION_FLAG, .group = "Events",
	    .help = "count the events that do not meet the conditions (if=) of their source"),
	TARGET_ROW(struct start_values, record.aggregate, .name = "aggregate",
	    .type = OPTION_FLAG, .group = "Events",
	    .help = "keep counts, sums and histograms of values by stack, and no single events"),
	TARGET_ROW(struct start_values, record.all, .name = "all", .letter = 'a',
	    .type = OPTION_FLAG, .group = "Tasks", .help = "the whole machine: the default"),
	TARGET_TASK_ROWS(struct start_values, record.),
	TARGET_ROW(struct start_values, record.flight, .name = "flight", .type = OPTION_SIZE,
	    .argument = "SIZE", .group = "Recording", .min = 1 << 12, .max = 1ULL << 36,
	    .help = "keep the last SIZE bytes; without it recording ends when the rings are full"),
	TARGET_ROW(struct start_values, record.stop_when, .name = "stop-when",
	    .type = OPTION_STRINGS, .argument = "EVENT", .group = "Recording",
	    .help = "stop recording with this event, as -e takes it; may be repeated"),
	TARGET_ROW(struct start_values, record.snapshot_when, .name = "snapshot-when",
	    .type = OPTION_STRINGS, .argument = "EVENT", .group = "Recording",
	    .help = "needs a process: see 'record --instance NAME --snapshot-when EVENT'"),
	TARGET_ROW(struct start_values, record.after, .name = "after", .type = OPTION_STRING,
	    .argument = "TIME", .group = "Recording",
	    .help = "500ms, 5s, 10min after the event of --stop-when"),
	AT_ROW(struct start_values, record.),
	TARGET_SIZE_ROWS(struct start_values, record.),
	TARGET_ROW(struct start_values, group, .name = "group", .type = OPTION_STRING,
	    .argument = "GROUP", .group = "Recording", .help = "this group may read its files, too"),
	TARGET_ROW(struct start_values, quiet, .name = "quiet", .letter = 'q',
	    .type = OPTION_FLAG, .group = "Recording", .help = "print nothing but errors"),
	{0},
};
/* clang-format on */

const struct command start_command = {
	.name = "start",
	.operands = "NAME",
	.operands_max = 1,
	.operands_missing = "name the instance, as in 'stackmap start NAME -e EVENT'",
	.summary = "record without a process, until 'stackmap stop NAME'",
	.rows = rows,
	.values_bytes = sizeof(struct start_values),
	.run = start_run,
};
