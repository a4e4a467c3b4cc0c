/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The damage of each file is reported at once; the caller reports the damage of the whole at the
 * end, as for a single file. */
#include "recordings.h"

#include <errno.h>
#include <stdlib.h>

#include "command_line.h"
#include "error.h"
#include "process/file_limit.h"
#include "product_version.h"
#include "terminal/message.h"

static void note_missing(void *arg, const struct stackmap_error *why)
{
	(void)arg;
	message_error(why);
}

void recordings_init(struct recording_list *list)
{
	*list = (struct recording_list){.note = note_missing};
}

u32 recordings_tell_damage(const struct recording_list *list)
{
	u32 damaged = 0;

	for (u32 i = 0; i < list->count; i++) {
		const struct stackmap_error *damage = trace_reader_damage(list->readers[i]);

		if (!trace_reader_ledger(list->readers[i]))
			message("%s: has no ledger, so the result has none",
				trace_reader_name(list->readers[i]));
		if (!damage)
			continue;
		message_error(damage);
		damaged++;
	}
	return damaged;
}

static void set_damage(struct trace_reader *reader, const struct recording_list *list, u32 damaged)
{
	struct stackmap_error why;

	error_set(&why, EBADMSG, "%s: %u of its %u recordings are damaged or cannot be read",
		  trace_reader_name(reader), damaged + list->missing, list->count + list->missing);
	trace_reader_set_damage(reader, &why);
}

static int merge(const struct recording_list *list, const char *path, struct trace_reader **reader,
		 struct stackmap_error *error)
{
	char *command = command_line_read();
	const struct recording_merge_info info = {.command = command ?: "stackmap",
						  .version = STACKMAP_VERSION};
	int err = recording_merge_in_memory(list->readers, list->count, path, &info, reader, error);

	free(command);
	return err;
}

struct trace_reader *recordings_open_folder(const char *path)
{
	struct recording_list list;
	struct trace_reader *reader = NULL;
	struct stackmap_error error;
	u32 damaged;

	file_limit_raise();
	recordings_init(&list);
	if (recording_list_add_folder(&list, path, &error) || merge(&list, path, &reader, &error)) {
		message_error(&error);
	} else {
		damaged = recordings_tell_damage(&list);
		if (damaged || list.missing)
			set_damage(reader, &list, damaged);
	}
	recording_list_clear(&list);
	return reader;
}
