/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `top` shows: the same on a screen as in the text of --batch. */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include <stdio.h>
#include <time.h>

#include "stack_table.h"
#include "top/top_lines.h"

struct top_view {
	const struct top_model *model;
	const struct trace_ledger *ledger;
	struct top_choice choice;
	struct top_lines lines;
	const char *instance;		 /* NULL: our own */
	const struct table_stat *stacks; /* of its stack map */
	time_t time;			 /* of the refresh */
	double seconds;			 /* that the refresh is of */
	bool paused;
};

/* The lines above those of the view, cut to `bytes`. */
void top_title(const struct top_view *view, char *text, size_t bytes);
void top_account(const struct top_view *view, char *text, size_t bytes);
const char *top_columns(const struct top_view *view);

/* A line without its name, which comes last, then its object: they are of any length. */
void top_line_start(const struct top_line *line, char *text, size_t bytes);

/* One refresh: at most `limit` functions or stacks. */
void top_print(const struct top_view *view, u64 limit, FILE *to);

#endif
