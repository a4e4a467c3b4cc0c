/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terminal of `top`. Closing the screen restores the former contents of the terminal. */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include <stdio.h>
#include <time.h>

#include "capture/instance/self_stop.h"
#include "stack_table.h"
#include "top/top_model.h"

/* The contents of a refresh of `top`, for the screen and for the text of --batch. */

struct top_view {
	const struct top_model *model;
	const struct trace_ledger *ledger;
	struct top_choice choice;
	struct top_lines lines;
	const char *instance; /* name of the instance; NULL: events come from programs of `top` */
	const struct table_stat *stacks; /* state of the instance's stack map */
	const struct self_stop *stop;	 /* the event that stops the instance */
	time_t time;			 /* time of the refresh */
	double seconds;			 /* length of the time span that is shown, seconds */
	bool paused;
	/* stacks are of traces or of values of the model's attribute, which are listed, too */
	bool shows_traces;
};

/* Formats the two lines above the view's lines, each cut to `bytes`. */
void top_format_title(const struct top_view *view, char *text, size_t bytes);
void top_format_ledger_line(const struct top_view *view, char *text, size_t bytes);
const char *top_heading_of_columns(const struct top_view *view);

/* Formats the start of a line, up to the name and the object. These come last, because they have
 * any length. */
void top_format_line_start(const struct top_line *line, char *text, size_t bytes);

/* Prints the view as it is now, with at most `limit` functions or stacks (for `top --batch`). */
void top_print_view(const struct top_view *view, u64 limit, FILE *to);

struct top_screen;

/* A typed key; TOP_KEY_REDRAW: the size of the terminal has changed. */
enum top_key {
	TOP_KEY_NONE, /* no key was typed */
	TOP_KEY_OTHER,
	TOP_KEY_REDRAW,
	TOP_KEY_QUIT,
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_FIRST,
	TOP_KEY_LAST,
	TOP_KEY_UNFOLD,
	TOP_KEY_ORDER,
	TOP_KEY_EVENT,
	TOP_KEY_STACKS,
	TOP_KEY_VALUES,
	TOP_KEY_PAUSE,
	TOP_KEY_HELP,
};

/* Checks if the terminal can show a screen. Returns the exit status; errors were printed. */
int top_screen_check(void);

/* Opens the screen. Returns the exit status; errors were printed. No other output is allowed until
 * the screen is closed. */
int top_screen_open(struct top_screen **out);
void top_screen_close(struct top_screen **screen);

/* Returns the next key that was typed, without waiting for one. */
enum top_key top_screen_next_key(struct top_screen *screen);

/* The number of lines of a view that fit on the screen. */
u32 top_screen_lines_per_page(const struct top_screen *screen);

/* Draws the view. `selected`: number of the selected line, which is made visible. */
void top_screen_draw(struct top_screen *screen, const struct top_view *view, u32 selected);
void top_screen_draw_help(struct top_screen *screen);

#endif
