/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap stop`: ends instances and removes all of their files and maps. A reader of an instance
 * still finishes its file.
 */

#include "capture/instance/stop.h"
#include "capture/bpffs/folder.h"
#include "command.h"
#include "terminal/message.h"

static int stop_one(const char *name)
{
	struct stackmap_error error;
	struct folder *folder = NULL;
	int result = folder_open(name, &folder, &error) ?: folder_lock(folder, &error);

	result = result ?: instance_stop(folder, &error);
	folder_close(&folder);
	return result ? message_failure(result, &error) : EXIT_DONE;
}

static int stop_run(const void *values, int count, char **operands)
{
	int status = EXIT_DONE;

	(void)values;
	for (int i = 0; i < count; i++) {
		int ended = stop_one(operands[i]);

		status = status ?: ended;
	}
	return status;
}

const struct command stop_command = {
	.name = "stop",
	.operands = "NAME...",
	.operands_max = UINT32_MAX,
	.operands_missing = "name the instance; 'stackmap status' lists them",
	.summary = "end instances, and leave nothing of them",
	.run = stop_run,
};
