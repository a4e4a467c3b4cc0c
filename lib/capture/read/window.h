/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end of a file while events go on. */
#ifndef LIB_CAPTURE_WINDOW_H
#define LIB_CAPTURE_WINDOW_H

#include "capture/drain/recording.h"

/* Drain, events going on, best before the window ends: asks for the names of what went to the
 * writer, and drains until they are known; those of files of others no longer than `patience_ms`.
 * So recording_finish(), which drains nothing, has to wait for few. */
int recording_name_ahead(struct recording *recording, u32 patience_ms);

/* Drain, events going on: all that was recorded until now goes to the writer, and the user stacks
 * that are not known yet get their reasons. What follows is for another file. */
int recording_end_window(struct recording *recording);

#endif
