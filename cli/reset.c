/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `stackmap reset`: empties the stack map of an instance while it records. */
#include "capture/instance/reset.h"
#include "capture/bpffs/folder.h"
#include "capture/capture.h"
#include "command.h"
#include "terminal/message.h"

static int reset(const char *name, struct stackmap_error *error)
{
	struct capture *capture = NULL;
	struct folder *folder = NULL;
	int result = folder_open(name, &folder, error) ?: folder_lock(folder, error);

	result = result ?: capture_open(folder, &capture, error);
	result = result ?: reset_instance(capture_loaded(capture), folder, error);
	capture_free(&capture);
	folder_close(&folder);
	return result;
}

static int reset_run(const void *values, int count, char **operands)
{
	struct stackmap_error error;
	int result;

	(void)values;
	(void)count;
	result = reset(operands[0], &error);
	return result ? message_failure(result, &error) : EXIT_DONE;
}

const struct command reset_command = {
	.name = "reset",
	.operands = "NAME",
	.operands_max = 1,
	.operands_missing = "name the instance; 'stackmap status' lists them",
	.summary = "empty the stack map of an instance, while it records",
	.run = reset_run,
};
