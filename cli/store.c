/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap store ACTION URL`: creates, checks and trims a store of many machines. Each action is a
 * row of a table, and is applied to one server after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "format/printable.h"
#include "option/option.h"
#include "process/privilege.h"
#include "secret_file.h"
#include "store/read/ledger_check.h"
#include "store/read/store_symbolize.h"
#include "store/wire/schema.h"
#include "store/wire/store_url.h"
#include "terminal/message.h"
#include "view/names.h"

#define TIMEOUT_MS 300000
#define DAY_SECONDS 86400
#define DAYS_MAX 36500
#define SYMBOLIZE_DAYS_DEFAULT 2
#define RANGES_SHOWN 20

struct store_values {
	const char *user, *password_file, *ca_file, *cluster;
	const char *debug_dir;
	bool debuginfod, allow_cleartext;
	u64 days;
};

/* The state of a running action. */
struct store_call {
	const struct store_values *values;
	const struct store_url *url;
	struct clickhouse *server; /* server that the action is being applied to */
	struct ledger_check ledger;
	/* lookup of debug information for the action `symbolize`, one for all servers; NULL: not
	 * started */
	struct debug_lookup *lookup;
	struct debug_folder *files;
	struct symbolize_counts counts;
};

struct store_action {
	const char *name;
	int (*on_server)(struct store_call *
				 call); /* applies the action to a server; returns an exit status */
	/* called after the action was applied to the last server; may be NULL */
	int (*at_end)(struct store_call *call);
};

static int print_server_line(const struct clickhouse *server, const char *what)
{
	printf("%s: %s\n", clickhouse_name(server), what);
	return EXIT_DONE;
}

static int init_schema(struct store_call *call)
{
	struct stackmap_error error;
	char text[64];

	if (schema_init(call->server, call->values->cluster, &error))
		return print_error_message(&error);
	snprintf(text, sizeof(text), "the store is there, schema version %d", SCHEMA_VERSION);
	return print_server_line(call->server, text);
}

static int check_server(struct store_call *call)
{
	struct stackmap_error error;
	u32 now = (u32)time(NULL);
	char text[64];

	if (schema_check(call->server, NULL, &error) ||
	    ledger_check_add(call->server, now - DAY_SECONDS, now, &call->ledger, &error))
		return print_error_message(&error);
	snprintf(text, sizeof(text), "schema version %d", SCHEMA_VERSION);
	return print_server_line(call->server, text);
}

static void print_time(u32 seconds)
{
	time_t when = seconds;
	struct tm parts;
	char text[32];

	gmtime_r(&when, &parts);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
	fputs(text, stdout);
}

static void print_window_ranges(const struct window_ranges *ranges)
{
	for (u32 i = 0; i < ranges->count && i < RANGES_SHOWN; i++) {
		const struct window_range *range = &ranges->ranges[i];

		fputs("  ", stdout);
		printable_put(range->host, stdout);
		fputs(", windows from ", stdout);
		print_time(range->from);
		fputs(" to ", stdout);
		print_time(range->to);
		printf(" UTC: %llu recorded, %llu stored\n", (unsigned long long)range->recorded,
		       (unsigned long long)range->stored);
	}
	if (ranges->count > RANGES_SHOWN)
		printf("  and %u more\n", ranges->count - RANGES_SHOWN);
}

static int print_check_result(struct store_call *call)
{
	const struct ledger_check *ledger = &call->ledger;

	printf("ledger of the last 24 hours: %llu hosts, %llu windows\n"
	       "  %llu produced = %llu stored + %llu lost + %llu missing\n",
	       (unsigned long long)ledger->hosts, (unsigned long long)ledger->windows,
	       (unsigned long long)ledger->produced,
	       (unsigned long long)(ledger->recorded - ledger->missing),
	       (unsigned long long)(ledger->produced - ledger->recorded),
	       (unsigned long long)ledger->missing);
	for (u32 i = 0; i < ledger->cause_count; i++) {
		printf("    %llu ", (unsigned long long)ledger->causes[i].events);
		printable_put(ledger->causes[i].name, stdout);
		putchar('\n');
	}
	if (ledger->repeated.count) {
		puts("there more than once: to be read with FINAL until the server has merged "
		     "them");
		print_window_ranges(&ledger->repeated);
	}
	if (!ledger->different.count)
		return EXIT_DONE;
	puts("stored is not what was recorded:");
	print_window_ranges(&ledger->different);
	return EXIT_FAILED;
}

static void print_dropped_day(void *arg, const struct dropped_day *day)
{
	const struct store_call *call = arg;

	printf("%s: dropped %s of %04u-%02u-%02u: %llu rows, %llu bytes\n",
	       clickhouse_name(call->server), day->table, day->day / 10000, day->day / 100 % 100,
	       day->day % 100, (unsigned long long)day->rows, (unsigned long long)day->bytes);
}

static int drop_old_days(struct store_call *call)
{
	time_t when = time(NULL) - (time_t)(call->values->days * DAY_SECONDS);
	struct stackmap_error error;
	struct tm parts;
	u32 first_day;

	if (!call->values->days) {
		message("store retain: --days N is missing: how many days stay");
		return EXIT_USAGE;
	}
	/* A partition has its day as a number: 20261125. */
	gmtime_r(&when, &parts);
	first_day =
		(u32)((parts.tm_year + 1900) * 10000 + (parts.tm_mon + 1) * 100 + parts.tm_mday);
	if (schema_check(call->server, NULL, &error) ||
	    retention_drop(call->server, first_day, print_dropped_day, call, &error))
		return print_error_message(&error);
	return print_server_line(call->server, "older days are gone");
}

/* Starts the sandbox that reads debug files. */
static int start_symbolizing(struct store_call *call)
{
	const struct store_values *values = call->values;
	const struct debug_choice choice = {
		.sysroot = values->debug_dir,
		.servers = values->debuginfod ? DEBUG_SERVERS_ALL : DEBUG_SERVERS_NONE,
		.watch = fetch_progress,
		.note = report_unused_debug_file,
	};
	int err;

	if (values->debuginfod && !debug_fetch_has_servers()) {
		message("--debuginfod: DEBUGINFOD_URLS names no servers");
		return EXIT_USAGE;
	}
	err = debug_lookup_create(&choice, &call->lookup);
	if (err) {
		message("symbolize: the reader of debug information does not start: %s",
			strerror(-err));
		return EXIT_FAILED;
	}
	err = values->debug_dir ? debug_folder_create(values->debug_dir, call->lookup, &call->files)
				: 0;
	if (err)
		message("--debug-dir %s: %s", values->debug_dir, strerror(-err));
	return err ? EXIT_FAILED : EXIT_DONE;
}

/* Adds names to the frames that a server has. */
static int symbolize_server(struct store_call *call)
{
	struct stackmap_error error;
	int status = call->lookup ? EXIT_DONE : start_symbolizing(call);

	if (status)
		return status;
	if (!schema_check(call->server, NULL, &error) &&
	    !store_symbolize(call->server, call->lookup, call->files,
			     (u32)(call->values->days ?: SYMBOLIZE_DAYS_DEFAULT), &call->counts,
			     &error))
		return EXIT_DONE;
	return print_error_message(&error);
}

static int end_symbolizing(struct store_call *call)
{
	const struct symbolize_counts *counts = &call->counts;

	printf("%llu of %llu frames named, in %llu of %llu files\n",
	       (unsigned long long)counts->named, (unsigned long long)counts->frames,
	       (unsigned long long)counts->named_objects, (unsigned long long)counts->objects);
	debug_folder_free(&call->files);
	debug_lookup_free(&call->lookup);
	return EXIT_DONE;
}

static const struct store_action actions[] = {
	{"init", init_schema, NULL},
	{"check", check_server, print_check_result},
	{"retain", drop_old_days, NULL},
	{"symbolize", symbolize_server, end_symbolizing},
};

/*
 * Applies an action to all servers. The failure of one server does not stop the action on the
 * others.
 */
static int apply_to_servers(const struct store_action *action, struct store_call *call,
			    const char *password)
{
	const struct store_values *values = call->values;
	struct clickhouse_options options = {.http = {.user = values->user,
						      .password = password,
						      .ca_file = values->ca_file,
						      .allows_cleartext = values->allow_cleartext,
						      .timeout_ms = TIMEOUT_MS},
					     .database = call->url->database};
	struct stackmap_error error;
	int status = EXIT_DONE;

	for (u32 i = 0; i < call->url->count && status != EXIT_USAGE; i++) {
		int of_server;

		options.http.base = call->url->shards[i];
		if (clickhouse_open(&options, &call->server, &error)) {
			status = print_error_message(&error);
			continue;
		}
		of_server = action->on_server(call);
		clickhouse_close(&call->server);
		status = of_server ? of_server : status;
	}
	if (action->at_end && status != EXIT_USAGE) {
		int at_end = action->at_end(call);

		status = at_end ? at_end : status;
	}
	ledger_check_clear(&call->ledger);
	return status;
}

static int store_run(const void *arg, int count, char **operands)
{
	const struct store_action *action = NULL;
	struct store_call call = {.values = arg};
	struct stackmap_error error;
	struct store_url url;
	char *password;
	int status;

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]) && !action; i++)
		if (!strcmp(actions[i].name, operands[0]))
			action = &actions[i];
	if (!action) {
		message("store: %s: no such action, see 'stackmap help store'", operands[0]);
		return EXIT_USAGE;
	}
	if (count < 2) {
		message("store %s: no URL given, see 'stackmap help store'", action->name);
		return EXIT_USAGE;
	}
	privilege_keep_reading_of_files();
	if (store_url_parse(operands[1], &url, &error)) {
		print_error_message(&error);
		return EXIT_USAGE;
	}
	call.url = &url;
	status = password_file_read(call.values->password_file, &password);
	if (!status)
		status = apply_to_servers(action, &call, password);
	secret_free(&password);
	store_url_clear(&url);
	return status;
}

#define TARGET(member) offsetof(struct store_values, member)

static const struct option_row rows[] = {
	{.name = "user",
	 .type = OPTION_STRING,
	 .argument = "USER",
	 .target = TARGET(user),
	 .group = "Access",
	 .help = "who you are to the store"},
	{.name = "password-file",
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = TARGET(password_file),
	 .group = "Access",
	 .help = "the password is its only line"},
	{.name = "ca-file",
	 .type = OPTION_STRING,
	 .argument = "FILE",
	 .target = TARGET(ca_file),
	 .group = "Access",
	 .help = "certificates that are trusted, instead of the system's"},
	{.name = "allow-cleartext",
	 .type = OPTION_FLAG,
	 .target = TARGET(allow_cleartext),
	 .group = "Access",
	 .help = "send the password over http, too, where others can read it"},
	{.name = "cluster",
	 .type = OPTION_STRING,
	 .argument = "CLUSTER",
	 .target = TARGET(cluster),
	 .group = "init",
	 .help = "also make tables over all servers of this cluster"},
	{.name = "days",
	 .type = OPTION_U64,
	 .argument = "N",
	 .target = TARGET(days),
	 .group = "retain, symbolize",
	 .help = "how many days stay, or get names (default 2), besides today",
	 .min = 1,
	 .max = DAYS_MAX},
	{.name = "debug-dir",
	 .type = OPTION_STRING,
	 .argument = "DIR",
	 .target = TARGET(debug_dir),
	 .group = "symbolize",
	 .help = "look for programs and debug files below DIR first"},
	{.name = "debuginfod",
	 .type = OPTION_FLAG,
	 .target = TARGET(debuginfod),
	 .group = "symbolize",
	 .help = "fetch those that are missing, the kernel's too"},
	{0},
};

const struct command store_command = {
	.name = "store",
	.operands = "init|check|retain|symbolize URL",
	.operands_max = 2,
	.operands_missing = "no action given, see 'stackmap help store'",
	.summary = "make and check a store of many machines",
	.rows = rows,
	.values_bytes = sizeof(struct store_values),
	.run = store_run,
};
