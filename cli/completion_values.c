/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Known values: the words of the option's own row, else values by the argument's name in `--help`.
 * A new option that takes a FILE or an EVENT is therefore completed without further code.
 *
 * In a list with commas the last element is completed; the candidate is the whole list. Unprintable
 * names are not offered: with a replaced character they would be other words.
 */
#include <grp.h>
#include <string.h>

#include "capture/bpffs/folder.h"
#include "capture/load/proc_tasks.h"
#include "capture/source/source.h"
#include "completion.h"
#include "format/printable.h"
#include "view/diff.h"

struct value {
	const char *start; /* start of the element */
	int list_bytes;	   /* length of the list in front of it */
	const char *list;
};

static void offer(const struct value *value, const char *word)
{
	if (!strncmp(word, value->start, strlen(value->start)) && printable_is(word))
		printf("%.*s%s\n", value->list_bytes, value->list, word);
}

static void offer_files(const struct value *value)
{
	(void)value;
	printf(":files\n");
}

static void offer_directories(const struct value *value)
{
	(void)value;
	printf(":directories\n");
}

static void offer_commands(const struct value *value)
{
	(void)value;
	printf(":commands\n");
}

static int offer_source(void *value, const char *group, const char *name)
{
	(void)group;
	offer(value, name);
	return 0;
}

/* Offers only events that begin with the typed text: all of them would be too many. */
static void offer_events(const struct value *value)
{
	struct value offered = *value;
	struct stackmap_error error;
	char pattern[256];

	snprintf(pattern, sizeof(pattern), "%s*", value->start);
	source_catalogue(pattern, offer_source, &offered, &error);
}

/* For `diff --per`. */
static void offer_units(const struct value *value)
{
	offer(value, UNIT_SECOND);
	offer_events(value);
}

static int offer_instance(void *value, const char *name)
{
	offer(value, name);
	return 0;
}

static void offer_instances(const struct value *value)
{
	struct value offered = *value;
	struct stackmap_error error;

	folder_list(offer_instance, &offered, &error);
}

static int offer_pid(void *value, u32 tgid, u32 tid)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", tgid);
	if (tgid == tid)
		offer(value, number);
	return 0;
}

static int offer_tid(void *value, u32 tgid, u32 tid)
{
	char number[16];

	(void)tgid;
	snprintf(number, sizeof(number), "%u", tid);
	offer(value, number);
	return 0;
}

static int offer_comm(void *value, u32 tgid, u32 tid)
{
	char comm[TASK_COMM_BYTES];

	if (proc_task_comm(tgid, tid, comm))
		offer(value, comm);
	return 0;
}

static void offer_groups(const struct value *value)
{
	const struct group *group;

	setgrent();
	while ((group = getgrent()))
		offer(value, group->gr_name);
	endgrent();
}

static void offer_nothing(const struct value *value)
{
	(void)value;
}

/* The first matching row counts. */
static const struct {
	const char *option; /* NULL: any option, and operands */
	const char *argument;
	void (*offer)(const struct value *value);
	/* if `offer` is NULL: called for each thread */
	int (*offer_task)(void *value, u32 tgid, u32 tid);
} values[] = {
	{"comm", "NAME", NULL, offer_comm}, {NULL, "NAME", offer_instances},
	{"per", "EVENT", offer_units},	    {NULL, "EVENT", offer_events},
	{NULL, "PATTERN", offer_events},    {NULL, "PID", NULL, offer_pid},
	{NULL, "TID", NULL, offer_tid},	    {NULL, "GROUP", offer_groups},
	{NULL, "DIR", offer_directories},   {NULL, "FILE", offer_files},
	{NULL, "COMMAND", offer_commands},  {NULL, "URL", offer_nothing},
};

/* Operands with any other name are files, too: BEFORE, AFTER. */
static void offer_known(const struct option_row *option, const char *argument,
			const struct value *value)
{
	if (strchr(argument, '|')) {
		const char *words = argument;

		/* Offers the words of an operand that is one of a few: "init|check|retain". */
		while (*words) {
			size_t length = strcspn(words, "|");
			char word[32];

			snprintf(word, sizeof(word), "%.*s", (int)length, words);
			offer(value, word);
			words += length + (words[length] == '|');
		}
		return;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (strcmp(values[i].argument, argument) != 0)
			continue;
		if (values[i].option && (!option || strcmp(values[i].option, option->name) != 0))
			continue;
		if (values[i].offer)
			values[i].offer(value);
		else
			proc_tasks_each(values[i].offer_task, (void *)value);
		return;
	}
	if (!option)
		offer_files(value);
}

void completion_values(const struct option_row *option, const char *argument, const char *start)
{
	const char *comma = strrchr(start, ',');
	struct value value = {.start = comma ? comma + 1 : start, .list = start};

	value.list_bytes = value.start - start;
	if (option && option->words) {
		const char *words = option->words, *word;
		char text[32];
		size_t length;

		while ((word = option_word(&words, &length))) {
			snprintf(text, sizeof(text), "%.*s", (int)length, word);
			offer(&value, text);
		}
	} else
		offer_known(option, argument, &value);
}
