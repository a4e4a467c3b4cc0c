/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many recordings that a command takes for one. */
#ifndef CLI_RECORDINGS_H
#define CLI_RECORDINGS_H

#include "merge/recording_list.h"
#include "merge/recording_merge.h"

/* Empty; what is missing is said. */
void recordings_init(struct recording_list *list);

/* Once they are merged: says which of them are not whole. How many. */
u32 recordings_tell_damage(const struct recording_list *list);

/* All in a folder, merged in memory. If not all of them are whole, it counts as damaged. NULL and a
 * message on failure. */
struct trace_reader *recordings_open_folder(const char *path);

#endif
