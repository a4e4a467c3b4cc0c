/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many recordings that a command reads as one. */
#ifndef CLI_RECORDINGS_H
#define CLI_RECORDINGS_H

#include "merge/recording_list.h"
#include "merge/recording_merge.h"

/* Initializes an empty list. */
void recordings_init(struct recording_list *list);

/* Reports the damaged recordings, after the merge; returns their number. */
u32 recordings_tell_damage(const struct recording_list *list);

/* Merges all recordings of a folder in memory. The result is damaged if one of them is. NULL and a
 * message on failure. */
struct trace_reader *recordings_open_folder(const char *path);

#endif
