/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap pause` and `stackmap resume`: an instance stops recording for a while, and keeps its
 * data.
 */

#include "capture/bpffs/folder.h"
#include "capture/capture.h"
#include "capture/load/loaded.h"
#include "command.h"
#include "terminal/message.h"

typedef void (*change)(struct loaded *loaded, enum pause why);

static int change_one(const char *name, change change)
{
	struct stackmap_error error;
	struct capture *capture = NULL;
	struct folder *folder = NULL;
	int result = folder_open(name, &folder, &error) ?: folder_lock_wait(folder, &error);

	result = result ?: capture_open(folder, &capture, &error);
	if (!result)
		change(capture_loaded(capture), PAUSE_USER);
	capture_free(&capture);
	folder_close(&folder);
	return result ? message_failure(result, &error) : EXIT_DONE;
}

static int change_all(change change, int count, char **names)
{
	int status = EXIT_DONE;

	for (int i = 0; i < count; i++) {
		int changed = change_one(names[i], change);

		status = status ?: changed;
	}
	return status;
}

static int pause_run(const void *values, int count, char **operands)
{
	(void)values;
	return change_all(loaded_pause, count, operands);
}

static int resume_run(const void *values, int count, char **operands)
{
	(void)values;
	return change_all(loaded_resume, count, operands);
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
	.summary = "resume paused instances",
	.run = resume_run,
};
