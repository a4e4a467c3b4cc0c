/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands that act on running instances. Between `stackmap pause` and `stackmap resume` an
 * instance keeps its data and records no events; an instance that has stopped itself is resumed,
 * too. `stackmap stop` ends instances and removes all of their files and maps; a process that is
 * reading an instance still finishes its file. `stackmap reset` empties the stack map of an
 * instance while it records.
 */
#include "capture/bpffs/folder.h"
#include "capture/capture.h"
#include "capture/instance/persist.h"
#include "capture/instance/reset.h"
#include "capture/instance/self_stop.h"
#include "capture/load/loaded.h"
#include "command.h"
#include "terminal/message.h"

enum action { PAUSE, RESUME, RESET, STOP };

/* An instance that is damaged can still be stopped, so stopping does not open its maps. */
static int apply_action_to_instance(enum action action, const char *name)
{
	bool waits = action == PAUSE || action == RESUME;
	struct stackmap_error error;
	struct capture *capture = NULL;
	struct folder *folder = NULL;
	int result = folder_open(name, &folder, &error);

	result = result ?: (waits ? folder_lock_wait : folder_lock)(folder, &error);
	if (!result && action != STOP)
		result = capture_open(folder, &capture, &error);
	if (!result && action == PAUSE)
		loaded_pause(capture_loaded(capture), PAUSE_USER);
	else if (!result && action == RESUME) {
		loaded_resume(capture_loaded(capture), PAUSE_USER);
		self_stop_rearm(capture_loaded(capture));
	} else if (!result && action == RESET)
		result = reset_instance(capture_loaded(capture), folder, &error);
	else if (!result)
		result = instance_stop(folder, &error);
	capture_free(&capture);
	folder_close(&folder);
	return result ? print_error_and_choose_exit_status(result, &error) : EXIT_DONE;
}

/*
 * Applies the action to all instances, even if one of them fails. Returns the exit status of the
 * first failure.
 */
static int apply_action_to_instances(enum action action, int count, char **names)
{
	int status = EXIT_DONE;

	for (int i = 0; i < count; i++) {
		int result = apply_action_to_instance(action, names[i]);

		status = status ?: result;
	}
	return status;
}

static int pause_run(const void *values, int count, char **operands)
{
	(void)values;
	return apply_action_to_instances(PAUSE, count, operands);
}

static int resume_run(const void *values, int count, char **operands)
{
	(void)values;
	return apply_action_to_instances(RESUME, count, operands);
}

static int reset_run(const void *values, int count, char **operands)
{
	(void)values;
	return apply_action_to_instances(RESET, count, operands);
}

static int stop_run(const void *values, int count, char **operands)
{
	(void)values;
	return apply_action_to_instances(STOP, count, operands);
}

const struct command pause_command = {
	.name = "pause",
	.operands = "NAME...",
	.operands_max = UINT32_MAX,
	.operands_missing = "name the instance; 'stackmap status' lists them",
	.summary = "pause instances",
	.run = pause_run,
};

const struct command resume_command = {
	.name = "resume",
	.operands = "NAME...",
	.operands_max = UINT32_MAX,
	.operands_missing = "name the instance; 'stackmap status' lists them",
	.summary = "resume instances that were paused or have stopped themselves",
	.run = resume_run,
};

const struct command reset_command = {
	.name = "reset",
	.operands = "NAME",
	.operands_max = 1,
	.operands_missing = "name the instance; 'stackmap status' lists them",
	.summary = "empty the stack map of an instance, while it records",
	.run = reset_run,
};

const struct command stop_command = {
	.name = "stop",
	.operands = "NAME...",
	.operands_max = UINT32_MAX,
	.operands_missing = "name the instance; 'stackmap status' lists them",
	.summary = "end instances, and leave nothing of them",
	.run = stop_run,
};
