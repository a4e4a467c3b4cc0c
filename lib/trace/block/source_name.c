/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A name with a colon that is not a tracepoint is that of a function (u:, ur:, k:, kr:) or of a
 * file, and is not shortened. */
#include "trace/block/source_name.h"

#include <stddef.h>
#include <string.h>

const char *trace_source_short_name(const char *name)
{
	const char *colon = strchr(name, ':');
	size_t prefix = colon ? (size_t)(colon - name) : 0;

	if (!colon || strchr(colon + 1, ':') || strchr(name, '/'))
		return name;
	if ((prefix == 1 && strchr("uk", *name)) || (prefix == 2 && name[1] == 'r'))
		return name;
	return colon + 1;
}

const char *trace_source_state(const char *name)
{
	size_t prefix = strlen(TRACE_STATE_PREFIX);

	return strncmp(name, TRACE_STATE_PREFIX, prefix) ? NULL : name + prefix;
}

#define SPAN_PREFIX "span:"

static bool is_source_name_of_span_begin(const char *name)
{
	size_t length = strlen(name);

	return length >= 2 && !strcmp(name + length - 2, "..");
}

bool trace_source_is_span(const char *name)
{
	return !strncmp(name, SPAN_PREFIX, strlen(SPAN_PREFIX)) &&
	       !is_source_name_of_span_begin(name);
}

bool trace_source_is_span_begin(const char *name)
{
	return !strncmp(name, SPAN_PREFIX, strlen(SPAN_PREFIX)) &&
	       is_source_name_of_span_begin(name);
}
