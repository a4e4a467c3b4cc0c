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
#include "format/value_text.h"
#include "terminal/message.h"
#include "terminal/terminal.h"
#include "view/ledger_text.h"

/* Columns are as wide as their numbers; names come last, and are cut on terminals only. */

#define OBJECT_MAX 32 /* width of the column for a file's name on a terminal */

static void format_weight_of_source(const struct top_view *view, char *text, size_t bytes)
{
	const struct top_model *model = view->model;
	const struct top_source *source;
	char value[VALUE_TEXT_ROOM];

	snprintf(text, bytes, "0 events");
	if (view->choice.kind >= model->source_count)
		return;
	source = &model->sources[view->choice.kind];
	if (source->unit[0])
		value_text(source->weight, source->unit, value);
	else
		snprintf(value, sizeof(value), "%llu events", (unsigned long long)source->weight);
	snprintf(text, bytes, "%s", value);
}

void top_format_title(const struct top_view *view, char *text, size_t bytes)
{
	const struct top_model *model = view->model;
	const char *source = view->choice.kind < model->source_count
				     ? model->sources[view->choice.kind].name
				     : "";
	char clock[16], weight[64], place_text[32] = "";
	u32 place = 0, count = 0;
	struct tm local;

	localtime_r(&view->time, &local);
	strftime(clock, sizeof(clock), "%T", &local);
	format_weight_of_source(view, weight, sizeof(weight));
	/* the number of the shown source among the sources that have events */
	for (u32 kind = 0; kind < model->source_count; kind++) {
		count += model->sources[kind].weight != 0;
		if (model->sources[kind].weight && kind <= view->choice.kind)
			place = count;
	}
	if (count > 1)
		snprintf(place_text, sizeof(place_text), "(%u of %u) ", place, count);
	snprintf(text, bytes, "%s%s%s%s  %s in %.1f s  %s%s", clock,
		 view->paused ? " [paused]" : "", view->instance ? "  " : "", view->instance ?: "",
		 weight, view->seconds, place_text, source);
}

void top_format_ledger_line(const struct top_view *view, char *text, size_t bytes)
{
	u64 refused = table_stat_refused(view->stacks);
	char ledger[256], map[128] = "", time[48];
	int used = 0;

	ledger_format_line(view->ledger, ledger, sizeof(ledger));
	if (view->instance && refused)
		snprintf(map, sizeof(map), "; stack map: full, %llu stacks of events are not in it",
			 (unsigned long long)refused);
	else if (view->instance && view->stacks->max_entries)
		snprintf(map, sizeof(map), "; stack map: %u %% full",
			 table_stat_fill_percent(view->stacks));
	if (view->stop->is_over)
		used = snprintf(text, bytes, "stopped by %s at %s; ", view->stop->name,
				format_time_of_self_stop(view->stop, time, sizeof(time)));
	if ((size_t)used < bytes)
		snprintf(text + used, bytes - used, "ledger: %s%s", ledger, map);
}

const char *top_heading_of_columns(const struct top_view *view)
{
	if (view->choice.stacks && view->shows_traces)
		return view->model->attribute ? "  SHARE  COMMAND          ATTRIBUTE               "
						"          INNERMOST "
						"FUNCTION"
					      : "  SHARE  COMMAND          TRACE                   "
						"          INNERMOST "
						"FUNCTION";
	if (view->choice.stacks)
		return "  SHARE  COMMAND          INNERMOST FUNCTION";
	if (view->choice.order == TOP_BY_TRACE)
		return view->model->attribute ? "  SHARE* ATTRIBUTE" : "  SHARE* TRACE";
	return view->choice.order == TOP_BY_SELF ? "  SELF*   TOTAL  FUNCTION"
						 : "  SELF    TOTAL* FUNCTION";
}

#define LABEL_COLUMNS 32 /* columns of a trace, or of an attribute's value, beside a stack */
/* Bytes of the start of a line: numbers, a command, and a label of characters of 4 bytes. */
#define LINE_START_ROOM 256

/* Appends a trace or a value, of LABEL_COLUMNS columns, and two blanks. */
static void append_label(const char *label, char *text, size_t bytes)
{
	size_t used = strlen(text), columns = printable_count(label);
	FILE *to = fmemopen(text + used, bytes - used, "w");

	if (!to)
		return;
	printable_put_cut(label, LABEL_COLUMNS, to);
	fprintf(to, "%*s", columns < LABEL_COLUMNS ? (int)(LABEL_COLUMNS - columns) + 2 : 2, "");
	fclose(to);
}

void top_format_line_start(const struct top_line *line, char *text, size_t bytes)
{
	switch (line->type) {
	case TOP_LINE_FUNCTION:
		snprintf(text, bytes, "%6.2f%% %6.2f%%  ", line->self, line->total);
		break;
	case TOP_LINE_STACK:
		snprintf(text, bytes, "%6.2f%%  %-15s  ", line->self, line->comm);
		if (line->trace)
			append_label(line->trace, text, bytes);
		break;
	case TOP_LINE_TRACE:
		snprintf(text, bytes, "%6.2f%%  ", line->self);
		break;
	case TOP_LINE_PART:
		snprintf(text, bytes, "         %6.2f%%  %s", line->self,
			 line->comm[0] ? line->comm : "[unknown]");
		break;
	case TOP_LINE_FRAME:
	case TOP_LINE_END:
		snprintf(text, bytes, "             [%c] ", line->in_kernel ? 'k' : 'u');
		break;
	case TOP_LINE_VALUES:
		snprintf(text, bytes, "         ");
		break;
	}
}

/* A line is cut to the width of the terminal. */
static void print_line(const struct top_line *line, FILE *to)
{
	char start[LINE_START_ROOM];
	u32 object, used;

	top_format_line_start(line, start, sizeof(start));
	printable_put(start, to);
	object = printable_count(line->object);
	object = object > OBJECT_MAX && terminal_width() ? OBJECT_MAX : object;
	used = printable_count(start) + (object ? object + 2 : 0);
	printable_put_cut(line->text, columns_left_in_terminal_line(used), to);
	if (object) {
		fputs("  ", to);
		printable_put_cut(line->object, terminal_width() ? OBJECT_MAX : 0, to);
	}
	fputc('\n', to);
}

void top_print_view(const struct top_view *view, u64 limit, FILE *to)
{
	char text[512];

	top_format_title(view, text, sizeof(text));
	printable_put(text, to);
	fputc('\n', to);
	top_format_ledger_line(view, text, sizeof(text));
	fprintf(to, "%s\n%s\n", text, top_heading_of_columns(view));
	for (u32 i = 0; i < view->lines.count; i++) {
		if (view->lines.lines[i].key && !limit--)
			break;
		print_line(&view->lines.lines[i], to);
	}
	fputc('\n', to);
}

#define HEAD_LINES 3
#define ESCAPE_MS 25 /* milliseconds in which the rest of an escape sequence must come */

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
	"s              order functions by self, or by total; with --sort trace: or traces; with "
	"an "
	"attribute: or its values",
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
	screen->color = can_show_color_on_terminal(stdout) && has_colors();
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

enum top_key top_screen_next_key(struct top_screen *screen)
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

u32 top_screen_lines_per_page(const struct top_screen *screen)
{
	(void)screen;
	return LINES > HEAD_LINES ? (u32)(LINES - HEAD_LINES) : 1;
}

/* Decodes the next character of a text; `?` for bytes that are not printable or not a character of
 * the locale. */
static wchar_t decode_next_character(const char *text, u32 *bytes)
{
	mbstate_t state = {0};
	wchar_t wide;

	if (classify_next_character(text, bytes) != PRINTABLE ||
	    mbrtowc(&wide, text, *bytes, &state) != *bytes || !iswprint(wide))
		return '?';
	return wide;
}

/* Prints text, up to the right edge. */
static void draw_text_up_to_right_edge(const char *text)
{
	for (u32 bytes; *text; text += bytes) {
		wchar_t wide[2] = {decode_next_character(text, &bytes)};

		if (getcurx(stdscr) + wcwidth(wide[0]) >= COLS)
			return;
		addwstr(wide);
	}
}

static void draw_text_line(int row, attr_t attributes, const char *text)
{
	if (row >= LINES)
		return;
	move(row, 0);
	clrtoeol();
	attrset(attributes);
	draw_text_up_to_right_edge(text);
	if (attributes & A_REVERSE)
		mvchgat(row, 0, -1, attributes, 0, NULL);
	attrset(A_NORMAL);
}

static attr_t color_of_top_line(const struct top_screen *screen, const struct top_line *line)
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
	char start[LINE_START_ROOM];

	if (row >= LINES)
		return;
	top_format_line_start(line, start, sizeof(start));
	move(row, 0);
	clrtoeol();
	attrset(selected ? A_NORMAL : color_of_top_line(screen, line));
	draw_text_up_to_right_edge(start);
	draw_text_up_to_right_edge(line->text);
	if (!selected)
		attrset(A_DIM);
	if (line->object[0]) {
		draw_text_up_to_right_edge("  ");
		draw_text_up_to_right_edge(line->object);
	}
	attrset(A_NORMAL);
	if (selected)
		mvchgat(row, 0, -1, A_REVERSE, 0, NULL);
}

static void scroll_to_selected_line(struct top_screen *screen, const struct top_view *view,
				    u32 selected)
{
	u32 page = top_screen_lines_per_page(screen), last = selected;

	/* The last line that the selected line unfolds into. */
	while (last + 1 < view->lines.count && !view->lines.lines[last + 1].key)
		last++;

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
	scroll_to_selected_line(screen, view, selected);
	top_format_title(view, text, sizeof(text));
	draw_text_line(0, A_BOLD, text);
	top_format_ledger_line(view, text, sizeof(text));
	draw_text_line(1, A_NORMAL, text);
	draw_text_line(2, A_REVERSE, top_heading_of_columns(view));
	for (u32 i = 0; i < top_screen_lines_per_page(screen); i++) {
		u32 line = screen->first + i;

		if (line < view->lines.count)
			draw_line(screen, HEAD_LINES + i, &view->lines.lines[line],
				  line == selected);
	}
	refresh();
}

void top_screen_draw_help(struct top_screen *screen)
{
	(void)screen;
	erase();
	draw_text_line(0, A_BOLD, "stackmap top: keys");
	for (size_t i = 0; i < sizeof(help_lines) / sizeof(*help_lines); i++)
		draw_text_line(2 + i, A_NORMAL, help_lines[i]);
	refresh();
}
