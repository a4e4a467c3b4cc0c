/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traces and spans as text: hexadecimal digits, as W3C Trace Context writes them. */
#ifndef LIB_TRACE_CONTEXT_NAME_H
#define LIB_TRACE_CONTEXT_NAME_H

#include "trace/event.h"

#define CONTEXT_NAME_ROOM 33
#define CONTEXT_NAME_NONE "-" /* the event has no trace and span */

/* Writes an id to `room` and returns `room`, or returns CONTEXT_NAME_NONE if `context` is NULL. */
const char *trace_name(const struct trace_context *context, char room[CONTEXT_NAME_ROOM]);
const char *span_name(const struct trace_context *context, char room[CONTEXT_NAME_ROOM]);

#endif
