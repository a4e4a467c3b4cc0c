/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels as JSON strings: each is encoded once, however often it is written. */
#ifndef LIB_EXPORT_JSON_LABELS_H
#define LIB_EXPORT_JSON_LABELS_H

#include <stdio.h>

#include "event_stack.h"

/* All zero: none yet. */
struct json_labels {
	char **texts; /* by the id of the label; NULL: not encoded yet */
	u32 room;
};

int json_labels_put(struct json_labels *labels, const struct event_frame *frame,
		    FILE *to); /* -ENOMEM */
void json_labels_clear(struct json_labels *labels);

#endif
