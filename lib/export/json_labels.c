/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ids are counted from 0 without gaps, so an array holds them. */
#include "json_labels.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "format/json_text.h"

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

	if (array_make_zeroed(labels->texts, frame->label_id + 1UL, labels->room))
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
