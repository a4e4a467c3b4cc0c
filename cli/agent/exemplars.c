/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/exemplars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "output/output.h"
#include "terminal/message.h"

#define KEPT_SECONDS 3600
#define PIECE_BYTES (64 << 10)

int exemplars_begin(struct exemplars *exemplars, const char *folder, u64 window_seconds)
{
	if (mkdir(folder, 0700) && errno != EEXIST) {
		message("--exemplars %s: %s", folder, strerror(errno));
		return EXIT_FAILED;
	}
	if (asprintf(&exemplars->output, "%s/window.data", folder) < 0) {
		exemplars->output = NULL;
		message("--exemplars %s: %s", folder, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	exemplars->rotation = (struct rotation){.output = exemplars->output,
						.keep = KEPT_SECONDS / window_seconds ?: 1};
	return EXIT_DONE;
}

static int copy(int from, struct output *to)
{
	char piece[PIECE_BYTES];
	off_t at = 0;
	ssize_t bytes;
	int result = 0;

	while (!result && (bytes = pread(from, piece, sizeof(piece), at)) > 0) {
		result = output_write(to, piece, bytes);
		at += bytes;
	}
	return result ?: bytes < 0 ? -errno : 0;
}

static int keep(const char *path, int fd, struct stackmap_error *error)
{
	struct output output;
	int result = output_open(path, OUTPUT_RECORDING, &output, error);

	if (result)
		return result;
	result = copy(fd, &output);
	if (result)
		snprintf(error->message, sizeof(error->message), "%s: %s", path, strerror(-result));
	else
		result = output_publish(&output, error);
	output_close(&output);
	return result;
}

void exemplars_keep(struct exemplars *exemplars, int fd)
{
	struct stackmap_error error, removal;
	char *path = rotation_next(&exemplars->rotation, clock_ms(), &removal);
	bool failed = path && keep(path, fd, &error);

	if (removal.message[0])
		message_error(&removal);
	if (failed && !exemplars->failed)
		message_error(&error);
	exemplars->failed = failed;
	free(path);
	close(fd);
}

void exemplars_clear(struct exemplars *exemplars)
{
	free(exemplars->output);
	exemplars->output = NULL;
}
