/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One parsed word of -e: the kind of source, and the name or glob to search for. */
#ifndef LIB_CAPTURE_SOURCE_WORD_H
#define LIB_CAPTURE_SOURCE_WORD_H

#include "source_ops.h"

struct source_word {
	const struct source_ops *ops; /* the kind of source, if the word has a prefix such as u:;
					 NULL = the word is a name of any other kind */
	struct source_query query;
	char *parts; /* memory that the query's strings are in */
	char *prefix;
};

/* Parses a word of -e. `text` and `subject` (for errors) must outlive the word. -EINVAL, -ERANGE:
 * not a valid word. */
int source_word_parse(const char *text, const char *subject, struct source_word *word,
		      struct stackmap_error *error);
void source_word_clear(struct source_word *word);

#endif
