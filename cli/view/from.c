/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Missing data is always reported on standard error: servers that do not answer, and events that
 * hosts have sent and that the store does not have. Missing events are in the ledger as well.
 */
#include "view/from.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "option/option.h"
#include "process/privilege.h"
#include "product_version.h"
#include "secret_file.h"
#include "terminal/message.h"

#define HOURS_DEFAULT "1h"
#define HOSTS_SHOWN 5
#define WINDOW_SECONDS 10
#define TIME_STEPS 60
#define DESCRIPTION_BYTES 512

/* Parses a time span before now, as "15m". */
static int parse_time_span(const char *text, u64 now, u64 *time)
{
	static const struct {
		char letter;
		u32 seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char *end;
	u64 count;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	count = strtoull(text, &end, 10);
	for (size_t i = 0; !errno && i < sizeof(units) / sizeof(*units); i++) {
		if (*end != units[i].letter || end[1])
			continue;
		if (count > now / units[i].seconds)
			return -EINVAL;
		*time = now - count * units[i].seconds;
		return 0;
	}
	return -EINVAL;
}

static int parse_date(const char *text, u64 *time)
{
	static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm fields = {};
		const char *end = strptime(text, formats[i], &fields);
		time_t seconds;

		if (!end || (*end && strcmp(end, "Z") != 0))
			continue;
		seconds = timegm(&fields);
		if (seconds < 0)
			return -EINVAL;
		*time = (u64)seconds;
		return 0;
	}
	return -EINVAL;
}

static int parse_time_option(const char *option, const char *text, u64 now, u64 *time)
{
	if (!parse_time_span(text, now, time) || !parse_date(text, time))
		return 0;
	message("--%s %s: must be a time ago such as 90s, 15m, 2h or 1d, or one in UTC such as "
		"2026-11-25T20:00",
		option, text);
	return -EINVAL;
}

static int parse_time_range(const struct from_values *values, struct store_question *question)
{
	u64 now = (u64)time(NULL);

	question->to = now;
	if (parse_time_option("since", values->since ?: HOURS_DEFAULT, now, &question->from) ||
	    (values->until && parse_time_option("until", values->until, now, &question->to)))
		return -EINVAL;
	if (values->seconds)
		question->to = question->from + values->seconds;
	if (question->from < question->to)
		return 0;
	message("--since %s: is not before --until %s", values->since ?: HOURS_DEFAULT,
		values->until ?: "now");
	return -EINVAL;
}

/* Refuses options that only a store uses if no store is given. */
static int refuse_store_options(const struct from_values *values)
{
	const struct {
		const char *name;
		bool is_given;
	} options[] = {
		{"service", values->services.count > 0},
		{"version", values->versions.count > 0},
		{"host", values->hosts.count > 0},
		{"since", values->since},
		{"until", values->until},
		{"cap", values->cap},
		{"user", values->user},
		{"password-file", values->password_file},
		{"ca-file", values->ca_file},
		{"allow-cleartext", values->allow_cleartext},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_given) {
			message("--%s: is for a store, name one with --from", options[i].name);
			return -EINVAL;
		}
	return 0;
}

int parse_store_options(const struct from_values *values, struct from_choice *choice)
{
	*choice = (struct from_choice){
		.access = {.url = values->url,
			   .user = values->user,
			   .ca_file = values->ca_file,
			   .allows_cleartext = values->allow_cleartext},
		.question = {.cap = (u32)(values->cap ?: STORE_CAP_DEFAULT)},
	};
	choice->question.wanted[STORE_FIELD_SERVICE] = values->services;
	choice->question.wanted[STORE_FIELD_VERSION] = values->versions;
	choice->question.wanted[STORE_FIELD_HOST] = values->hosts;
	if (!values->url)
		return refuse_store_options(values);
	if (parse_time_range(values, &choice->question))
		return -EINVAL;
	choice->password_file = values->password_file;
	return 0;
}

/* A picture needs steps of at least a window's length, WINDOW_SECONDS. */
void set_time_step_of_query(struct from_choice *choice)
{
	u64 seconds = choice->question.to - choice->question.from;
	u64 windows = seconds / TIME_STEPS / WINDOW_SECONDS;

	choice->question.step = (u32)(windows > 1 ? windows : 1) * WINDOW_SECONDS;
}

/* Erases the password that connect_to_store() has read. */
void from_choice_clear(struct from_choice *choice)
{
	secret_free(&choice->password);
}

static int refuse_several_compared_values(const char *option, const struct string_list *list)
{
	if (list->count == 1)
		return 0;
	message("--%s: one value, and the other as operand, are compared", option);
	return -EINVAL;
}

int copy_store_options_with_second_value(const struct from_values *values, char *const *operand,
					 struct from_values *second)
{
	const struct string_list other = {.items = (const char **)operand, .count = 1};
	struct store_question question = {};

	*second = *values;
	if (values->versions.count) {
		second->versions = other;
		return refuse_several_compared_values("version", &values->versions);
	}
	if (values->hosts.count) {
		second->hosts = other;
		return refuse_several_compared_values("host", &values->hosts);
	}
	if (parse_time_range(values, &question))
		return -EINVAL;
	second->since = *operand;
	second->seconds = question.to - question.from;
	return 0;
}

/* --- reports about missing data --- */

void report_missing_store_servers(struct from_choice *choice, const struct shards *shards)
{
	for (u32 i = 0; i < shards_count(shards); i++) {
		if (!reason_shard_is_missing(shards, i))
			continue;
		choice->is_partial = true;
		message("%s: what its hosts have sent is not in what is shown",
			reason_shard_is_missing(shards, i));
	}
}

static void list_some_hosts_as_text(const struct store_account *account, char *text, size_t bytes)
{
	u32 shown = 0;
	size_t used = 0;

	for (u32 i = 0; i < account->count && used < bytes; i++) {
		if (!account->hosts[i].missing)
			continue;
		if (shown++ == HOSTS_SHOWN) {
			snprintf(text + used, bytes - used, " and others");
			return;
		}
		used += snprintf(text + used, bytes - used, "%s%.64s (%llu)", shown > 1 ? ", " : "",
				 account->hosts[i].name,
				 (unsigned long long)account->hosts[i].missing);
	}
}

/* --- the question to the store --- */

static void print_time(u64 seconds, FILE *to)
{
	time_t value = (time_t)seconds;
	char text[32];
	struct tm fields;

	if (gmtime_r(&value, &fields) && strftime(text, sizeof(text), "%F %T", &fields))
		fputs(text, to);
}

static void describe_store_query(const struct store_question *question,
				 char text[DESCRIPTION_BYTES])
{
	FILE *to = fmemopen(text, DESCRIPTION_BYTES, "w");

	text[0] = '\0';
	if (!to)
		return;
	for (u32 field = 0; field < STORE_FIELD_COUNT; field++)
		for (size_t i = 0; i < question->wanted[field].count; i++)
			fprintf(to, "%s %s, ", store_field_name(field),
				question->wanted[field].items[i]);
	print_time(question->from, to);
	fputs(" to ", to);
	print_time(question->to, to);
	fputs(" UTC", to);
	fclose(to);
	text[DESCRIPTION_BYTES - 1] = '\0';
}

struct shards *connect_to_store(struct from_choice *choice)
{
	struct stackmap_error error;
	struct shards *shards;

	privilege_keep_reading_of_files();
	if (password_file_read(choice->password_file, &choice->password))
		return NULL;
	choice->access.password = choice->password;
	if (!shards_open(&choice->access, &shards, &error))
		return shards;
	print_error_message(&error);
	return NULL;
}

static struct trace_reader *query_recording(struct from_choice *choice, struct shards *shards)
{
	char description[DESCRIPTION_BYTES];
	const struct store_recording_request request = {
		.question = choice->question,
		.name = choice->access.url,
		.description = description,
		.version = STACKMAP_VERSION,
	};
	struct store_account account;
	const struct trace_source *sources;
	struct trace_reader *reader;
	struct stackmap_error error;
	unsigned long long surplus = 0;
	char hosts[512];

	describe_store_query(&choice->question, description);
	if (store_recording_open(shards, &request, &account, &reader, &error)) {
		print_error_message(&error);
		return NULL;
	}
	report_missing_store_servers(choice, shards);
	for (u32 i = 0; i < account.count; i++)
		surplus += account.hosts[i].surplus;
	if (account.missing) {
		list_some_hosts_as_text(&account, hosts, sizeof(hosts));
		message("%s: %llu events that hosts have sent are not there (or not yet): of %s",
			choice->access.url, (unsigned long long)account.missing, hosts);
	}
	if (surplus)
		message("%s: %llu events are there although their hosts count them as lost",
			choice->access.url, surplus);
	if (!trace_reader_sources(reader, &sources)) {
		message("%s: %s", choice->access.url,
			account.count ? "no events of this choice in this time"
				      : "no host has sent anything of this time");
	}
	store_account_clear(&account);
	return reader;
}

struct trace_reader *open_recording_from_store(struct from_choice *choice)
{
	struct shards *shards = connect_to_store(choice);
	struct trace_reader *reader = shards ? query_recording(choice, shards) : NULL;

	shards_close(&shards);
	from_choice_clear(choice);
	return reader;
}
