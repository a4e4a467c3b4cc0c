/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One word of -e, taken apart: which kind of source it asks for, and the name or glob to look for
 * there. */
#ifndef LIB_CAPTURE_SOURCE_WORD_H
#define LIB_CAPTURE_SOURCE_WORD_H

#include "source_ops.h"

struct source_word {
	const struct source_ops *ops; /* functions; NULL: a name, of whatever kind */
	struct source_query query;
	char *parts; /* the memory behind the query's strings */
	char *prefix;
};

/* `text` and `subject` (for errors) must outlive the word. -EINVAL, -ERANGE: it has no such form.
 */
int source_word_parse(const char *text, const char *subject, struct source_word *word,
		      struct stackmap_error *error);
void source_word_clear(struct source_word *word);

#endif
