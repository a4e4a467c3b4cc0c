/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths begin with a slash, so a name in brackets is never a path. */
#include "trace/read/names.h"

#include <stdio.h>
#include <string.h>

const char *trace_cgroup_name(const struct trace_reader *reader, u32 number,
			      char room[TRACE_CGROUP_ROOM])
{
	const struct trace_cgroup *cgroups;

	trace_reader_cgroups(reader, &cgroups);
	if (!number)
		return "[unknown]";
	if (cgroups[number - 1].path[0])
		return cgroups[number - 1].path;
	snprintf(room, TRACE_CGROUP_ROOM, "[cgroup %llu]",
		 (unsigned long long)cgroups[number - 1].id);
	return room;
}

bool trace_cgroup_is_within(const char *name, const char *ancestor)
{
	size_t length = strlen(ancestor);

	while (length && ancestor[length - 1] == '/')
		length--;
	return !strncmp(name, ancestor, length) && (!name[length] || name[length] == '/');
}

static const char *format_hex_id(const u8 *id, size_t bytes, char room[CONTEXT_NAME_ROOM])
{
	for (size_t i = 0; i < bytes; i++)
		snprintf(room + 2 * i, 3, "%02x", id[i]);
	return room;
}

const char *format_trace_id_name(const struct trace_context *context, char room[CONTEXT_NAME_ROOM])
{
	return context && context_has_ids(context)
		       ? format_hex_id(context->trace, sizeof(context->trace), room)
		       : CONTEXT_NAME_NONE;
}

const char *format_span_id_name(const struct trace_context *context, char room[CONTEXT_NAME_ROOM])
{
	return context && context_has_ids(context)
		       ? format_hex_id(context->span, sizeof(context->span), room)
		       : CONTEXT_NAME_NONE;
}
