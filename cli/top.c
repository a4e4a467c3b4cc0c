/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap top`: the hottest functions, refreshed every few seconds, of an instance or of own
 * events. A refresh shows only the events since the last one, so shares are exact, and a function
 * that is not hot any more disappears at once.
 *
 * The loop waits for keys, signals and the next visit to the rings. There are two models: the
 * screen shows the first, and the second collects the windows that come.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/drain/pace.h"
#include "capture/instance/status.h"
#include "capture/load/loaded.h"
#include "clock.h"
#include "command.h"
#include "error.h"
#include "process/privilege.h"
#include "process/signals.h"
#include "product_version.h"
#include "recording/session_face.h"
#include "report/event/event_filter.h"
#include "session/session.h"
#include "session/session_options.h"
#include "stack_table.h"
#include "terminal/message.h"
#include "top/top_screen.h"
#include "view/from.h"
#include "view/ledger_text.h"
#include "view/recording.h"
#include "view/report.h"

#define FREQUENCY_DEFAULT 99
#define DELAY_DEFAULT 2 /* seconds between two refreshes */
#define DELAY_OF_STORE 10

/* --- the feed: where events come from --- */

/*
 * The source of the events of `top`, window after window: programs of its own, which end with
 * `top`; a drain instance, which `top` reads; a flight recorder, whose events since the last window
 * are shown and stay in the recorder; or the last minutes of a store.
 *
 * The rings are not emptied while a window is shown. A window therefore holds a limited number of
 * events, which are counted quickly, and memory grows neither with time nor with load.
 */

/* The last minutes of a store, which are read anew at every refresh. */
struct store_feed {
	const struct from_values *values; /* options of the store; NULL: no store is shown */
	struct from_choice choice;
	const char *cgroup;
	u64 seconds;		/* length of the time span that is shown, seconds */
	struct text_set events; /* names of event sources; index: kind of the event */
};

struct top_feed {
	struct session_options options;
	struct session *session;
	struct trace_ledger ledger; /* ledger of all windows together; for a flight recorder, the
				       recorder's own ledger */
	struct table_stat stacks;   /* state of the instance's stack map at the last window */
	struct self_stop stop;	    /* the event that stops an instance, as of the last window */
	u64 seen_until; /* for a flight recorder: time of the last event that was shown, ns */
	struct event_filter filter; /* the traces and spans that all windows show */
	struct store_feed store; /* the store, if events come from a store and not from a session */
};

/*
 * A store: servers are opened for each refresh, so a server that was away comes back. While a
 * screen is shown, messages are suppressed: the ledger counts the missing events.
 */
#define SINCE_DEFAULT "5m"

static int refuse_recording_options_with_store(const struct session_options *record)
{
	const struct {
		const char *name;
		bool is_given;
	} options[] = {
		{"--instance", record->instance},
		{"--pid", record->pids.count > 0},
		{"--cpu", record->cpus},
		{"--off-cpu", record->off_cpu},
		{"--wakers", record->wakers},
		{"--no-kernel", record->no_kernel},
		{"--no-user", record->no_user},
		{"--user-at-syscall", record->user_at_syscall},
		{"--max-depth", record->max_depth},
		{"--ring", record->ring},
		{"--frequency", record->frequency},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_given) {
			message("%s: not with --from, which records nothing", options[i].name);
			return -EINVAL;
		}
	return 0;
}

/* Opens the store without a query, to see if the servers answer. Exit status; errors were printed.
 */
static int check_store_of_top(struct store_feed *feed, const struct from_values *from,
			      const struct session_options *record)
{
	struct from_values values = *from;
	struct shards *shards;
	struct string_list *wanted;

	if (from->url && !from->since)
		values.since = SINCE_DEFAULT;
	if (parse_store_options(&values, &feed->choice) ||
	    (from->url && refuse_recording_options_with_store(record)))
		return EXIT_USAGE;
	if (!from->url)
		return EXIT_DONE;
	if (from->until) {
		message("--until: not with top, which shows the time up to now");
		return EXIT_USAGE;
	}
	feed->values = from;
	feed->events = TEXT_SET;
	feed->seconds = feed->choice.question.to - feed->choice.question.from;
	/* Fills the lists, which point into the feed, so the feed must not be moved. */
	wanted = feed->choice.question.wanted;
	feed->cgroup = record->cgroup;
	wanted[STORE_FIELD_EVENT] = record->events;
	wanted[STORE_FIELD_COMM] = record->comms;
	if (feed->cgroup)
		wanted[STORE_FIELD_CGROUP] =
			(struct string_list){.items = &feed->cgroup, .count = 1};
	shards = connect_to_store(&feed->choice);
	if (!shards)
		return EXIT_FAILED;
	report_missing_store_servers(&feed->choice, shards);
	shards_close(&shards);
	return EXIT_DONE;
}

static int query_events_of_store(struct store_feed *feed, struct trace_reader **reader,
				 struct stackmap_error *error)
{
	struct store_recording_request request = {.question = feed->choice.question,
						  .name = feed->choice.access.url,
						  .description = "",
						  .version = STACKMAP_VERSION,
						  .events = &feed->events};
	struct store_account account;
	struct shards *shards;
	int err = shards_open(&feed->choice.access, &shards, error);

	if (err)
		return err;
	request.question.to = (u64)time(NULL);
	request.question.from = request.question.to - feed->seconds;
	err = store_recording_open(shards, &request, &account, reader, error);
	feed->choice.is_partial = !are_all_shards_available(shards);
	shards_close(&shards);
	if (!err)
		store_account_clear(&account);
	return err;
}

/* Starts the events and drops privileges. Exit status; errors were printed. `options` must outlive
 * the feed; its `trace_ids` asks for ids of an instance's events, too. The caller closes the feed
 * in any case. */
static int start_events_of_top(struct top_feed *feed, const struct session_options *options,
			       const struct event_filter *filter, const struct from_values *from)
{
	struct stackmap_error error;
	int result, status;

	*feed = (struct top_feed){
		.options = *options,
		.seen_until = clock_ns(CLOCK_MONOTONIC),
		.filter = *filter,
	};
	feed->options.use = SESSION_TAKE_OR_VIEW;
	feed->options.trace_ids = options->trace_ids && !options->instance;
	feed->options.windows = true;
	feed->options.window_events = SESSION_WINDOW_EVENTS_MAX;
	feed->options.name = "top";
	status = check_store_of_top(&feed->store, from, options);
	if (status || feed->store.values)
		return status;
	raise_open_file_limit();
	result = session_create(&feed->options, NULL, &feed->session, &error)
			 ?: session_open(feed->session, 0, NULL, &error)
			 ?: session_start(feed->session, &error);
	if (result)
		return print_error_and_choose_exit_status(result, &error);
	if (options->trace_ids &&
	    !capture_loaded(session_capture(feed->session))->plan.config.trace_ids) {
		message("--sort trace or by an attribute, --trace and --span: instance %s has no "
			"trace ids; start --trace-ids has",
			options->instance);
		return EXIT_FAILED;
	}
	report_refused_kernel_features(session_capture(feed->session));
	return drop_privileges_of_session(feed->session, false, NULL);
}

/* Takes the events since the last window; the filter leaves out events that were shown before. */
static int take_events_since_last_window(struct top_feed *feed, struct trace_reader **reader,
					 struct event_filter *filter, struct stackmap_error *error)
{
	int result;

	*filter = feed->filter;
	if (!feed->session) {
		result = query_events_of_store(&feed->store, reader, error);
		if (!result)
			feed->ledger = *trace_reader_ledger(*reader);
		return result;
	}
	if (feed->options.instance) {
		instance_read_table_stat(capture_loaded(session_capture(feed->session)),
					 &feed->stacks);
		self_stop_read(capture_loaded(session_capture(feed->session)), &feed->stop);
	}
	if (session_kind(feed->session) == SESSION_VIEWER)
		filter->from = feed->seen_until + 1;
	result = session_take_window_or_snapshot(feed->session, reader, NULL, error);
	feed->ledger = *session_ledger(feed->session);
	return result;
}

/* --- the loop: windows, keys, refreshes --- */

struct top_values {
	struct session_options record;
	struct from_values from;
	u64 delay, iterations, lines;
	const char *sort, *hist, *value;
	struct string_list traces, spans;
	bool batch, stacks, no_demangle;
};

struct top {
	const struct top_values *values;
	struct top_feed feed;
	struct top_screen *screen; /* screen of the terminal; NULL with --batch */
	struct top_model *shown, *coming;
	struct top_view view;
	u32 selected;	  /* number of the selected line in the view */
	u64 selected_key; /* key of the selected line, to find the line after a refresh; 0 = no key
			   */
	bool chose_event;
	bool shows_help;
	int signals;
	u64 began, next_refresh; /* by clock_ms(): begin and end of the time span
				    that the next refresh shows */
	u64 refreshes;
	bool ended;
};

static int set_out_of_memory_error(struct stackmap_error *error)
{
	return error_set(error, ENOMEM, "top: %s", strerror(ENOMEM));
}

static void draw_screen_or_help(struct top *top)
{
	if (!top->screen)
		return;
	if (top->shows_help)
		top_screen_draw_help(top->screen);
	else
		top_screen_draw(top->screen, &top->view, top->selected);
}

static void select_line(struct top *top, u32 line)
{
	u32 count = top->view.lines.count;

	top->selected = line < count ? line : count ? count - 1 : 0;
	top->selected_key = top->selected ? top->view.lines.lines[top->selected].key : 0;
}

static int make_lines_and_keep_selection(struct top *top, struct stackmap_error *error)
{
	if (top_lines_make(&top->view.lines, top->shown, &top->view.choice))
		return set_out_of_memory_error(error);
	/* Finds the selected line among the new lines. */
	for (u32 i = 0; top->selected_key && i < top->view.lines.count; i++)
		if (top->view.lines.lines[i].key == top->selected_key) {
			top->selected = i;
			return 0;
		}
	select_line(top, top->selected);
	return 0;
}

static int print_sources(struct top *top, struct stackmap_error *error)
{
	u32 first = top->view.choice.kind;
	int result = 0;

	do {
		result = make_lines_and_keep_selection(top, error);
		if (!result)
			top_print_view(&top->view, top->values->lines, stdout);
		top->view.choice.kind = top_model_next_source(top->shown, top->view.choice.kind);
	} while (!result && top->view.choice.kind != first);
	if (fflush(stdout))
		top->ended = true; /* main() reports the error of standard output */
	return result;
}

/* The time between two refreshes, which is longer for a store. */
static u64 delay_ms(const struct top *top)
{
	u64 unset = top->feed.store.values ? DELAY_OF_STORE : DELAY_DEFAULT;

	return 1000 * (top->values->delay ?: unset);
}

static int refresh_view(struct top *top, struct stackmap_error *error)
{
	u64 now = clock_ms();
	int result;
	u32 *kind;

	if (!top->view.paused) {
		struct top_model *shown = top->shown;

		top->shown = top->coming;
		top->coming = shown;
		top->view.model = top->shown;
		top->view.time = time(NULL);
		top->view.seconds = top->feed.store.values ? (double)top->feed.store.seconds
							   : (now - top->began) / 1000.0;
	}
	top_model_clear(top->coming);
	top->began = now;
	top->next_refresh = now + delay_ms(top);
	/* Shows a source that has events, until the user has chosen a source. */
	kind = &top->view.choice.kind;
	if (!top->chose_event && *kind < top->shown->source_count &&
	    !top->shown->sources[*kind].weight)
		*kind = top_model_next_source(top->shown, *kind);
	result =
		top->screen ? make_lines_and_keep_selection(top, error) : print_sources(top, error);
	draw_screen_or_help(top);
	if (++top->refreshes == top->values->iterations)
		top->ended = true;
	return result;
}

static int add_window(struct top *top, struct stackmap_error *error)
{
	const struct frame_naming naming = {.mangled = top->values->no_demangle};
	u32 split = (top->view.choice.histograms ? EVENTS_WITH_VALUES : 0) |
		    (!top->view.shows_traces  ? 0
		     : top->coming->attribute ? EVENTS_BY_ATTRIBUTES
					      : EVENTS_BY_TRACE);
	struct trace_reader *reader;
	struct event_filter filter;
	struct profile *profile;
	int result = take_events_since_last_window(&top->feed, &reader, &filter, error);

	if (result)
		return result;
	if (top->values->value)
		result = trace_reader_choose_value(reader, top->values->value, error);
	result = result
			 ?: profile_create_split(reader, &filter, &naming, split, NULL, &profile,
						 error);
	if (!result) {
		if (profile->count)
			top->feed.seen_until = profile->last;
		if (top_model_add(top->coming, reader, profile))
			result = set_out_of_memory_error(error);
		profile_free(&profile);
	}
	trace_reader_close(&reader);
	return result;
}

/* Visits the session, and refreshes the screen if the time for it has come. Returns the time until
 * the next call in ms, or -errno. */
static int visit_session_and_refresh_screen(struct top *top, struct stackmap_error *error)
{
	struct session *session = top->feed.session;
	int ms = session ? session_visit(session, error) : PACE_MS_MAX, result = 0;
	u64 now = clock_ms();

	if (ms < 0)
		return ms;
	if (!ms || now >= top->next_refresh)
		result = add_window(top, error);
	if (!result && now >= top->next_refresh)
		result = refresh_view(top, error);
	if (result)
		return result;
	now = clock_ms();
	if (now >= top->next_refresh)
		return 0;
	return (u64)ms < top->next_refresh - now ? ms : (int)(top->next_refresh - now);
}

static void toggle_unfolded_line(struct top *top)
{
	const struct top_lines *lines = &top->view.lines;
	u64 key = top->selected < lines->count ? lines->lines[top->selected].key : 0;
	u64 *unfolded = &top->view.choice.unfolded;

	if (key)
		top->selected_key = key;
	else
		/* the selected line is a part of the unfolded line */
		top->selected_key = *unfolded;
	*unfolded = key == *unfolded ? 0 : key;
}

static void show_functions_or_stacks(struct top *top, bool stacks)
{
	top->view.choice.stacks = stacks;
	top->view.choice.unfolded = 0;
	select_line(top, 0);
}

/* Steps from no histograms to log2, to linear, and back to none. The events of a store have no
 * single values, so nothing changes there. */
static void next_histogram_scale(struct top *top)
{
	struct top_choice *choice = &top->view.choice;

	if (top->feed.store.values)
		return;
	if (choice->histograms && choice->scale == HISTOGRAM_LOG2) {
		choice->scale = HISTOGRAM_LINEAR;
		return;
	}
	choice->histograms = !choice->histograms;
	choice->scale = HISTOGRAM_LOG2;
}

static void move_selection_by(struct top *top, s64 lines)
{
	s64 line = (s64)top->selected + lines;

	select_line(top, line < 0 ? 0 : line);
}

static void handle_key(struct top *top, enum top_key key)
{
	u32 page = top_screen_lines_per_page(top->screen);

	if (top->shows_help && key != TOP_KEY_REDRAW && key != TOP_KEY_QUIT) {
		top->shows_help = false;
		return;
	}
	switch (key) {
	case TOP_KEY_NONE:
	case TOP_KEY_OTHER:
	case TOP_KEY_REDRAW:
		break;
	case TOP_KEY_QUIT:
		top->ended = true;
		break;
	case TOP_KEY_UP:
		move_selection_by(top, -1);
		break;
	case TOP_KEY_DOWN:
		move_selection_by(top, 1);
		break;
	case TOP_KEY_PAGE_UP:
		move_selection_by(top, -(s64)page);
		break;
	case TOP_KEY_PAGE_DOWN:
		move_selection_by(top, page);
		break;
	case TOP_KEY_FIRST:
		select_line(top, 0);
		break;
	case TOP_KEY_LAST:
		select_line(top, UINT32_MAX);
		break;
	case TOP_KEY_UNFOLD:
		toggle_unfolded_line(top);
		break;
	case TOP_KEY_ORDER:
		if (top->view.choice.order++ ==
		    (top->view.shows_traces ? TOP_BY_TRACE : TOP_BY_TOTAL))
			top->view.choice.order = TOP_BY_SELF;
		break;
	case TOP_KEY_EVENT:
		top->view.choice.kind = top_model_next_source(top->shown, top->view.choice.kind);
		top->chose_event = true;
		show_functions_or_stacks(top, top->view.choice.stacks);
		break;
	case TOP_KEY_STACKS:
		show_functions_or_stacks(top, !top->view.choice.stacks);
		break;
	case TOP_KEY_VALUES:
		next_histogram_scale(top);
		break;
	case TOP_KEY_PAUSE:
		top->view.paused = !top->view.paused;
		break;
	case TOP_KEY_HELP:
		top->shows_help = true;
		break;
	}
}

static int handle_typed_keys(struct top *top, struct stackmap_error *error)
{
	enum top_key key;
	int result = 0;

	if (!top->screen)
		return 0;
	while (!result && (key = top_screen_next_key(top->screen)) != TOP_KEY_NONE) {
		handle_key(top, key);
		result = make_lines_and_keep_selection(top, error);
		draw_screen_or_help(top);
	}
	return result;
}

/* Waits for a key, a signal or the time. The loop ends when the terminal is gone. */
static void wait_for_work(struct top *top, int ms)
{
	struct session *session = top->feed.session;
	struct pollfd ready[] = {
		{.fd = top->signals, .events = POLLIN},
		{.fd = top->screen ? STDIN_FILENO : -1, .events = POLLIN},
		{.fd = session ? session_wake_fd(session) : -1, .events = POLLIN},
	};

	if (poll(ready, 3, ms) <= 0)
		return;
	if (ready[0].revents)
		top->ended |= signal_asks_to_end(signals_wait(top->signals, -1, 0));
	top->ended |= (ready[1].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

static int handle_keys_until_end(struct top *top, struct stackmap_error *error)
{
	int ms = 0, result = 0;

	draw_screen_or_help(top);
	while (ms >= 0 && !result && !top->ended) {
		wait_for_work(top, ms);
		result = handle_typed_keys(top, error);
		if (result || top->ended)
			break;
		if (top->feed.session && session_is_over(top->feed.session))
			top->ended = true; /* no more events will come */
		ms = visit_session_and_refresh_screen(top, error);
	}
	return ms < 0 ? ms : result;
}

static int create_models_and_watch_signals(struct top *top)
{
	if (top_model_create(&top->shown) || top_model_create(&top->coming)) {
		message("top: %s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	top->signals = signals_install_and_open_fd();
	if (top->signals < 0) {
		message("signals: %s", strerror(-top->signals));
		return EXIT_FAILED;
	}
	top->view.model = top->shown;
	top->view.ledger = &top->feed.ledger;
	top->view.instance = top->values->record.instance;
	top->view.stacks = &top->feed.stacks;
	top->view.stop = &top->feed.stop;
	top->view.choice.stacks = top->values->stacks;
	if (report_is_attribute(top->values->sort))
		top->shown->attribute = top->coming->attribute =
			report_attribute_name(top->values->sort);
	top->view.shows_traces = top->shown->attribute || !strcmp(top->values->sort, "trace");
	top->view.choice.order = top->view.shows_traces		       ? TOP_BY_TRACE
				 : !strcmp(top->values->sort, "total") ? TOP_BY_TOTAL
								       : TOP_BY_SELF;
	top->view.choice.histograms = top->values->hist;
	top->view.choice.scale = top->values->hist && !strcmp(top->values->hist, "lin")
					 ? HISTOGRAM_LINEAR
					 : HISTOGRAM_LOG2;
	top->view.choice.histograms_first = top->values->batch ? (u32)top->values->lines : 0;
	top->view.time = time(NULL);
	return EXIT_DONE;
}

static int run_feed_and_screen(struct top *top, const struct session_options *record)
{
	const struct event_filter filter = {.traces = top->values->traces,
					    .spans = top->values->spans};
	static const char *const orders[] = {"self", "total", "trace"};
	struct stackmap_error error;
	int status = top->values->batch ? EXIT_DONE : top_screen_check();
	bool had_screen, is_order = report_is_attribute(top->values->sort);
	int result;

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		is_order |= !strcmp(top->values->sort, orders[i]);
	if (!is_order) {
		message("--sort %s: no such order; there are self, total, trace, and attributes "
			"such as "
			"service.name",
			top->values->sort);
		return EXIT_USAGE;
	}
	if (top->values->hist && top->values->from.url) {
		message("--hist: a store has sums and no single values");
		return EXIT_USAGE;
	}
	if (record->trace_ids && top->values->from.url) {
		message("--sort trace or by an attribute, --trace and --span: a store has no trace "
			"ids");
		return EXIT_USAGE;
	}
	result = event_filter_check_syntax(&filter, &error);
	if (result)
		return print_error_and_choose_exit_status(result, &error);
	status = status ?: create_models_and_watch_signals(top);
	status = status ?: start_events_of_top(&top->feed, record, &filter, &top->values->from);
	status = status ?: signals_block_until_read() ? EXIT_DONE : EXIT_FAILED;
	if (!status && !top->values->batch)
		status = top_screen_open(&top->screen);
	if (status)
		return status;
	top->began = clock_ms();
	top->next_refresh = top->began + (top->feed.store.values ? 0 : delay_ms(top));
	/*
	 * Closes the screen and reports the ledger last; --batch prints the ledger with each
	 * refresh.
	 */
	result = handle_keys_until_end(top, &error);
	had_screen = top->screen;
	top_screen_close(&top->screen);
	if (result && result != -EINTR)
		return print_error_message(&error);
	if (had_screen)
		ledger_print(&top->feed.ledger, "stackmap: ledger: ", stderr);
	if (top->refreshes && top->feed.session && !top->feed.options.instance &&
	    !top->feed.ledger.produced && !capture_events(session_capture(top->feed.session)))
		explain_recording_without_events(&top->feed.options, top->feed.session, UINT64_MAX);
	return EXIT_DONE;
}

static int top_run(const void *arg, int count, char **operands)
{
	struct top top = {.values = arg, .signals = -1};
	struct session_options record = top.values->record;
	int status;

	(void)count;
	(void)operands;
	record.trace_ids = !strcmp(top.values->sort, "trace") ||
			   report_is_attribute(top.values->sort) || top.values->traces.count ||
			   top.values->spans.count;
	/* The default is the whole machine at FREQUENCY_DEFAULT. */
	if (!record.instance && !top.values->from.url) {
		record.all = record.all || !record.pids.count;
		if (!record.events.count && !record.frequency)
			record.frequency = FREQUENCY_DEFAULT;
	}
	status = run_feed_and_screen(&top, &record);
	session_close(&top.feed.session);
	from_choice_clear(&top.feed.store.choice);
	text_set_clear(&top.feed.store.events);
	if (top.feed.store.choice.is_partial)
		status = EXIT_FAILED; /* a server did not answer at the last refresh */
	top_lines_clear(&top.view.lines);
	top_model_free(&top.shown);
	top_model_free(&top.coming);
	if (top.signals >= 0)
		close(top.signals);
	signals_exit_as_interrupted();
	return status;
}

/* clang-format off */
#define ROW(member_, ...) TARGET_ROW(struct top_values, member_, __VA_ARGS__)

static const struct option_row rows[] = {
	ROW(delay, .name = "delay", .letter = 'd', .type = OPTION_U64, .argument = "SECONDS",
	    .group = "View", .min = 1, .max = 3600, .help = "from refresh to refresh (default 2, of a store 10)"),
	ROW(sort, .name = "sort", .letter = 's', .type = OPTION_STRING, .argument = "ORDER",
	    .group = "View", .words = "self, total, trace",
	    .help = "functions by self (default) or total, traces, or an attribute's values: service.name"),
	ROW(stacks, .name = "stacks", .type = OPTION_FLAG, .group = "View",
	    .help = "begin with stacks instead of functions"),
	ROW(hist, .name = "hist", .type = OPTION_WORD, .argument = "SCALE", .group = "View",
	    .words = "log2, lin",
	    .help = "the values of what is listed as histograms (log2 or lin)"),
	ROW(batch, .name = "batch", .letter = 'b', .type = OPTION_FLAG, .group = "View",
	    .help = "print text, every refresh behind the last"),
	ROW(iterations, .name = "iterations", .letter = 'n', .type = OPTION_U64, .argument = "N",
	    .group = "View", .min = 1, .max = UINT32_MAX, .help = "end after N refreshes"),
	ROW(lines, .name = "lines", .letter = 'l', .type = OPTION_U64, .argument = "N",
	    .group = "View", .min = 1, .max = UINT32_MAX,
	    .help = "with --batch: functions or stacks of a refresh (default 20)"),
	ROW(no_demangle, .name = "no-demangle", .type = OPTION_FLAG, .group = "View",
	    .help = "names as in the symbol table"),
	TARGET_EVENT_ROWS(struct top_values, record., "99"),
	VALUE_ROW(struct top_values, value),
	TRACE_ROWS(struct top_values, ),
	ROW(record.all, .name = "all", .letter = 'a', .type = OPTION_FLAG, .group = "Tasks",
	    .help = "the whole machine: the default"),
	TARGET_TASK_ROWS(struct top_values, record.),
	ROW(record.instance, .name = "instance", .type = OPTION_STRING, .argument = "NAME",
	    .group = "Recording", .help = "the events of this instance, instead of own ones"),
	TARGET_RING_ROW(struct top_values, record.),
	FROM_ROWS(struct top_values, from),
	FROM_CAP_ROW(struct top_values, from),
	{0},
};
/* clang-format on */

const struct command top_command = {
	.name = "top",
	.operands = "",
	.operands_max = 0,
	.summary = "watch the hottest functions and stacks, live",
	.rows = rows,
	.values_bytes = sizeof(struct top_values),
	.defaults = &(const struct top_values){.lines = 20, .sort = "self"},
	.run = top_run,
};
