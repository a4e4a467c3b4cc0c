/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All options are checked, and secrets are read, before programs are loaded. */
#include "agent/agent_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option/password_file.h"
#include "push/push.h"
#include "secret_file.h"
#include "store/wire/http.h"
#include "terminal/message.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define FREQUENCY_DEFAULT 19

static int wrong_usage(const char *text)
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
		return wrong_usage("--host: this machine has no name; give it one");
	if (!choice->host[0] || (host && strlen(host) >= sizeof(choice->host)))
		return wrong_usage("--host: must be a name of 1 to 255 bytes");
	return EXIT_DONE;
}

static int choose_cpu(struct agent_choice *choice)
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

static int check_labels(const struct agent_choice *choice)
{
	const struct string_list *labels = &choice->values.labels;

	for (size_t i = 0; i < labels->count; i++)
		if (!strchr(labels->items[i], '=') || labels->items[i][0] == '=') {
			message("--label %s: must be KEY=VALUE", labels->items[i]);
			return EXIT_USAGE;
		}
	return EXIT_DONE;
}

/* A receiver gets whole windows, so a window is as long as a batch. */
static int choose_receiver(struct agent_choice *choice)
{
	struct stackmap_error error;
	struct push_url url;

	if (push_url_parse(choice->values.to, &url, &error)) {
		message("--to: %s", error.message);
		return EXIT_USAGE;
	}
	push_url_clear(&url);
	choice->pushes = true;
	choice->values.window = choice->values.batch;
	return EXIT_DONE;
}

static int choose_url(struct agent_choice *choice)
{
	struct stackmap_error error;

	if (!choice->values.to)
		return wrong_usage("agent: --to URL is missing: where the store is");
	/* KIND+http... is the URL of a receiver. */
	if (choice->values.to[strcspn(choice->values.to, "+:")] == '+')
		return choose_receiver(choice);
	if (choice->values.bearer_file)
		return wrong_usage("--bearer-file: stores take a user and a password");
	if (!store_url_parse(choice->values.to, &choice->url, &error))
		return EXIT_DONE;
	message("--to: %s", error.message);
	return EXIT_USAGE;
}

static int choose_services(struct agent_choice *choice)
{
	const struct string_list *rules = &choice->values.services;
	struct stackmap_error error;

	if (!service_names_create(rules->items, rules->count, &choice->services, &error))
		return EXIT_DONE;
	message("--service %s", error.message);
	return EXIT_USAGE;
}

/* The default is the whole machine: CPU samples, and the waits of tasks. */
static void choose_events(struct agent_choice *choice)
{
	struct session_options *record = &choice->values.record;

	record->all = true;
	if (record->events.count || record->off_cpu || record->wakers || record->frequency)
		return;
	record->frequency = FREQUENCY_DEFAULT;
	record->off_cpu = true;
}

static int read_boot(struct agent_choice *choice)
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

static int check_cleartext(const struct agent_choice *choice, const char *base)
{
	const struct http_options options = {.base = base,
					     .password = choice->password,
					     .bearer = choice->bearer,
					     .allows_cleartext = choice->values.allow_cleartext};
	struct stackmap_error error;

	if (!http_check_secrets(&options, &error))
		return EXIT_DONE;
	message("--to: %s", error.message);
	return EXIT_USAGE;
}

static int check_secrets(const struct agent_choice *choice)
{
	struct push_url receiver = {};
	int status = EXIT_DONE;

	for (u32 i = 0; i < choice->url.count && !status; i++)
		status = check_cleartext(choice, choice->url.shards[i]);
	if (choice->pushes && !push_url_parse(choice->values.to, &receiver, NULL))
		status = check_cleartext(choice, receiver.base);
	push_url_clear(&receiver);
	return status;
}

/* A token replaces user and password. */
static int read_secrets(struct agent_choice *choice)
{
	if (choice->values.bearer_file) {
		struct stackmap_error error;

		if (!choice->values.bearer_file ||
		    !secret_file_read(choice->values.bearer_file, &choice->bearer, &error))
			return EXIT_DONE;
		return message_error(&error);
	}
	return password_file_read(choice->values.password_file, &choice->password);
}

int agent_choice_make(struct agent_choice *choice, const struct agent_values *values)
{
	choice->values = *values;
	choose_events(choice);
	return choose_url(choice)
		       ?: choose_host(choice)
		       ?: choose_cpu(choice)
		       ?: check_labels(choice)
		       ?: choose_services(choice)
		       ?: read_boot(choice)
		       ?: read_secrets(choice)
		       ?: check_secrets(choice);
}

void agent_choice_forget_secrets(struct agent_choice *choice)
{
	secret_free(&choice->password);
	secret_free(&choice->bearer);
}

void agent_choice_clear(struct agent_choice *choice)
{
	agent_choice_forget_secrets(choice);
	service_names_free(&choice->services);
	store_url_clear(&choice->url);
}
