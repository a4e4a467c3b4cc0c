/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ids are counted from 0 without gaps, so an array holds them. */
#include "json_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/json_text.h"

#define LABELS 4096 /* to begin with */

static int make_room(struct json_labels *labels, u32 label)
{
	u32 room = label < LABELS ? LABELS : 2 * label;
	char **texts;

	if (label < labels->room)
		return 0;
	texts = reallocarray(labels->texts, room, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	memset(&texts[labels->room], 0, (room - labels->room) * sizeof(*texts));
	labels->texts = texts;
	labels->room = room;
	return 0;
}

/* NULL: not enough memory. */
static char *encode(const char *label)
{
	char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);
	int err = memory ? json_put_text(label, memory) : -ENOMEM;

	if (memory && fclose(memory))
		err = -ENOMEM;
	if (!err)
		return text;
	free(text);
	return NULL;
}

int json_labels_put(struct json_labels *labels, const struct event_frame *frame, FILE *to)
{
	char **text;

	if (make_room(labels, frame->label_id))
		return -ENOMEM;
	text = &labels->texts[frame->label_id];
	if (!*text)
		*text = encode(frame->label);
	if (!*text)
		return -ENOMEM;
	fputs(*text, to);
	return 0;
}

void json_labels_clear(struct json_labels *labels)
{
	for (u32 i = 0; i < labels->room; i++)
		free(labels->texts[i]);
	free(labels->texts);
	*labels = (struct json_labels){};
}
