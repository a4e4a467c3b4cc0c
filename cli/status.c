/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap status`: prints one line for each instance, or the details of one. The command takes no
 * lock: an instance that ends meanwhile may be shown or left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "capture/bpffs/folder.h"
#include "capture/capture.h"
#include "capture/instance/metadata.h"
#include "capture/instance/status.h"
#include "command.h"
#include "format/json_text.h"
#include "format/printable.h"
#include "order.h"
#include "recording/session_face.h"
#include "terminal/message.h"
#include "view/ledger_text.h"

#define SOURCES_SHOWN 4
#define MIB 1048576.0

struct instance {
	const char *name;
	const struct metadata *metadata;
	struct instance_status status;
	bool stops[KIND_SOURCES]; /* by kind of event, true: its events stop the instance */
};

typedef int (*show)(const struct instance *instance, void *to);

static const char *instance_state_name(const struct instance *instance)
{
	if (instance->status.stop.is_over)
		return "stopped";
	return instance->status.paused ? "paused" : "recording";
}

static const char *instance_mode_name(const struct instance *instance)
{
	return instance->status.flight ? "flight" : "drain";
}

static const char *format_start_time(const struct instance *instance, char *text, size_t bytes)
{
	time_t seconds = instance->metadata->start_realtime / 1000000000;
	struct tm local;

	if (!localtime_r(&seconds, &local) || !strftime(text, bytes, "%F %T", &local))
		text[0] = 0;
	return text;
}

/*
 * Prints the sources whose events stop the instance or, if it has stopped, the event that stopped
 * it.
 */
static void print_stop_trigger(const struct instance *instance)
{
	const struct source_list *sources = &instance->metadata->sources;
	const struct self_stop *stop = &instance->status.stop;
	const char *before = "  stops when   ";
	char time[48];

	if (stop->time) {
		fputs(stop->is_over ? "  stopped by   " : "  stops by     ", stdout);
		printable_put(stop->name, stdout);
		printf(" at %s", format_time_of_self_stop(stop, time, sizeof(time)));
	}
	for (u32 kind = 0; kind < sources->count && !stop->time; kind++)
		if (instance->stops[kind]) {
			fputs(before, stdout);
			printable_put(sources->sources[kind].name, stdout);
			before = ", ";
		}
	if ((stop->time || before[0] == ',') && stop->delay)
		printf(", and %.9g s after it", stop->delay / 1e9);
	if (stop->time || before[0] == ',')
		putchar('\n');
}

static void print_stack_map_counters(const struct table_stat *stacks)
{
	u64 refused = table_stat_refused(stacks);

	printf("  stack map    %u %% full: %" PRIu64 " of %" PRIu64
	       " stacks, pool %.1f of %.1f KiB, "
	       "generation %" PRIu64 "\n",
	       table_stat_fill_percent(stacks), stacks->entries, stacks->max_entries,
	       stacks->pool_used * sizeof(u64) / 1024.0, stacks->pool_words * sizeof(u64) / 1024.0,
	       stacks->generation);
	if (refused)
		printf("  not counted  %.1f %% of the stacks of events, %" PRIu64
		       ": the map had no room for them; 'stackmap reset' empties it, start with "
		       "more "
		       "--bits (here %d)\n",
		       100.0 * refused / (refused + stacks->refs), refused,
		       __builtin_ctzll(stacks->max_entries));
}

static int print_details_of_instance(const struct instance *instance, void *unused)
{
	const struct instance_status *status = &instance->status;
	char since[32];

	(void)unused;
	printf("%s: %s%s since %s\n", instance->name, instance_state_name(instance),
	       status->paused || status->stop.is_over ? "; started" : "",
	       format_start_time(instance, since, sizeof(since)));
	printf("  events       ");
	for (u32 kind = 0; kind < instance->metadata->sources.count && kind < SOURCES_SHOWN;
	     kind++) {
		fputs(kind ? ", " : "", stdout);
		printable_put(instance->metadata->sources.sources[kind].name, stdout);
	}
	if (instance->metadata->sources.count > SOURCES_SHOWN)
		printf("... (%u)", instance->metadata->sources.count);
	printf("\n");
	print_stop_trigger(instance);
	printf("  mode         %s", instance_mode_name(instance));
	if (instance->status.reader)
		printf(", read by process %d", instance->status.reader);
	printf("\n");
	printf("  user stacks  %s\n", describe_user_stack_method_chosen(status->user_way));
	print_stack_map_counters(&status->stacks);
	if (status->rows_max)
		printf("  sums         %u %% full: %u of %u rows on the CPU with most\n",
		       (u32)(100ULL * status->rows_used / status->rows_max), status->rows_used,
		       status->rows_max);
	printf("  memory       %.1f MiB: %.1f rings, %.1f stack map, %.1f the rest\n",
	       status->memory / MIB, status->rings / MIB, status->tables / MIB,
	       (status->memory - status->rings - status->tables) / MIB);
	printf("  started by   ");
	printable_put(instance->metadata->command, stdout);
	putchar('\n');
	ledger_print(&status->ledger, "  ledger       ", stdout);
	return 0;
}

static int print_instance_line(const struct instance *instance, void *unused)
{
	const struct trace_ledger *ledger = &instance->status.ledger;
	const struct table_stat *stacks = &instance->status.stacks;
	char since[32], fill[16] = "full", reader[16] = "-";

	(void)unused;
	/*
	 * "full" means that the map has refused a stack: a deep stack may be refused while shorter
	 * ones still fit.
	 */
	if (!table_stat_refused(stacks))
		snprintf(fill, sizeof(fill), "%u%%", table_stat_fill_percent(stacks));
	if (instance->status.reader)
		snprintf(reader, sizeof(reader), "%d", instance->status.reader);
	printf("%-16s %-9s  %-6s  %-19s  %12" PRIu64 "  %10" PRIu64 "  %6s  %s\n", instance->name,
	       instance_state_name(instance), instance_mode_name(instance),
	       format_start_time(instance, since, sizeof(since)),
	       ledger->recorded + ledger->counted,
	       ledger->produced - ledger->recorded - ledger->counted, fill, reader);
	return 0;
}

static json_t *instance_json(const struct instance *instance)
{
	const struct instance_status *status = &instance->status;
	const struct source_list *sources = &instance->metadata->sources;
	json_t *names = json_array();

	for (u32 kind = 0; kind < sources->count; kind++)
		json_array_append_new(names, json_text(sources->sources[kind].name));
	return json_pack(
		"{s:s, s:s, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:I, s:I, s:I, s:o}",
		"name", instance->name, "state", instance_state_name(instance), "mode",
		instance_mode_name(instance), "since", instance->metadata->start_realtime / 1e9,
		"command", json_text(instance->metadata->command), "stopped_by",
		status->stop.is_over ? json_text(status->stop.name) : json_null(), "stopped_at",
		status->stop.is_over ? json_real(status->stop.realtime / 1e9) : json_null(),
		"reader", status->reader ? json_integer(status->reader) : json_null(), "sources",
		names, "user_stacks", name_of_user_stack_method(status->user_way), "stack_map",
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:i, s:I, s:I}", "entries",
			  (json_int_t)status->stacks.entries, "max_entries",
			  (json_int_t)status->stacks.max_entries, "pool_used",
			  (json_int_t)status->stacks.pool_used, "pool",
			  (json_int_t)status->stacks.pool_words, "generation",
			  (json_int_t)status->stacks.generation, "full",
			  table_stat_fill_percent(&status->stacks), "counted",
			  (json_int_t)status->stacks.refs, "not_counted",
			  (json_int_t)table_stat_refused(&status->stacks)),
		"sums",
		status->rows_max ? json_pack("{s:i, s:i}", "rows", (int)status->rows_used,
					     "max_rows", (int)status->rows_max)
				 : json_null(),
		"memory", (json_int_t)status->memory, "memory_rings", (json_int_t)status->rings,
		"memory_stack_map", (json_int_t)status->tables, "ledger",
		json_event_counts_of_ledger(&status->ledger));
}

static int print_json(const struct instance *instance, void *unused)
{
	(void)unused;
	return json_put(instance_json(instance), stdout);
}

static int append_json(const struct instance *instance, void *array)
{
	return json_array_append_new(array, instance_json(instance)) ? -ENOMEM : 0;
}

/* Reads an instance and passes it to `show`. 0, or -errno and `error`. */
static int read_and_show_instance(const char *name, show show, void *to,
				  struct stackmap_error *error)
{
	struct instance instance = {};
	struct capture *capture = NULL;
	struct folder *folder;
	int result = folder_open(name, &folder, error);

	if (result)
		return result;
	result = capture_open(folder, &capture, error);
	if (!result) {
		instance.name = folder_name(folder);
		instance.metadata = capture_metadata(capture);
		instance_status_read(capture_loaded(capture), folder, &instance.status);
		for (u32 kind = 0; kind < instance.metadata->sources.count; kind++)
			instance.stops[kind] =
				self_stop_is_caused_by_source(capture_loaded(capture), kind);
		result = show(&instance, to);
		if (result)
			snprintf(error->message, sizeof(error->message), "%s: %s", instance.name,
				 strerror(-result));
		capture_free(&capture);
	}
	folder_close(&folder);
	return result;
}

struct names {
	char **names;
	size_t count, room;
};

static int append_instance_name(void *arg, const char *name)
{
	struct names *list = arg;

	if (array_make_room(list->names, list->count, list->room))
		return -ENOMEM;
	list->names[list->count] = strdup(name);
	return list->names[list->count] ? (list->count++, 0) : -ENOMEM;
}

/* Shows all instances of the list. An instance that has ended meanwhile is left out. */
static int show_instances(const struct names *list, show show, void *to)
{
	struct stackmap_error error;
	int status = EXIT_DONE;

	for (size_t i = 0; i < list->count; i++) {
		int result = read_and_show_instance(list->names[i], show, to, &error);

		if (result && result != -ENOENT)
			status = print_error_and_choose_exit_status(result, &error);
	}
	return status;
}

static int print_instances(bool json)
{
	struct stackmap_error error = {.message = "instances: Cannot allocate memory"};
	struct names list = {};
	json_t *instances;
	int status, result = folder_each_instance(append_instance_name, &list, &error);

	if (!result && list.count)
		qsort(list.names, list.count, sizeof(*list.names), compare_texts);
	if (result) {
		status = print_error_and_choose_exit_status(result, &error);
	} else if (json) {
		instances = json_array();
		status = show_instances(&list, append_json, instances);
		if (json_put(json_pack("{s:o}", "instances", instances), stdout))
			status = EXIT_FAILED;
	} else if (!list.count) {
		printf("There is no instance; 'stackmap start' makes one.\n");
		status = EXIT_DONE;
	} else {
		printf("%-16s %-9s  %-6s  %-19s  %12s  %10s  %6s  %s\n", "NAME", "STATE", "MODE",
		       "SINCE", "RECORDED", "LOST", "MAP", "READER");
		status = show_instances(&list, print_instance_line, NULL);
	}
	for (size_t i = 0; i < list.count; i++)
		free(list.names[i]);
	free(list.names);
	return status;
}

static int status_run(const void *values, int count, char **operands)
{
	const bool *json = values;
	struct stackmap_error error;
	int result;

	if (!count)
		return print_instances(*json);
	result = read_and_show_instance(operands[0], *json ? print_json : print_details_of_instance,
					NULL, &error);
	return result ? print_error_and_choose_exit_status(result, &error) : EXIT_DONE;
}

static const struct option_row rows[] = {
	{.name = "json", .type = OPTION_FLAG, .group = "Output", .help = "print a JSON object"},
	{.name = NULL},
};

const struct command status_command = {
	.name = "status",
	.operands = "[NAME]",
	.operands_max = 1,
	.summary = "show the instances, or all about one",
	.rows = rows,
	.values_bytes = sizeof(bool) /* --json */,
	.run = status_run,
};
