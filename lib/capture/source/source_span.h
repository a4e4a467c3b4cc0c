/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans: the time from one event to another; and objects that are alive from one event to another.
 *
 *   span:BEGIN..END  span:BEGIN..END/by=KEY,stack=begin,if=CONDITIONS/
 *
 * BEGIN and END are words of tracepoints, system calls and functions, and both become sources. The
 * sources of END have the events, whose value is the time since BEGIN in ns; the sources of BEGIN
 * have no events. With stack=begin an event has the stacks and the thread of BEGIN. With stack=both
 * an event has the stacks and the thread of END, and a second event, of the source of BEGIN, has
 * the stacks and the thread of BEGIN.
 *
 *   alive:BEGIN..END/by=KEY,value=NUMBER,every=NUMBER,if=CONDITIONS/
 *
 * Here the sources of BEGIN have the events, and only events whose key no END had when recording
 * ended. Where BEGIN is the return of a user function, a third source is the entry of that
 * function, whose arguments are the value and the numbers of the conditions. All words alive: share
 * their keys, so END of one word may end an object that began at BEGIN of another word.
 */
#ifndef LIB_CAPTURE_SOURCE_SPAN_H
#define LIB_CAPTURE_SOURCE_SPAN_H

#include "source_word.h"

struct source_span {
	struct source_word begin, end;
	/* Word of the entry of the function at whose return an object begins. */
	struct source_word call;
	bool is_alive, has_call;
	const char *unit; /* unit of the value that is read at the function's entry; NULL: none */
	char *text;	  /* memory that the strings of `begin` and `end` are in */
	char *call_text;
};

bool source_span_is_span_word(const char *text);

/* Parses a word "span:..." or "alive:...". `text` and `subject` (for errors) must outlive the span.
 * -EINVAL, -ERANGE: not a valid span. */
int source_span_parse(const char *text, const char *subject, struct source_span *span,
		      struct stackmap_error *error);
void source_span_clear(struct source_span *span);

#endif
