/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the windows of the last hour as recordings on this machine. A store has sums, an exemplar
 * has each event with its time. All reading commands accept the files.
 */
#ifndef CLI_AGENT_EXEMPLARS_H
#define CLI_AGENT_EXEMPLARS_H

#include "session/rotation.h"

struct exemplars {
	struct rotation rotation;
	char *output; /* FOLDER/window.data; NULL = windows are not kept */
	bool failed;  /* the last window could not be kept, which was reported */
};

/* Makes the folder. Exit status; errors were printed. */
int exemplars_begin(struct exemplars *exemplars, const char *folder, u64 window_seconds);

/* Keeps the recording behind a descriptor, and closes the descriptor. A failure is reported once,
 * until a window is kept again. */
void exemplars_keep(struct exemplars *exemplars, int fd);

void exemplars_clear(struct exemplars *exemplars);

#endif
