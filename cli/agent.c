/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap agent`: records continuously and sends the events to a store, which many machines
 * share. The events of some seconds are a window, which becomes rows; the rows of some minutes are
 * a batch. A batch is a file in the spool until another process has sent it. The loop that records
 * never waits for the network.
 *
 * To a receiver of profiles, windows are sent as recordings, each at most once.
 *
 * The ledger of a window counts its losses. If the agent is killed, the one batch that is in memory
 * is lost without being counted.
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent_child.h"
#include "agent/cpu_budget.h"
#include "agent/service_names.h"
#include "array.h"
#include "capture/load/loaded.h"
#include "clock.h"
#include "command.h"
#include "error.h"
#include "hash_index.h"
#include "option/option.h"
#include "output/output.h"
#include "privilege/memory_limit.h"
#include "process/privilege.h"
#include "process/signals.h"
#include "product_version.h"
#include "push/push.h"
#include "recording/session_face.h"
#include "secret_file.h"
#include "session/rotation.h"
#include "session/session_options.h"
#include "store/rows/window_rows.h"
#include "store/wire/http.h"
#include "store/wire/store_url.h"
#include "store/write/sender.h"
#include "terminal/message.h"

/* --- options: all are checked, and secrets are read, before programs are loaded --- */

struct agent_values {
	struct session_options record;
	const char *to, *user, *password_file, *bearer_file, *ca_file, *host, *spool, *exemplars,
		*cpu, *config;
	bool allow_cleartext;
	struct string_list labels, services;
	/* window and batch: lengths in seconds; once: number of windows */
	u64 spool_bytes, memory, window, batch, once;
};

struct agent_choice {
	struct agent_values values;
	char host[256], boot[40];
	double cpu_percent; /* limit for the agent's CPU use; 0: no limit */
	struct store_url url;
	bool pushes;	/* true: windows are sent to a receiver of profiles, and `url` is unused */
	char *password; /* password of the user; NULL: none */
	char *bearer;	/* bearer token; NULL: none */
	struct service_names *services;
};

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define FREQUENCY_DEFAULT 19

static int report_wrong_usage(const char *text)
{
	message("%s", text);
	return EXIT_USAGE;
}

static int choose_host(struct agent_choice *choice)
{
	const char *host = choice->values.host;

	if (host)
		snprintf(choice->host, sizeof(choice->host), "%s", host);
	else if (gethostname(choice->host, sizeof(choice->host) - 1))
		return report_wrong_usage("--host: this machine has no name; give it one");
	if (!choice->host[0] || (host && strlen(host) >= sizeof(choice->host)))
		return report_wrong_usage("--host: must be a name of 1 to 255 bytes");
	return EXIT_DONE;
}

static int parse_cpu_limit(struct agent_choice *choice)
{
	const char *text = choice->values.cpu;
	char *end;

	if (!text)
		return EXIT_DONE;
	choice->cpu_percent = strtod(text, &end);
	if (end != text && !*end && choice->cpu_percent > 0 && choice->cpu_percent <= 100)
		return EXIT_DONE;
	message("--cpu %s: must be above 0 and at most 100 percent", text);
	return EXIT_USAGE;
}

static int check_labels_are_key_value(const struct agent_choice *choice)
{
	const struct string_list *labels = &choice->values.labels;

	for (size_t i = 0; i < labels->count; i++)
		if (!strchr(labels->items[i], '=') || labels->items[i][0] == '=') {
			message("--label %s: must be KEY=VALUE", labels->items[i]);
			return EXIT_USAGE;
		}
	return EXIT_DONE;
}

static int parse_target_url(struct agent_choice *choice)
{
	struct stackmap_error error;
	struct push_url url;

	if (!choice->values.to)
		return report_wrong_usage("agent: --to URL is missing: where the store is");
	/* A --to value of the form KIND+http... is the URL of a receiver. */
	if (choice->values.to[strcspn(choice->values.to, "+:")] == '+') {
		if (push_url_parse(choice->values.to, &url, &error)) {
			message("--to: %s", error.message);
			return EXIT_USAGE;
		}
		push_url_clear(&url);
		choice->pushes = true;
		/* A receiver gets whole windows, so a window is as long as a batch would be. */
		choice->values.window = choice->values.batch;
		return EXIT_DONE;
	}
	if (choice->values.bearer_file)
		return report_wrong_usage("--bearer-file: stores take a user and a password");
	if (!store_url_parse(choice->values.to, &choice->url, &error))
		return EXIT_DONE;
	message("--to: %s", error.message);
	return EXIT_USAGE;
}

static int load_service_rules(struct agent_choice *choice)
{
	const struct string_list *rules = &choice->values.services;
	struct stackmap_error error;

	if (!service_names_create(rules->items, rules->count, &choice->services, &error))
		return EXIT_DONE;
	message("--service %s", error.message);
	return EXIT_USAGE;
}

static int read_boot_id(struct agent_choice *choice)
{
	FILE *file = fopen(BOOT_ID, "re");

	if (file && fgets(choice->boot, sizeof(choice->boot), file))
		choice->boot[strcspn(choice->boot, "\n")] = 0;
	if (file)
		fclose(file);
	if (choice->boot[0])
		return EXIT_DONE;
	message("%s: %s", BOOT_ID, strerror(errno));
	return EXIT_FAILED;
}

static int refuse_cleartext_secrets_for_url(const struct agent_choice *choice, const char *base)
{
	const struct http_options options = {.base = base,
					     .password = choice->password,
					     .bearer = choice->bearer,
					     .allows_cleartext = choice->values.allow_cleartext};
	struct stackmap_error error;

	if (!http_refuse_cleartext_secrets(&options, &error))
		return EXIT_DONE;
	message("--to: %s", error.message);
	return EXIT_USAGE;
}

static int refuse_secrets_in_cleartext(const struct agent_choice *choice)
{
	struct push_url receiver = {};
	int status = EXIT_DONE;

	for (u32 i = 0; i < choice->url.count && !status; i++)
		status = refuse_cleartext_secrets_for_url(choice, choice->url.shards[i]);
	if (choice->pushes && !push_url_parse(choice->values.to, &receiver, NULL))
		status = refuse_cleartext_secrets_for_url(choice, receiver.base);
	push_url_clear(&receiver);
	return status;
}

/* Returns the exit status; errors were printed. The caller clears the choice in any case. */
static int make_agent_choice(struct agent_choice *choice, const struct agent_values *values)
{
	struct session_options *record = &choice->values.record;
	struct stackmap_error error;
	int status;

	choice->values = *values;
	record->all = true;
	/* By default the whole machine is recorded: CPU samples, and the waits of tasks. */
	if (!record->events.count && !record->off_cpu && !record->wakers && !record->frequency) {
		record->frequency = FREQUENCY_DEFAULT;
		record->off_cpu = true;
	}
	status = parse_target_url(choice)
		       ?: choose_host(choice)
		       ?: parse_cpu_limit(choice)
		       ?: check_labels_are_key_value(choice)
		       ?: load_service_rules(choice)
		       ?: read_boot_id(choice);
	/* A token replaces user and password, so no password is read then. */
	if (!status && !choice->values.bearer_file)
		status = password_file_read(choice->values.password_file, &choice->password);
	else if (!status && secret_file_read(choice->values.bearer_file, &choice->bearer, &error))
		status = print_error_message(&error);
	return status ?: refuse_secrets_in_cleartext(choice);
}

/* Erases password and token, which the recorder does not need. */
static void agent_choice_forget_secrets(struct agent_choice *choice)
{
	secret_free(&choice->password);
	secret_free(&choice->bearer);
}

/* --- exemplars: recordings of the last hour --- */

/*
 * Keeps the windows of the last hour as recordings on this machine. A store has only sums. A kept
 * window (exemplar) has each event with its time. All commands that read recordings accept the
 * files.
 */
struct exemplars {
	struct rotation rotation;
	char *output; /* path of the kept windows, FOLDER/window.data; NULL: no windows are kept */
	bool failed;  /* true: the last window could not be kept, and a message has said so */
};

#define KEPT_SECONDS 3600
#define PIECE_BYTES (64 << 10)

static int write_window_to_file(const char *path, int fd, struct stackmap_error *error)
{
	struct output output;
	int result = output_open(path, OUTPUT_RECORDING, &output, error);
	char piece[PIECE_BYTES];
	ssize_t bytes = 0;

	if (result)
		return result;
	for (off_t at = 0; !result && (bytes = pread(fd, piece, sizeof(piece), at)) > 0;
	     at += bytes)
		result = output_write(&output, piece, bytes);
	if (!result && bytes < 0)
		result = -errno;
	if (result)
		snprintf(error->message, sizeof(error->message), "%s: %s", path, strerror(-result));
	else
		result = output_publish(&output, error);
	output_close(&output);
	return result;
}

#define OWN_LABELS 3

/*
 * Sets the labels that this machine has in the store: the user's labels, and the agent's own.
 * `frequency`: the current sampling rate in Hz, which may be below the requested one; 0: no
 * sampling. `memory_bytes`: memory of all processes of the agent.
 */
static void set_labels_of_machine(struct window_rows *rows, const struct string_list *given,
				  u64 frequency, u64 memory_bytes)
{
	const char **labels = calloc(given->count + OWN_LABELS, sizeof(*labels));
	char rate[40], memory[40];
	u32 count = 0;

	if (!labels)
		return;
	for (size_t i = 0; i < given->count; i++)
		labels[count++] = given->items[i];
	snprintf(rate, sizeof(rate), "frequency=%llu", (unsigned long long)frequency);
	snprintf(memory, sizeof(memory), "memory_mib=%llu", (unsigned long long)memory_bytes >> 20);
	labels[count++] = "agent=" STACKMAP_VERSION;
	labels[count++] = memory;
	if (frequency)
		labels[count++] = rate;
	if (window_rows_set_labels(rows, labels, count))
		message("agent: %s", strerror(ENOMEM));
	free(labels);
}

#define CONFIG_DEFAULT "/etc/stackmap/agent.conf"
#define EVENT_BYTES 64	      /* approximate size of an event in memory */
#define REMEMBERED_PART 4     /* 1/4 of --memory holds the keys that were sent */
#define BATCH_PART 4	      /* 1/4 of --memory holds the rows of a batch */
#define BUDGET_MS 60000	      /* milliseconds between two checks of the CPU budget */
#define NAMES_LONGEST_MS 5000 /* limit for the time spent on the symbols of a window */
#define ALL_TIMES 4	      /* all processes of the agent together may use 4 times --memory */
#define ALL_LEAST (256ULL << 20)

struct agent {
	struct agent_choice choice;
	struct window_rows *rows;
	struct spool *spool;
	struct agent_child sending;
	/* the child that pushes to a receiver of profiles, in place of rows, spool and sender */
	struct agent_pusher pusher;
	struct session *session;
	struct exemplars exemplars;
	struct cpu_budget budget;
	u64 next_budget; /* milliseconds: time of the next check of the CPU budget */
	struct own_memory memory;
	int signals;
	u32 window_time; /* start time of the open window, seconds since the epoch */
	s32 window_skew;
	/* times at which the open window began and ends, milliseconds */
	u64 window_began, window_ends;
	u64 batch;	       /* number of the current batch's time span */
	u64 windows, produced; /* number of windows so far, and of the events produced in them */
	u64 lost_before;       /* number of lost batches that had stacks, at the last check */
};

/* --- parts of the agent --- */

static int start_sender(struct agent *agent)
{
	const struct agent_values *values = &agent->choice.values;
	const struct clickhouse_options server = {
		.http = {.user = values->user,
			 .password = agent->choice.password,
			 .ca_file = values->ca_file,
			 .allows_cleartext = values->allow_cleartext,
			 .timeout_ms = SENDER_TIMEOUT_MS},
		.database = agent->choice.url.database,
	};
	const struct agent_sender_options options = {
		.url = &agent->choice.url,
		.server = &server,
		.host = agent->choice.host,
		.spool = values->spool,
		.spool_bytes = values->spool_bytes,
	};

	return agent_sender_start(&agent->sending, &options);
}

/*
 * A receiver of profiles has no rules for services, so the services are derived from the cgroups.
 */
static int start_pusher(struct agent *agent)
{
	const struct agent_values *values = &agent->choice.values;
	const struct push_access access = {.user = values->user,
					   .password = agent->choice.password,
					   .bearer = agent->choice.bearer,
					   .ca_file = values->ca_file,
					   .allows_cleartext = values->allow_cleartext};
	const struct export_identity identity = {.host = agent->choice.host,
						 .labels = values->labels};
	const struct agent_pusher_options options = {
		.url = values->to, .access = &access, .identity = &identity};

	return agent_pusher_start(&agent->sending, &options);
}

static void log_message(void *arg, const char *text)
{
	(void)arg;
	message("%s", text);
}

static int open_spool(struct agent *agent)
{
	const struct spool_options options = {.folder = agent->choice.values.spool,
					      .most_bytes = agent->choice.values.spool_bytes,
					      .end = SPOOL_FILL,
					      .say = log_message};
	struct stackmap_error error;
	int result = spool_open(&options, &agent->spool, &error);

	return result ? print_error_and_choose_exit_status(result, &error) : EXIT_DONE;
}

static int create_store_rows(struct agent *agent)
{
	const struct window_rows_options options = {
		.host = agent->choice.host,
		.boot = agent->choice.boot,
		.memory = agent->choice.values.memory / REMEMBERED_PART,
		.service_of = service_names_of,
		.arg = agent->choice.services,
	};

	if (!window_rows_create(&options, &agent->rows))
		return EXIT_DONE;
	message("agent: %s", strerror(ENOMEM));
	return EXIT_FAILED;
}

static void set_labels_of_store_rows(struct agent *agent)
{
	if (!agent->choice.pushes) /* a receiver of profiles gets the labels with each profile */
		set_labels_of_machine(agent->rows, &agent->choice.values.labels,
				      agent->budget.frequency, agent->memory.told);
}

static int begin_keeping_windows(struct agent *agent)
{
	struct exemplars *exemplars;

	if (!agent->choice.values.exemplars)
		return EXIT_DONE;
	/* Makes the folder of the kept windows. */
	exemplars = &agent->exemplars;
	if (mkdir(agent->choice.values.exemplars, 0700) && errno != EEXIST) {
		message("--exemplars %s: %s", agent->choice.values.exemplars, strerror(errno));
		return EXIT_FAILED;
	}
	if (asprintf(&exemplars->output, "%s/window.data", agent->choice.values.exemplars) < 0) {
		exemplars->output = NULL;
		message("--exemplars %s: %s", agent->choice.values.exemplars, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	exemplars->rotation =
		(struct rotation){.output = exemplars->output,
				  .keep = KEPT_SECONDS / agent->choice.values.window ?: 1};
	return EXIT_DONE;
}

/* Refuses sources with several values: rows of a store and samples of profiles have one value. */
static int refuse_several_values(const struct source_list *sources)
{
	for (u32 kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].further_unit) {
			message("-e %s/values=A,B/: what an agent sends has one value of an event: "
				"value=A",
				sources->sources[kind].name);
			return EXIT_USAGE;
		}
	return EXIT_DONE;
}

/* Code whose file has no identity belongs to its host, under the host name of the store. */
static int open_session(struct agent *agent)
{
	struct session_options *options = &agent->choice.values.record;
	struct stackmap_error error;
	int result;

	options->windows = true;
	options->window_events = agent->choice.values.memory / EVENT_BYTES;
	options->names_longest_ms = NAMES_LONGEST_MS;
	options->name = "agent";
	options->host = agent->choice.host;
	result = session_create(options, NULL, &agent->session, &error)
			 ?: session_open(agent->session, 0, NULL, &error);
	if (result)
		return print_error_and_choose_exit_status(result, &error);
	if (refuse_several_values(capture_loaded(session_capture(agent->session))->sources))
		return EXIT_USAGE;
	loaded_leave_out_process(capture_loaded(session_capture(agent->session)),
				 agent->sending.pid);
	result = session_start(agent->session, &error);
	if (result)
		return print_error_and_choose_exit_status(result, &error);
	report_refused_kernel_features(session_capture(agent->session));
	return EXIT_DONE;
}

static int start_recording_of_agent(struct agent *agent)
{
	u64 all = agent->choice.values.memory * ALL_TIMES;
	int status;
	u64 frequency;

	memory_limit_lower(all > ALL_LEAST ? all : ALL_LEAST);
	if (agent->choice.pushes)
		status = begin_keeping_windows(agent) ?: start_pusher(agent);
	else
		status = open_spool(agent)
				 ?: begin_keeping_windows(agent)
				 ?: create_store_rows(agent)
				 ?: start_sender(agent);
	agent_choice_forget_secrets(&agent->choice);
	if (status)
		return status;
	agent->signals = signals_install_and_open_fd();
	if (agent->signals < 0) {
		message("signals: %s", strerror(-agent->signals));
		return EXIT_FAILED;
	}
	raise_open_file_limit();
	status = open_session(agent);
	status = status ?: signals_block_until_read() ? EXIT_DONE : EXIT_FAILED;
	status = status
			 ?: drop_privileges_of_session(agent->session, false,
						       agent->exemplars.output);
	if (status)
		return status;
	frequency = session_frequency(agent->session);
	agent->budget = (struct cpu_budget){.percent = agent->choice.cpu_percent,
					    .cpus = sysconf(_SC_NPROCESSORS_ONLN),
					    .full = frequency,
					    .frequency = frequency};
	agent->next_budget = clock_ms() + BUDGET_MS;
	own_memory_measure(&agent->memory);
	cpu_budget_update(&agent->budget, own_cpu_ns(), clock_ns(CLOCK_MONOTONIC));
	set_labels_of_store_rows(agent);
	message("agent: recording as %s for %s", agent->choice.host, agent->choice.values.to);
	return EXIT_DONE;
}

/* --- windows and batches --- */

/* Seconds between this machine's clock and the clock of the store; 0: not known. */
static s32 clock_skew_to_store(const struct agent *agent)
{
	const struct sender_state *state = agent->choice.pushes ? NULL : agent->sending.state;

	return state && state->skew_known ? state->skew : 0;
}

static u64 time_ms_corrected_by_skew(const struct agent *agent)
{
	return clock_ns(CLOCK_REALTIME) / NS_PER_MS + clock_skew_to_store(agent) * 1000LL;
}

/*
 * The number of the batch's time span that contains `ms`. The time spans of each machine begin at
 * another moment, so that the machines do not send at the same time.
 */
static u64 number_of_batch_time_span(const struct agent *agent, u64 ms)
{
	u64 stretch = agent->choice.values.batch * 1000;

	return (ms + hash_text(agent->choice.host) % stretch) / stretch;
}

/*
 * Sets the end of the new window. Windows end at multiples of their length by the corrected clock.
 */
static void begin_window(struct agent *agent)
{
	u64 now = time_ms_corrected_by_skew(agent), length = agent->choice.values.window * 1000;

	agent->window_skew = clock_skew_to_store(agent);
	agent->window_time =
		agent->spool ? spool_reserve_window_time(agent->spool, now / 1000) : now / 1000;
	agent->window_began = clock_ms();
	agent->window_ends = agent->window_began + length - now % length;
}

static void begin_batch(struct agent *agent)
{
	agent->batch = number_of_batch_time_span(agent, time_ms_corrected_by_skew(agent));
}

static void put_batch_into_spool(struct agent *agent)
{
	struct stackmap_error error;
	struct batch batch;
	const struct sender_state *state;
	struct spool_count count;
	u64 lost;

	if (!agent->rows || !window_rows_window_count(agent->rows))
		return;
	if (window_rows_take(agent->rows, &batch)) {
		message("agent: a batch is lost: %s", strerror(ENOMEM));
		return;
	}
	if (spool_put(agent->spool, &batch, &error)) {
		message("a batch is lost: %s", error.message);
		window_rows_add_lost_windows(agent->rows, &batch);
	}
	batch_clear(&batch);
	agent_sender_wake(&agent->sending);
	/*
	 * Clears the cache of sent keys after a batch with stacks was lost, so that stacks that the
	 * store does not have are sent again.
	 */
	state = agent->sending.state;
	lost = state->lost + state->damaged;
	if (!spool_count(agent->spool, &count))
		lost += count.dropped + count.damaged;
	if (lost != agent->lost_before)
		window_rows_clear_sent_cache(agent->rows);
	agent->lost_before = lost;
}

static int end_window(struct agent *agent, struct stackmap_error *error)
{
	struct window_time time = {.time = agent->window_time, .skew = agent->window_skew};
	bool copies = agent->exemplars.output || agent->choice.pushes;
	struct trace_reader *reader;
	struct stackmap_error lost;
	int copy, result = session_take_window_or_snapshot(agent->session, &reader,
							   copies ? &copy : NULL, error);
	u64 seconds;

	report_files_without_names(agent->session);
	if (result)
		return result;
	agent->produced += trace_reader_ledger(reader)->produced;
	seconds = (clock_ms() - agent->window_began + 500) / 1000;
	time.seconds = seconds > UINT16_MAX ? UINT16_MAX : seconds ?: 1;
	begin_window(agent);
	if (agent->rows && window_rows_add(agent->rows, reader, &time, &lost))
		message("agent: a batch is lost: %s", lost.message);
	trace_reader_close(&reader);
	if (copies && copy >= 0) {
		int other = agent->exemplars.output && agent->choice.pushes ? dup(copy) : -1;

		/*
		 * Hands a window to the pusher and to the exemplars; `copy` is a descriptor of the
		 * recording.
		 */
		if (agent->choice.pushes)
			agent_pusher_pass_window(&agent->pusher, &agent->sending, copy);
		else
			other = copy;
		if (other >= 0) {
			struct stackmap_error kept_error, removal;
			char *path = rotation_name_next_and_remove_oldest(
				&agent->exemplars.rotation, clock_ms(), &removal);
			bool failed = path && write_window_to_file(path, other, &kept_error);

			/*
			 * Keeps the recording and closes the descriptor. A failure is reported
			 * once, until a window was kept again.
			 */
			if (removal.message[0])
				print_error_message(&removal);
			if (failed && !agent->exemplars.failed)
				print_error_message(&kept_error);
			agent->exemplars.failed = failed;
			free(path);
			close(other);
		}
	}
	agent->windows++;
	malloc_trim(0); /* returns the memory of the window's tables to the kernel */
	return 0;
}

/* --- the CPU budget --- */

static void adapt_frequency_to_cpu_budget(struct agent *agent)
{
	u64 before = agent->budget.frequency, now;
	bool is_news;

	if (clock_ms() < agent->next_budget)
		return;
	agent->next_budget = clock_ms() + BUDGET_MS;
	now = cpu_budget_update(&agent->budget, own_cpu_ns(), clock_ns(CLOCK_MONOTONIC));
	is_news = own_memory_measure(&agent->memory);
	if (now != before) {
		const struct cpu_budget *budget = &agent->budget;

		message("agent: it takes %.2f %% of the CPUs, --cpu is %.2f: %llu samples a second "
			"instead of %llu",
			budget->used, budget->percent, (unsigned long long)budget->frequency,
			(unsigned long long)before);
		session_set_frequency(agent->session, now);
	}
	if (is_news || now != before)
		set_labels_of_store_rows(agent);
}

/* --- the loop that records --- */

/*
 * Visits the session and ends the window and the batch if their time is over. Returns the
 * milliseconds until the next call, or -errno.
 */
static int visit_session_and_end_due_window(struct agent *agent, struct stackmap_error *error)
{
	int ms = session_visit(agent->session, error), result;
	u64 now = clock_ms();

	if (ms < 0)
		return ms;
	if (agent->rows &&
	    (window_rows_bytes(agent->rows) > agent->choice.values.memory / BATCH_PART ||
	     number_of_batch_time_span(agent, time_ms_corrected_by_skew(agent)) != agent->batch)) {
		put_batch_into_spool(agent);
		begin_batch(agent);
	}
	if (ms && now < agent->window_ends)
		return (u64)ms < agent->window_ends - now ? ms : (int)(agent->window_ends - now);
	result = end_window(agent, error);
	adapt_frequency_to_cpu_budget(agent);
	return result;
}

static int record_windows(struct agent *agent, struct stackmap_error *error)
{
	u64 most = agent->choice.values.once ?: UINT64_MAX;
	int ms = 0;

	begin_window(agent);
	begin_batch(agent);
	while (!signal_asks_to_end(
		       signals_wait(agent->signals, session_wake_fd(agent->session), ms)) &&
	       agent->windows < most) {
		ms = visit_session_and_end_due_window(agent, error);
		if (ms < 0)
			return ms;
		if (!agent_child_runs(&agent->sending))
			return error_set(error, ECHILD, "agent: its sender has ended");
	}
	return agent->windows < most ? end_window(agent, error) : 0;
}

static void print_agent_totals(const struct agent *agent)
{
	const struct agent_pusher_state *pushed = agent->sending.state;
	const struct sender_state *state = agent->sending.state;
	struct spool_count count = {};

	if (agent->choice.pushes) {
		message("agent: %llu windows, %llu of them sent; %.1f s of CPU time, at most %llu "
			"MiB of memory in all processes",
			(unsigned long long)agent->windows, (unsigned long long)pushed->sent,
			own_cpu_ns() / 1e9, (unsigned long long)agent->memory.most >> 20);
		return;
	}
	spool_count(agent->spool, &count);
	message("agent: %llu windows; %llu batches sent, %.1f KiB on the wire; %u in the spool, %u "
		"set aside; %.1f s of CPU time, at most %llu MiB of memory in all processes",
		(unsigned long long)agent->windows, (unsigned long long)state->batches,
		state->bytes / 1024.0, count.batches, count.refused, own_cpu_ns() / 1e9,
		(unsigned long long)agent->memory.most >> 20);
}

/*
 * Records until the end. The windows in memory are then put into the spool, also after a failure.
 */
static int run_agent(const struct agent_values *values)
{
	struct agent agent = {.signals = -1};
	int status = make_agent_choice(&agent.choice, values) ?: start_recording_of_agent(&agent),
	    result;
	struct stackmap_error error;

	if (!status) {
		result = record_windows(&agent, &error);
		status = result ? print_error_and_choose_exit_status(result, &error) : EXIT_DONE;
		own_memory_measure(&agent.memory);
		put_batch_into_spool(&agent);
		agent_child_end(&agent.sending);
		print_agent_totals(&agent);
		if (!status && agent.windows && !agent.produced)
			explain_recording_without_events(&agent.choice.values.record, agent.session,
							 UINT64_MAX);
	}
	agent_child_clear(&agent.sending);
	session_close(&agent.session);
	spool_close(&agent.spool);
	window_rows_free(&agent.rows);
	free(agent.exemplars.output);
	agent_choice_forget_secrets(&agent.choice);
	service_names_free(&agent.choice.services);
	store_url_clear(&agent.choice.url);
	if (agent.signals >= 0)
		close(agent.signals);
	signals_exit_as_interrupted();
	return status;
}

static int agent_run(const void *arg, int count, char **operands)
{
	struct agent_values values = *(const struct agent_values *)arg;
	struct option_file *file;
	int status;

	(void)count;
	(void)operands;
	status = option_file_read(&agent_command, values.config ?: CONFIG_DEFAULT, !values.config,
				  &values, &file);
	if (status)
		return status;
	status = run_agent(&values);
	option_file_close(&file);
	return status;
}

/* clang-format off */
#define ROW(member_, ...) TARGET_ROW(struct agent_values, member_, __VA_ARGS__)

static const struct option_row rows[] = {
	ROW(to, .name = "to", .type = OPTION_STRING, .argument = "URL", .group = "Store",
	    .help = "http[s]://HOST[:PORT][,HOST...][/DATABASE]: a store; or otlp+https://..., as export"),
	ROW(user, .name = "user", .type = OPTION_STRING, .argument = "NAME", .group = "Store",
	    .help = "of the store"),
	ROW(password_file, .name = "password-file", .type = OPTION_STRING, .argument = "FILE",
	    .group = "Store",
	    .help = "the password is its only line (default: systemd's stackmap.password)"),
	ROW(bearer_file, .name = "bearer-file", .type = OPTION_STRING, .argument = "FILE",
	    .group = "Store", .help = "of a receiver of profiles: a token instead of both"),
	ROW(ca_file, .name = "ca-file", .type = OPTION_STRING, .argument = "FILE", .group = "Store",
	    .help = "certificates to trust, instead of the system's"),
	ROW(allow_cleartext, .name = "allow-cleartext", .type = OPTION_FLAG, .group = "Store",
	    .help = "send the password or token over http, too, where others can read it"),
	ROW(host, .name = "host", .type = OPTION_STRING, .argument = "NAME", .group = "Rows",
	    .help = "the machine's name in the store (default: its host name)"),
	ROW(labels, .name = "label", .type = OPTION_STRINGS, .argument = "LABEL",
	    .group = "Rows", .help = "KEY=VALUE that the store knows of the machine; may be repeated"),
	ROW(services, .name = "service", .type = OPTION_STRINGS, .argument = "RULE",
	    .group = "Rows", .help = "GLOB=NAME[:VERSION]: the service of cgroups; may be repeated"),
	ROW(window, .name = "window", .type = OPTION_U64, .argument = "SECONDS", .group = "Rows",
	    .min = 1, .max = 3600, .help = "events of so long are added up (default 10)"),
	TARGET_EVENT_ROWS(struct agent_values, record., "19, with --off-cpu,"),
	ROW(batch, .name = "batch", .type = OPTION_U64, .argument = "SECONDS", .group = "Sending",
	    .min = 1, .max = 3600, .help = "send the rows of so long together (default 120)"),
	ROW(spool, .name = "spool", .type = OPTION_STRING, .argument = "DIR", .group = "Sending",
	    .help = "what was not sent yet (default " SPOOL_FOLDER ")"),
	ROW(spool_bytes, .name = "spool-bytes", .type = OPTION_SIZE, .argument = "SIZE",
	    .group = "Sending", .min = 1 << 20, .max = 1ULL << 40,
	    .help = "when it is larger, the oldest goes (default 256M)"),
	ROW(exemplars, .name = "exemplars", .type = OPTION_STRING, .argument = "DIR",
	    .group = "Limits", .help = "keep the windows of the last hour as recordings"),
	ROW(cpu, .name = "cpu", .type = OPTION_STRING, .argument = "PERCENT", .group = "Limits",
	    .help = "of all CPUs: above it the agent samples less often"),
	ROW(memory, .name = "memory", .type = OPTION_SIZE, .argument = "SIZE", .group = "Limits",
	    .min = 1 << 20, .max = 1ULL << 36,
	    .help = "for a window, a batch, and what was sent today (default 64M)"),
	TARGET_RING_ROW(struct agent_values, record.),
	ROW(config, .name = "config", .type = OPTION_STRING, .argument = "FILE", .group = "Agent",
	    .help = "a long option in each line (default " CONFIG_DEFAULT ")"),
	ROW(once, .name = "once", .type = OPTION_U64, .argument = "N", .group = "Agent",
	    .min = 1, .max = UINT32_MAX, .help = "end after N windows"),
	{0},
};
/* clang-format on */

const struct command agent_command = {
	.name = "agent",
	.operands = "",
	.operands_max = 0,
	.summary = "record all the time, and send it to a store of many machines",
	.rows = rows,
	.values_bytes = sizeof(struct agent_values),
	.defaults = &(const struct agent_values){.spool = SPOOL_FOLDER,
						 .spool_bytes = SPOOL_BYTES_DEFAULT,
						 .memory = 64 << 20,
						 .window = 10,
						 .batch = 120},
	.run = agent_run,
};
