/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "trace/read/context_name.h"

#include <stdio.h>

static const char *name_of(const u8 *id, size_t bytes, char room[CONTEXT_NAME_ROOM])
{
	for (size_t i = 0; i < bytes; i++)
		snprintf(room + 2 * i, 3, "%02x", id[i]);
	return room;
}

const char *trace_name(const struct trace_context *context, char room[CONTEXT_NAME_ROOM])
{
	return context ? name_of(context->trace, sizeof(context->trace), room) : CONTEXT_NAME_NONE;
}

const char *span_name(const struct trace_context *context, char room[CONTEXT_NAME_ROOM])
{
	return context ? name_of(context->span, sizeof(context->span), room) : CONTEXT_NAME_NONE;
}
