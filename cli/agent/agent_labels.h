/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The labels of this machine in the store: those that the user gave, and those of the agent. */
#ifndef CLI_AGENT_LABELS_H
#define CLI_AGENT_LABELS_H

#include "store/rows/window_rows.h"
#include "string_list.h"

/* `frequency`: Hz, which may be below the one that was asked for; 0: nothing is sampled.
 * `memory_bytes`: of all processes of the agent. */
void agent_labels_tell(struct window_rows *rows, const struct string_list *given, u64 frequency,
		       u64 memory_bytes);

#endif
