/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The contents of a refresh of `top`, for the screen and for the text of --batch. */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include <stdio.h>
#include <time.h>

#include "stack_table.h"
#include "top/top_model.h"

struct top_view {
	const struct top_model *model;
	const struct trace_ledger *ledger;
	struct top_choice choice;
	struct top_lines lines;
	const char *instance;		 /* NULL = own programs */
	const struct table_stat *stacks; /* of the instance's stack map */
	time_t time;			 /* of the refresh */
	double seconds;			 /* length of the time shown */
	bool paused;
};

/* The lines above those of the view, cut to `bytes`. */
void top_title(const struct top_view *view, char *text, size_t bytes);
void top_account(const struct top_view *view, char *text, size_t bytes);
const char *top_columns(const struct top_view *view);

/* A line without name and object, which come last, because they have any length. */
void top_line_start(const struct top_line *line, char *text, size_t bytes);

/* Prints a refresh, with at most `limit` functions or stacks. */
void top_print(const struct top_view *view, u64 limit, FILE *to);

#endif
