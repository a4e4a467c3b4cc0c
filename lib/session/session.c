/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When the file of a rotation is to end, the session first waits for the symbols of its addresses.
 * Meanwhile events still go into this file, and the program that uses the session handles its
 * signals and its command. The symbols of other users' files may never come, so the wait for these
 * symbols is limited to a tenth of the file's time. The limit of the wait for symbols of files of
 * root and of this user is the file's time, but not less than a second, as these symbols come
 * slowly on a busy machine. No limit is above ten seconds. Symbols that come later are used in the
 * next file. At the last file, which ends with the session, no limit is below a second.
 *
 * If a file cannot be written, a recording to one file ends. In a rotation only this file ends, and
 * new events wait in the rings until the next file can be opened.
 *
 * Stacks of the past would fill the stack map in the end. A rotation therefore resets the map at
 * the end of each file, and a session with windows of its own programs resets it once a minute. A
 * recording of aggregated events resets it when half of the map, or of a table of such events, is
 * in use. A reset that is not possible then is tried again later.
 */
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture/bpffs/folder.h"
#include "capture/drain/pace.h"
#include "capture/instance/metadata.h"
#include "capture/instance/reset.h"
#include "capture/load/loaded.h"
#include "clock.h"
#include "command_line.h"
#include "error.h"
#include "order.h"
#include "product_version.h"
#include "session/duration.h"
#include "session/rotation.h"
#include "session/trigger.h"
#include "session/window.h"
#include "symbol/kernel/kernel_image.h"
#include "trace/event.h"

/* Adds `values` to `sums`, number by number. */

static void add_counts(u64 *sums, const u64 *values, u32 count)
{
	while (count--)
		sums[count] += values[count];
}

/*
 * Adds the ledger of a later window of the same recording. Counts of events are added. Notes of a
 * window cover the whole time up to its end, so later notes replace earlier ones.
 */
static void add_window_ledger(struct trace_ledger *sum, const struct trace_ledger *ledger)
{
	sum->produced += ledger->produced;
	sum->recorded += ledger->recorded;
	sum->counted += ledger->counted;
	add_counts(sum->lost, ledger->lost, LOST_COUNT);
	add_counts(sum->kernel_reasons, ledger->kernel_reasons, REASON_COUNT);
	add_counts(sum->user_reasons, ledger->user_reasons, REASON_COUNT);
	add_counts(sum->user_stops, ledger->user_stops, STOP_COUNT);
	memcpy(sum->notes, ledger->notes, sizeof(sum->notes));
}

#define FLUSH_MS 2000
#define RESET_MS 60000
#define FILL_LOOK_MS 5000 /* time between two looks at the memory of aggregated events */
/* Time from a reset to the look that tells whether the reset made room */
#define FILL_LOOK_AFTER_RESET_MS 1000
/* A stack map or a table of aggregated events that is fuller, in percent, is reset: such a table
 * has few free rows near most keys */
#define FILL_PERCENT_MAX 50
#define TRY_MS 1000 /* milliseconds between two attempts to open the next file */
#define NAMES_MS 10
/* a file waits for symbols of other users' files for at most 1/PATIENCE_SHARE of its time */
#define PATIENCE_SHARE 10
#define PATIENCE_MS 10000 /* longest wait for symbols at the end of a file, milliseconds */
/* Least limit of the wait for symbols at the last file of a session, milliseconds; for symbols of
 * files of root and of this user also at all other files of a rotation. */
#define PATIENCE_MS_LAST 1000

struct session {
	struct session_options options;
	struct session_listener listener;
	struct session_target target;
	enum session_state state;
	enum session_kind kind;
	char *command_line;
	struct folder *folder; /* folder of the instance; NULL: own programs */
	struct capture *capture;
	u64 frequency; /* sampling rate that is stored in recordings, Hz */
	struct rotation rotation;
	struct trace_writer *writer; /* writer of the open file; NULL: no file is open */
	char *path;		     /* name of the file that is being written */
	struct window window;
	struct trace_ledger ledger; /* sum of the ledgers of the files or windows that have ended */
	bool has_failed;
	bool has_drained; /* true: the last visit has drained the rings */
	/* times by clock_ms() of the next flush, reset of the stack map and attempt to open a file
	 */
	u64 next_flush, next_reset, next_try;
	bool has_reset_in_vain; /* aggregated events: no look since the last reset has found that
				   the reset made room */
	/*
	 * by clock_ms(): a file that is to end waits for symbols of other users' files until this
	 * time; 0: no file is to end
	 */
	u64 naming_until;
	/* like naming_until, but for symbols of files of root and of this user */
	u64 naming_own_until;
	u64 instant; /* CLOCK_REALTIME, ns: events begin at this time; 0: immediately */
	u64 trigger_delay_ns;
	struct trigger_watch triggers;
	bool awaits; /* true: a session of kind SESSION_SNAPSHOT waits for a trigger before it
			writes the snapshot */
};

int session_create(const struct session_options *options, const struct session_listener *listener,
		   struct session **out, struct stackmap_error *error)
{
	struct session *session = calloc(1, sizeof(*session));
	int result = 0;

	if (!session)
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	session->options = *options;
	session->listener = listener ? *listener : (struct session_listener){};
	session->command_line = command_line_read();
	if (options->at)
		result = instant_parse(options->at, clock_ns(CLOCK_REALTIME) / 1000000000,
				       &session->instant, error);
	result = result
			 ?: trigger_parse_delay(options->after, &session->trigger_delay_ns, error)
			 ?: session_target_choose(&session->options, &session->target, error)
			 ?: rotation_parse_option(options->rotate, options->keep, options->output,
					    &session->rotation, error);
	if (result)
		session_close(&session);
	else
		*out = session;
	return result;
}

static bool has_rotation(const struct session *session)
{
	return rotation_is_on(&session->rotation);
}

static bool is_flight_recorder_of_session(const struct session *session)
{
	return session->kind == SESSION_OWN && session->options.flight;
}

/* The name of the session in messages. */
static const char *session_name(const struct session *session)
{
	return session->options.output ?: session->options.instance ?: session->options.name ?: "";
}

static void report_warning(const struct session *session, const struct stackmap_error *error)
{
	if (session->listener.warned)
		session->listener.warned(session->listener.arg, error);
}

/* --- recordings: files and windows --- */

struct recording_info {
	/* facts about the recording; the pointers in it point to the other members */
	struct trace_info info;
	struct utsname kernel;
	char hostname[256];
};

/*
 * Describes a recording that begins now. The two clocks are read one after the other; the time
 * between the two reads is too short to matter.
 */
static void init_recording_info(const struct session *session, struct recording_info *info)
{
	const struct metadata *metadata = capture_metadata(session->capture);
	const char *command = session->command_line;

	if (metadata && !session->options.output)
		command = metadata->command;
	*info = (struct recording_info){
		.info =
			{
				.start_realtime = clock_ns(CLOCK_REALTIME),
				.start_monotonic = clock_ns(CLOCK_MONOTONIC),
				.frequency = session->frequency,
				.cpus = sysconf(_SC_NPROCESSORS_CONF),
				.bits = capture_loaded(session->capture)->plan.config.bits,
				.has_times = capture_loaded(session->capture)->plan.times,
				.has_contexts =
					capture_loaded(session->capture)->plan.config.trace_ids,
				.has_attributes =
					capture_loaded(session->capture)->plan.config.trace_ids,
				.has_further =
					capture_loaded(session->capture)->plan.config.further,
				.has_counted = capture_loaded(session->capture)->plan.config.count,
				.has_aggregates =
					capture_loaded(session->capture)->plan.config.aggregate,
				.has_losses =
					capture_loaded(session->capture)->plan.config.losses != 0,
				.address_shown = are_kernel_addresses_shown(
					capture_kernel_files(session->capture)),
				.hostname = session->options.host ?: info->hostname,
				.kernel = info->kernel.release,
				.machine = info->kernel.machine,
				.command = command ?: "",
				.version = STACKMAP_VERSION,
			},
	};
	capture_loaded(session->capture)->attachment.begun = info->info.start_monotonic;
	uname(&info->kernel);
	gethostname(info->hostname, sizeof(info->hostname) - 1);
}

static int open_window(struct session *session, struct stackmap_error *error)
{
	struct recording_info info;

	init_recording_info(session, &info);
	return window_open(&session->window, session->capture, &info.info, session_name(session),
			   error);
}

/* Opens a file and writes what precedes the events. */
static int open_file(struct session *session, const char *path, struct stackmap_error *error)
{
	struct recording_info info;
	int result;

	init_recording_info(session, &info);
	result = trace_writer_create(path, &info.info, &session->writer, error)
			 ?: capture_begin(session->capture, session->writer, error);
	if (result)
		trace_writer_discard(&session->writer);
	return result;
}

/* Writes symbols and ledger, and closes the file. */
static int close_file(struct session *session, const char *path, struct stackmap_error *error)
{
	struct trace_ledger ledger = {};
	int named = capture_finish(session->capture, &ledger, error), written;
	u64 bytes = trace_writer_bytes(session->writer);

	written = trace_writer_close(&session->writer);
	add_window_ledger(&session->ledger, &ledger);
	if (session->listener.file_ended)
		session->listener.file_ended(session->listener.arg, path, &ledger, bytes);
	if (!written)
		return named;
	/* A result of -EINTR would tell the caller that the recording has not begun. */
	return error_set(error, written == -EINTR ? EIO : -written,
			 "%s: %s; what was written before is whole", path, strerror(-written));
}

static int write_snapshot(struct session *session, const char *path, struct stackmap_error *error)
{
	int result =
		open_file(session, path, error) ?: trace_writer_publish(session->writer, error);

	if (result) {
		trace_writer_discard(&session->writer);
		return result;
	}
	capture_snapshot(session->capture);
	return close_file(session, path, error);
}

static int freeze_instance_and_write_snapshot(struct session *session, const char *path,
					      struct stackmap_error *error)
{
	int result;

	trigger_watch_clear_due_snapshot(&session->triggers);
	result = capture_freeze(session->capture);
	if (result)
		return error_set_errno(error, -result, path);
	result = write_snapshot(session, path, error);
	capture_thaw(session->capture);
	return result;
}

/*
 * A session that waits for triggers holds the instance's lock only while it writes, so that the
 * instance is not reset meanwhile.
 */
int session_snapshot(struct session *session, const char *path, struct stackmap_error *error)
{
	struct folder *control = NULL;
	int result = 0;

	if (session->state != SESSION_RUNNING ||
	    !(is_flight_recorder_of_session(session) || session->kind == SESSION_SNAPSHOT))
		return error_set(error, EINVAL, "%s: no flight recorder is running", path);
	if (session->awaits)
		result = folder_open(session->options.instance, &control, error)
				 ?: folder_lock_wait(control, error);
	result = result ?: freeze_instance_and_write_snapshot(session, path, error);
	folder_close(&control);
	return result;
}

/* Opens the session's output, or the next file of its rotation. */
static int open_next_file(struct session *session, struct stackmap_error *error)
{
	struct stackmap_error removal = {};

	free(session->path);
	session->path = has_rotation(session) ? rotation_name_next_and_remove_oldest(
							&session->rotation, clock_ms(), &removal)
					      : strdup(session->options.output);
	if (removal.message[0])
		report_warning(session, &removal);
	if (!session->path)
		return error_set_errno(error, ENOMEM, session->options.output);
	return open_file(session, session->path, error);
}

/* A flight recorder's file is opened only at the end, but an error should be known now. */
static int check_output_writable(const char *path, struct stackmap_error *error)
{
	static const struct trace_info none = {
		.hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};
	struct trace_writer *writer;
	int result = trace_writer_create(path, &none, &writer, error);

	if (!result)
		trace_writer_discard(&writer);
	return result;
}

/* --- symbols of a rotation's file --- */

/* Called when a file is to end: decides how long the file waits for symbols. */
static void begin_wait_for_symbols(struct session *session, u64 now)
{
	const struct rotation *rotation = &session->rotation;
	u64 length = now - rotation->end_ms + rotation->period_ms;

	session->naming_until = now + clamp_u64(length / PATIENCE_SHARE, 0, PATIENCE_MS);
	session->naming_own_until = now + clamp_u64(length, PATIENCE_MS_LAST, PATIENCE_MS);
}

/* Waits for the symbols of a rotation's last file. An error is not returned: capture_finish() meets
 * the same error again. */
static void wait_for_symbols_of_last_file(struct session *session)
{
	u64 now = clock_ms(), least = now + PATIENCE_MS_LAST;

	if (!session->writer || !has_rotation(session))
		return;
	if (!session->naming_until)
		begin_wait_for_symbols(session, now);
	capture_await_symbols_ahead(
		session->capture, clamp_u64(session->naming_until, least, UINT64_MAX) - now,
		clamp_u64(session->naming_own_until, least, UINT64_MAX) - now, 0);
}

/* --- open and start --- */

static int open_own_programs(struct session *session, pid_t command, const char *command_path,
			     struct stackmap_error *error)
{
	const struct session_target *target = &session->target;
	struct capture_options options = target->capture;
	bool of_command = target->tasks == TASKS_OF_COMMAND;
	int result;

	options.has_files = session->options.has_files;
	if (of_command)
		options.command = command;
	if (target->tasks != TASKS_OF_PIDS)
		options.command_path = command_path;
	session->frequency = session_frequency(session);
	result = capture_create(&options, &session->capture, error);
	if (!result)
		result = of_command ? loaded_follow_command(capture_loaded(session->capture),
							    command, error)
				    : session_target_follow(target, session->capture, error);
	if (!result && (session->options.windows || has_rotation(session) ||
			(options.aggregate && !options.has_files)))
		result = reset_make_second_table(capture_loaded(session->capture), error);
	if (result)
		return result;
	result = trigger_watch_open(&session->triggers, capture_loaded(session->capture),
				    session->trigger_delay_ns, NULL, error);
	if (result)
		return result;
	result = instant_await(session->instant);
	return result ? error_set_errno(error, -result, session_name(session)) : 0;
}

static int watch_instance_triggers(struct session *session, struct stackmap_error *error)
{
	const struct string_list *const names[] = {
		[TRIGGER_STOP] = &session->options.stop_when,
		[TRIGGER_SNAPSHOT] = &session->options.snapshot_when,
	};

	return trigger_watch_open(&session->triggers, capture_loaded(session->capture),
				  session->trigger_delay_ns, names, error);
}

/* Releases the lock, so that other processes can use the instance until the trigger happens. */
static int release_instance_until_trigger(struct session *session, struct stackmap_error *error)
{
	int result;

	capture_free(&session->capture);
	folder_close(&session->folder);
	session->awaits = true;
	result = folder_open(session->options.instance, &session->folder, error);
	result = result ?: capture_open_viewer(session->folder, &session->capture, error);
	return result ?: watch_instance_triggers(session, error);
}

/*
 * Opens an instance. Its mode is known only after it was opened, and a reader needs another lock
 * than a viewer.
 */
static int open_instance(struct session *session, struct stackmap_error *error)
{
	const char *name = session->options.instance;
	enum session_use use = session->options.use;
	bool locks = use == SESSION_COPY || use == SESSION_TAKE_OR_COPY, is_flight;
	int result = folder_open(name, &session->folder, error);

	if (!result && locks)
		result = folder_lock_wait(session->folder, error);
	result = result ?: capture_open(session->folder, &session->capture, error);
	if (result)
		return result;
	is_flight = loaded_is_flight(capture_loaded(session->capture));
	if (use == SESSION_COPY || (use == SESSION_TAKE_OR_COPY && is_flight)) {
		session->kind = SESSION_SNAPSHOT;
		return session->options.stop_when.count || session->options.snapshot_when.count
			       ? release_instance_until_trigger(session, error)
			       : 0;
	}
	capture_free(&session->capture);
	if (session->options.snapshot_when.count)
		return error_set(
			error, EINVAL,
			"--snapshot-when: %s is no flight recorder, and 'record' takes its "
			"events anyway; --stop-when ends the file",
			name);
	if (use == SESSION_TAKE && is_flight)
		return error_set(error, EINVAL,
				 "%s is a flight recorder, whose events nobody takes; 'stackmap "
				 "script --instance %s' shows what it holds now",
				 name, name);
	session->kind = is_flight ? SESSION_VIEWER : SESSION_READER;
	if (is_flight)
		return capture_open_viewer(session->folder, &session->capture, error);
	if (locks) {
		folder_close(&session->folder);
		result = folder_open(name, &session->folder, error);
	}
	result = result ?: capture_open_reader(session->folder, &session->capture, error);
	return result ?: watch_instance_triggers(session, error);
}

static int open_output(struct session *session, struct stackmap_error *error)
{
	if (session->kind == SESSION_SNAPSHOT && has_rotation(session))
		return error_set(error, EINVAL,
				 "--rotate: %s is a flight recorder, of which one file is written",
				 session->options.instance);
	if (session->kind == SESSION_SNAPSHOT || session->kind == SESSION_VIEWER)
		return 0;
	if (session->options.output)
		return is_flight_recorder_of_session(session)
			       ? check_output_writable(session->options.output, error)
			       : open_next_file(session, error);
	return session->options.windows ? open_window(session, error) : 0;
}

int session_open(struct session *session, pid_t command, const char *command_path,
		 struct stackmap_error *error)
{
	int result = session->options.instance
			     ? open_instance(session, error)
			     : open_own_programs(session, command, command_path, error);

	if (!result && session->options.instance)
		session->frequency =
			capture_metadata(session->capture)->sources.sources[0].frequency;
	result = result ?: open_output(session, error);
	if (!result)
		session->state = SESSION_OPEN;
	return result;
}

int session_start(struct session *session, struct stackmap_error *error)
{
	int result = session->kind == SESSION_OWN ? capture_attach(session->capture, error) : 0;

	if (result)
		return result;
	session->state = SESSION_RUNNING;
	session->next_reset = clock_ms() + (session->options.aggregate ? FILL_LOOK_MS : RESET_MS);
	return 0;
}

int session_publish(struct session *session, struct stackmap_error *error)
{
	return session->writer ? trace_writer_publish(session->writer, error) : 0;
}

/* --- a visit: flush, rotation, triggers --- */

static void mark_session_failed_and_warn(struct session *session,
					 const struct stackmap_error *error)
{
	session->has_failed = true;
	report_warning(session, error);
}

/*
 * Opens the next file of a rotation. If the same attempt fails repeatedly, the failure is reported
 * once.
 */
static void begin_rotated_file(struct session *session)
{
	struct stackmap_error error;
	int result =
		open_next_file(session, &error) ?: trace_writer_publish(session->writer, &error);

	if (result && !session->next_try)
		mark_session_failed_and_warn(session, &error);
	session->next_try = result ? clock_ms() + TRY_MS : 0;
	if (!result)
		return;
	trace_writer_discard(&session->writer);
	session->rotation.number--;
}

/*
 * Resets the stack map if half of it, or half of a table of aggregated events, is in use. The
 * reader then writes the rows of the former stack map into the open file and frees them. Rows of
 * threads that have ended would else fill the table, and stacks of the past the map: an aggregated
 * event cannot carry a stack that the map has refused. Rows without a stack stay, so a reset may
 * help little: if the table is half full again a second later, the next one is made after a minute.
 */
static void reset_map_if_aggregates_fill_half(struct session *session)
{
	struct loaded *loaded = capture_loaded(session->capture);

	if (session->kind != SESSION_OWN || !loaded->plan.config.aggregate ||
	    clock_ms() < session->next_reset)
		return;
	session->next_reset = clock_ms() + FILL_LOOK_MS;
	if (loaded_aggregates_fill_percent(loaded) < FILL_PERCENT_MAX) {
		session->has_reset_in_vain = false;
	} else if (session->has_reset_in_vain) {
		session->has_reset_in_vain = false;
		session->next_reset = clock_ms() + RESET_MS;
	} else {
		reset_with_reader(loaded, 0, NULL);
		session->has_reset_in_vain = true;
		session->next_reset = clock_ms() + FILL_LOOK_AFTER_RESET_MS;
	}
}

static int drain_to_file(struct session *session, int *ms)
{
	int result = capture_drain(session->capture, ms);

	session->has_drained = true;
	reset_map_if_aggregates_fill_half(session);
	if (clock_ms() < session->next_flush)
		return result;
	session->next_flush = clock_ms() + FLUSH_MS;
	return first_error(result, trace_writer_flush(session->writer));
}

static int drain_and_end_file_if_due(struct session *session)
{
	struct stackmap_error error;
	struct loaded *loaded;
	int ms, result;
	u64 now;

	if (!session->writer && clock_ms() >= session->next_try)
		begin_rotated_file(session);
	if (!session->writer)
		return PACE_MS_MAX;
	result = drain_to_file(session, &ms);
	if (!result &&
	    !rotation_is_due(&session->rotation, clock_ms(), trace_writer_bytes(session->writer)))
		return ms;
	now = clock_ms();
	if (!result && !session->naming_until)
		begin_wait_for_symbols(session, now);
	if (!result &&
	    capture_request_symbols_ahead(
		    session->capture, choose_symbols_to_wait_for(now, session->naming_until,
								 session->naming_own_until)) > 0)
		return ms < NAMES_MS ? ms : NAMES_MS;
	/* The open file gets all events up to now. The stack map is reset unless another process is
	 * resetting it. */
	loaded = capture_loaded(session->capture);
	session->naming_until = 0;
	if (session->kind == SESSION_READER)
		reset_by_reader(loaded, session->options.instance, &error);
	else
		reset_with_reader(loaded, 0, &error);
	capture_end_window(session->capture);
	if (close_file(session, session->path, &error))
		mark_session_failed_and_warn(session, &error);
	begin_rotated_file(session);
	return ms;
}

static int drain_events_of_session(struct session *session)
{
	u64 most = session->options.window_events;
	int ms, result;

	if (is_flight_recorder_of_session(session))
		return capture_unwind_raw_stacks(session->capture) ?: PACE_MS_MAX;
	if (has_rotation(session))
		return drain_and_end_file_if_due(session);
	if (session->writer)
		return drain_to_file(session, &ms) ?: capture_request_symbols_now_and_then(session->capture) ?: ms;
	result = capture_drain(session->capture, &ms);
	session->has_drained = true;
	if (result)
		return result;
	return most && capture_events(session->capture) >= most ? 0 : ms;
}

int session_visit(struct session *session, struct stackmap_error *error)
{
	bool drains = session->kind == SESSION_OWN || session->kind == SESSION_READER;
	int result = 0, look_ms = INT_MAX;

	session->has_drained = false;
	if (!drains)
		return session->awaits ? trigger_watch_poll_events(&session->triggers)
				       : PACE_MS_MAX;
	if (session->options.windows && !window_is_open(&session->window))
		result = open_window(session, error);
	if (result)
		return result;
	if (session->kind == SESSION_OWN && session->state == SESSION_RUNNING)
		loaded_follow_cpus(capture_loaded(session->capture));
	if (trigger_watch_is_on(&session->triggers))
		look_ms = trigger_watch_poll_events(&session->triggers);
	result = drain_events_of_session(session);
	if (result < 0)
		return error_set_errno(error, -result, session_name(session));
	return result < look_ms ? result : look_ms;
}

int session_wake_fd(const struct session *session)
{
	return session->has_drained ? capture_wake_fd(session->capture) : -1;
}

/* --- windows --- */

/*
 * Copies what an instance holds. The lock is held only during the copy, so that the instance is not
 * reset and no other snapshot is made meanwhile.
 */
static int read_instance_into_recording(struct session *session, struct trace_reader **reader,
					struct stackmap_error *error)
{
	struct folder *control = NULL;
	struct recording_info info;
	int result = 0;

	init_recording_info(session, &info);
	if (session->kind == SESSION_VIEWER)
		result = folder_open(session->options.instance, &control, error)
				 ?: folder_lock_wait(control, error);
	result = result
			 ?: window_snapshot(session->capture, &info.info, session_name(session),
					    reader, error);
	folder_close(&control);
	if (result)
		return result;
	session->ledger = *trace_reader_ledger(*reader);
	if (session->state == SESSION_STOPPED)
		session->state = SESSION_ENDED;
	return 0;
}

int session_take_window_or_snapshot(struct session *session, struct trace_reader **reader,
				    int *copy, struct stackmap_error *error)
{
	bool is_last = session->state == SESSION_STOPPED;
	int result = 0, fd;

	if (copy)
		*copy = -1;
	if (session->kind == SESSION_VIEWER || session->kind == SESSION_SNAPSHOT)
		return read_instance_into_recording(session, reader, error);
	if (!window_is_open(&session->window))
		result = open_window(session, error);
	if (result)
		return result;
	if (session->kind == SESSION_OWN && !is_last && clock_ms() >= session->next_reset) {
		reset_with_reader(capture_loaded(session->capture), 0, NULL);
		session->next_reset = clock_ms() + RESET_MS;
	}
	fd = copy ? dup(session->window.recording.fd) : -1;
	result = window_close_and_open_reader(&session->window, session->options.names_longest_ms,
					      reader, error);
	if (result) {
		if (fd >= 0)
			close(fd);
		return result;
	}
	if (copy)
		*copy = fd;
	add_window_ledger(&session->ledger, trace_reader_ledger(*reader));
	if (is_last)
		session->state = SESSION_ENDED;
	else
		open_window(session, NULL); /* if opening the next window fails, the next visit
					       tries again and returns the error */
	return 0;
}

/* --- the end of a session --- */

/* A failed drain is not reported here: the writer returns its error again when it is closed. */
int session_stop(struct session *session, struct stackmap_error *error)
{
	int result = 0;

	if (session->kind == SESSION_SNAPSHOT && session->options.output)
		result = session_snapshot(session, session->options.output, error);
	session->state = SESSION_STOPPED;
	if (session->kind != SESSION_OWN)
		return result;
	if (session->options.windows && !window_is_open(&session->window))
		result = open_window(session, error);
	capture_detach(session->capture);
	if (result)
		return result;
	if (session->writer || session->options.windows)
		capture_drain(session->capture, NULL);
	capture_unwind_blocked(session->capture);
	return 0;
}

int session_end(struct session *session, struct stackmap_error *error)
{
	session->state = SESSION_ENDED;
	if (is_flight_recorder_of_session(session))
		return write_snapshot(session, session->options.output, error);
	if (!session->writer)
		return 0;
	if (session->kind == SESSION_OWN)
		capture_drain(session->capture, NULL);
	wait_for_symbols_of_last_file(session);
	if (session->kind == SESSION_READER)
		capture_end_window(session->capture);
	return close_file(session, session->path, error);
}

void session_close(struct session **session)
{
	struct session *old = *session;

	if (!old)
		return;
	if (old->writer && old->state > SESSION_OPEN)
		trace_writer_flush(old->writer);
	trace_writer_discard(&old->writer);
	window_discard(&old->window);
	trigger_watch_close(&old->triggers);
	capture_free(&old->capture);
	folder_close(&old->folder);
	session_target_clear(&old->target);
	free(old->command_line);
	free(old->path);
	free(old);
	*session = NULL;
}

/* --- facts about a session --- */

enum session_state session_state(const struct session *session)
{
	return session->state;
}

enum session_kind session_kind(const struct session *session)
{
	return session->kind;
}

struct capture *session_capture(const struct session *session)
{
	return session->capture;
}

const struct session_target *session_target(const struct session *session)
{
	return &session->target;
}

const struct trace_ledger *session_ledger(const struct session *session)
{
	return &session->ledger;
}

const struct trigger_watch *session_triggers(const struct session *session)
{
	return &session->triggers;
}

bool session_has_failed(const struct session *session)
{
	return session->has_failed;
}

bool session_is_snapshot_without_trigger(const struct session *session)
{
	return session->kind == SESSION_SNAPSHOT && !session->awaits;
}

bool session_is_over(const struct session *session)
{
	return session->folder ? !folder_still_exists(session->folder)
			       : session_target_ended(&session->target);
}

u64 session_file_events(const struct session *session)
{
	return session->writer ? trace_writer_recorded(session->writer) : 0;
}

u64 session_file_bytes(const struct session *session)
{
	return session->writer ? trace_writer_bytes(session->writer) : 0;
}

const char *session_path_of_file_opened_later(const struct session *session)
{
	bool later = is_flight_recorder_of_session(session) || session->kind == SESSION_SNAPSHOT ||
		     has_rotation(session);

	return later ? session->options.output : NULL;
}

u64 session_frequency(const struct session *session)
{
	const struct source_list *sources = &session->target.sources;

	for (u32 i = 0; i < sources->count; i++)
		if (sources->sources[i].frequency)
			return sources->sources[i].frequency;
	return 0;
}

int session_set_frequency(struct session *session, u64 frequency)
{
	session->frequency = frequency;
	return loaded_set_frequency(capture_loaded(session->capture), frequency);
}
