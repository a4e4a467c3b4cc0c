/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The windows of the last hour as recordings on the machine itself: a store has sums, these have
 * each event with its time. Any reading command takes them.
 */
#ifndef CLI_AGENT_EXEMPLARS_H
#define CLI_AGENT_EXEMPLARS_H

#include "session/rotation.h"

struct exemplars {
	struct rotation rotation;
	char *output; /* FOLDER/window.data; NULL: none are kept */
	bool failed;  /* that was said */
};

/* Makes the folder. Exit status. */
int exemplars_begin(struct exemplars *exemplars, const char *folder, u64 window_seconds);

/* Keeps the recording behind a descriptor, which it closes. */
void exemplars_keep(struct exemplars *exemplars, int fd);

void exemplars_clear(struct exemplars *exemplars);

#endif
