/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The screen by ncurses. Signals that end the program are blocked and come through a descriptor
 * (cli/process/signals.h), so the program closes the screen as for the key `q`. The key for a core
 * dump (Ctrl-\) would end the program without closing the screen, so that key is switched off.
 */
#include "top_screen.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "format/printable.h"
#include "terminal/message.h"
#include "terminal/terminal.h"

#define HEAD_LINES 3
#define ESCAPE_MS 25 /* time for the rest of an escape sequence */

struct top_screen {
	SCREEN *terminal;
	u32 first; /* the first visible line of the view */
	bool color;
};

enum color { COLOR_HOT = 1, COLOR_WARM, COLOR_KERNEL };

static const struct {
	int code;
	enum top_key key;
} keys[] = {
	{'q', TOP_KEY_QUIT},
	{'k', TOP_KEY_UP},
	{KEY_UP, TOP_KEY_UP},
	{'j', TOP_KEY_DOWN},
	{KEY_DOWN, TOP_KEY_DOWN},
	{KEY_PPAGE, TOP_KEY_PAGE_UP},
	{KEY_NPAGE, TOP_KEY_PAGE_DOWN},
	{' ', TOP_KEY_PAGE_DOWN},
	{'g', TOP_KEY_FIRST},
	{KEY_HOME, TOP_KEY_FIRST},
	{'G', TOP_KEY_LAST},
	{KEY_END, TOP_KEY_LAST},
	{'\r', TOP_KEY_UNFOLD},
	{'\n', TOP_KEY_UNFOLD},
	{KEY_ENTER, TOP_KEY_UNFOLD},
	{'s', TOP_KEY_ORDER},
	{'e', TOP_KEY_EVENT},
	{'t', TOP_KEY_STACKS},
	{'v', TOP_KEY_VALUES},
	{'p', TOP_KEY_PAUSE},
	{'h', TOP_KEY_HELP},
	{'?', TOP_KEY_HELP},
	{KEY_RESIZE, TOP_KEY_REDRAW},
	{'L' - '@', TOP_KEY_REDRAW},
};

static const char *const help_lines[] = {
	"up down k j    the line above, below",
	"PgUp PgDn      a page up, down",
	"g G            the first line, the last",
	"Enter          unfold a function (its hottest stacks) or a stack, and fold it again",
	"s              order functions by self, or by total",
	"t              stacks instead of functions, and back",
	"e              the next event that has come",
	"v              the values of what is unfolded: as a histogram (log2), a linear one, or "
	"not",
	"p              hold the picture; events are counted on",
	"q              quit",
	"",
	"SELF: the function was the innermost. TOTAL: it was anywhere in the stack.",
	"Shares are of what came since the last refresh. The ledger is of all events.",
};

static void start_terminal(struct top_screen *screen)
{
	struct termios settings;

	set_term(screen->terminal);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	if (!tcgetattr(STDIN_FILENO, &settings)) {
		settings.c_cc[VQUIT] = _POSIX_VDISABLE;
		tcsetattr(STDIN_FILENO, TCSANOW, &settings);
	}
	screen->color = terminal_color(stdout) && has_colors();
	if (!screen->color)
		return;
	start_color();
	use_default_colors();
	init_pair(COLOR_HOT, COLOR_RED, -1);
	init_pair(COLOR_WARM, COLOR_GREEN, -1);
	init_pair(COLOR_KERNEL, COLOR_YELLOW, -1);
}

int top_screen_check(void)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return EXIT_DONE;
	message("top: standard input and output must be a terminal; --batch prints text");
	return EXIT_USAGE;
}

int top_screen_open(struct top_screen **out)
{
	struct top_screen *screen = calloc(1, sizeof(*screen));

	setlocale(LC_CTYPE, "");
	if (screen)
		screen->terminal = newterm(NULL, stdout, stdin);
	if (!screen || !screen->terminal) {
		message("top: terminal %s: is not known; --batch prints text",
			getenv("TERM") ?: "(TERM is not set)");
		free(screen);
		return EXIT_FAILED;
	}
	start_terminal(screen);
	*out = screen;
	return EXIT_DONE;
}

void top_screen_close(struct top_screen **screen)
{
	if (!*screen)
		return;
	endwin();
	delscreen((*screen)->terminal);
	free(*screen);
	*screen = NULL;
}

enum top_key top_screen_key(struct top_screen *screen)
{
	int code = getch();

	(void)screen;
	if (code == ERR)
		return TOP_KEY_NONE;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return TOP_KEY_OTHER;
}

u32 top_screen_page(const struct top_screen *screen)
{
	(void)screen;
	return LINES > HEAD_LINES ? (u32)(LINES - HEAD_LINES) : 1;
}

/* The next character; `?` for bytes that are not printable or not a character of the locale. */
static wchar_t next_character(const char *text, u32 *bytes)
{
	mbstate_t state = {0};
	wchar_t wide;

	if (printable_next(text, bytes) != PRINTABLE ||
	    mbrtowc(&wide, text, *bytes, &state) != *bytes || !iswprint(wide))
		return '?';
	return wide;
}

/* Prints text, up to the right edge. */
static void put(const char *text)
{
	for (u32 bytes; *text; text += bytes) {
		wchar_t wide[2] = {next_character(text, &bytes)};

		if (getcurx(stdscr) + wcwidth(wide[0]) >= COLS)
			return;
		addwstr(wide);
	}
}

static void put_line(int row, attr_t attributes, const char *text)
{
	if (row >= LINES)
		return;
	move(row, 0);
	clrtoeol();
	attrset(attributes);
	put(text);
	if (attributes & A_REVERSE)
		mvchgat(row, 0, -1, attributes, 0, NULL);
	attrset(A_NORMAL);
}

static attr_t line_color(const struct top_screen *screen, const struct top_line *line)
{
	if (!screen->color)
		return A_NORMAL;
	if (!line->key)
		return line->in_kernel ? COLOR_PAIR(COLOR_KERNEL) : A_NORMAL;
	if (line->self >= 5)
		return COLOR_PAIR(COLOR_HOT);
	return line->self >= 0.5 ? COLOR_PAIR(COLOR_WARM) : A_NORMAL;
}

static void draw_line(const struct top_screen *screen, int row, const struct top_line *line,
		      bool selected)
{
	char start[64];

	if (row >= LINES)
		return;
	top_line_start(line, start, sizeof(start));
	move(row, 0);
	clrtoeol();
	attrset(selected ? A_NORMAL : line_color(screen, line));
	put(start);
	put(line->text);
	if (!selected)
		attrset(A_DIM);
	if (line->object[0]) {
		put("  ");
		put(line->object);
	}
	attrset(A_NORMAL);
	if (selected)
		mvchgat(row, 0, -1, A_REVERSE, 0, NULL);
}

/* The last line that the selected line unfolds into. */
static u32 last_of(const struct top_view *view, u32 selected)
{
	while (selected + 1 < view->lines.count && !view->lines.lines[selected + 1].key)
		selected++;
	return selected;
}

static void scroll_to(struct top_screen *screen, const struct top_view *view, u32 selected)
{
	u32 page = top_screen_page(screen), last = last_of(view, selected);

	if (screen->first + page > view->lines.count)
		screen->first = view->lines.count > page ? view->lines.count - page : 0;
	if (last >= screen->first + page)
		screen->first = last - page + 1;
	if (selected < screen->first)
		screen->first = selected;
}

void top_screen_draw(struct top_screen *screen, const struct top_view *view, u32 selected)
{
	char text[512];

	erase();
	scroll_to(screen, view, selected);
	top_title(view, text, sizeof(text));
	put_line(0, A_BOLD, text);
	top_account(view, text, sizeof(text));
	put_line(1, A_NORMAL, text);
	put_line(2, A_REVERSE, top_columns(view));
	for (u32 i = 0; i < top_screen_page(screen); i++) {
		u32 line = screen->first + i;

		if (line < view->lines.count)
			draw_line(screen, HEAD_LINES + i, &view->lines.lines[line],
				  line == selected);
	}
	refresh();
}

void top_screen_help(struct top_screen *screen)
{
	(void)screen;
	erase();
	put_line(0, A_BOLD, "stackmap top: keys");
	for (size_t i = 0; i < sizeof(help_lines) / sizeof(*help_lines); i++)
		put_line(2 + i, A_NORMAL, help_lines[i]);
	refresh();
}
