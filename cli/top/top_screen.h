/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terminal of `top`. What was on it before comes back when it is closed. */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include "top_view.h"

struct top_screen;

/* What was typed; or TOP_KEY_REDRAW, as the terminal has another size now. */
enum top_key {
	TOP_KEY_NONE, /* nothing was typed */
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
	TOP_KEY_PAUSE,
	TOP_KEY_HELP,
};

/* Exit status; what is wrong was said. */
int top_screen_check(void);

/* The same. Nothing else may be printed until it is closed. */
int top_screen_open(struct top_screen **out);
void top_screen_close(struct top_screen **screen);

/* The next one that is there already. */
enum top_key top_screen_key(struct top_screen *screen);

/* How many lines of a view fit. */
u32 top_screen_page(const struct top_screen *screen);

/* `selected`: a line of the view, which is always seen. */
void top_screen_draw(struct top_screen *screen, const struct top_view *view, u32 selected);
void top_screen_help(struct top_screen *screen);

#endif
