/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Candidates for the word at the cursor of a command line: `stackmap --complete WORD...`, which the
 * bash function calls (cli/completion/stackmap). The words are those after `stackmap`. The last
 * word is to be completed and ends at the cursor.
 *
 * Each line of the output has one candidate, without the `--name=` before it. A last line tells the
 * shell to add candidates of its own:
 *
 *   :files, :directories, :commands
 *
 * The meaning of the word at the cursor is found with the parser's tables (cli/option/option.c), so
 * a new command and its options are completed without further code. An
 * unfinished line may have errors, which are ignored.
 *
 * The candidates for a value are the words of the option's row, or else depend on the argument's
 * name in `--help`. A new option that takes a FILE or an EVENT is therefore completed without
 * further code.
 *
 * In a list with commas the last element is completed; the candidate is the whole list. Unprintable
 * names are not offered: with a replaced character they would be other words.
 */
#include <grp.h>
#include <string.h>

#include "capture/bpffs/folder.h"
#include "capture/load/proc_tasks.h"
#include "capture/source/source.h"
#include "command.h"
#include "format/printable.h"
#include "view/diff.h"

struct value {
	const char *start; /* start of the last element of a list, which is to be completed */
	int list_bytes;	   /* bytes of the list before this element */
	const char *list;
};

static void print_candidate_if_it_completes(const struct value *value, const char *word)
{
	if (!strncmp(word, value->start, strlen(value->start)) && is_text_printable(word))
		printf("%.*s%s\n", value->list_bytes, value->list, word);
}

static int offer_source_name(void *value, const char *group, const char *name)
{
	(void)group;
	print_candidate_if_it_completes(value, name);
	return 0;
}

/* Prints only events that begin with the typed text, because all events would be too many. */
static void offer_events(const struct value *value)
{
	struct value offered = *value;
	struct stackmap_error error;
	char pattern[256];

	snprintf(pattern, sizeof(pattern), "%s*", value->start);
	source_catalogue_each(pattern, offer_source_name, &offered, &error);
}

/* Prints the candidates for `diff --per`. */
static void offer_units_of_diff(const struct value *value)
{
	print_candidate_if_it_completes(value, UNIT_SECOND);
	offer_events(value);
}

static int offer_instance(void *value, const char *name)
{
	print_candidate_if_it_completes(value, name);
	return 0;
}

static void offer_instances(const struct value *value)
{
	struct value offered = *value;
	struct stackmap_error error;

	folder_each_instance(offer_instance, &offered, &error);
}

static int offer_pid(void *value, u32 tgid, u32 tid)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", tgid);
	if (tgid == tid)
		print_candidate_if_it_completes(value, number);
	return 0;
}

static int offer_tid(void *value, u32 tgid, u32 tid)
{
	char number[16];

	(void)tgid;
	snprintf(number, sizeof(number), "%u", tid);
	print_candidate_if_it_completes(value, number);
	return 0;
}

static int offer_comm(void *value, u32 tgid, u32 tid)
{
	char comm[TASK_COMM_BYTES];

	if (proc_task_comm(tgid, tid, comm))
		print_candidate_if_it_completes(value, comm);
	return 0;
}

static void offer_user_groups(const struct value *value)
{
	const struct group *group;

	setgrent();
	while ((group = getgrent()))
		print_candidate_if_it_completes(value, group->gr_name);
	endgrent();
}

/* The candidates for each kind of value. The first matching row counts. */
static const struct {
	const char *option; /* long name of the option; NULL: the row is for any option, and for
			       operands */
	const char *argument;
	void (*offer)(const struct value *value);
	/* prints the candidates that one thread of the machine gives; used if `offer` is NULL */
	int (*offer_task)(void *value, u32 tgid, u32 tid);
	/* asks the shell for candidates (cli/completion/stackmap); used if both functions are NULL;
	 * NULL: no candidates */
	const char *request;
} values[] = {
	{"comm", "NAME", NULL, offer_comm},
	{NULL, "NAME", offer_instances},
	{"per", "EVENT", offer_units_of_diff},
	{NULL, "EVENT", offer_events},
	{NULL, "PATTERN", offer_events},
	{NULL, "PID", NULL, offer_pid},
	{NULL, "TID", NULL, offer_tid},
	{NULL, "GROUP", offer_user_groups},
	{NULL, "DIR", .request = ":directories"},
	{NULL, "FILE", .request = ":files"},
	{NULL, "COMMAND", .request = ":commands"},
	{NULL, "URL"},
};

/*
 * Prints those candidates for an argument or operand that begin with `start`. Their kind depends on
 * the argument's name in the usage line. `option` is NULL for an operand. Operands with an unknown
 * name are files: BEFORE, AFTER.
 */
static void offer_values_of_option(const struct option_row *option, const char *argument,
				   const char *start)
{
	const char *comma = strrchr(start, ',');
	struct value value = {.start = comma ? comma + 1 : start, .list = start};
	const char *words, *word;
	char text[32];
	size_t length;

	value.list_bytes = value.start - start;
	if (option && option->words) {
		for (words = option->words; (word = cut_next_word_of_list(&words, &length));) {
			snprintf(text, sizeof(text), "%.*s", (int)length, word);
			print_candidate_if_it_completes(&value, text);
		}
		return;
	}
	if (strchr(argument, '|')) {
		/* The operand is one of a few words, as "init|check|retain". */
		for (words = argument; *words; words += length + (words[length] == '|')) {
			length = strcspn(words, "|");
			snprintf(text, sizeof(text), "%.*s", (int)length, words);
			print_candidate_if_it_completes(&value, text);
		}
		return;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (strcmp(values[i].argument, argument) != 0)
			continue;
		if (values[i].option && (!option || strcmp(values[i].option, option->name) != 0))
			continue;
		if (values[i].offer)
			values[i].offer(&value);
		else if (values[i].offer_task)
			proc_tasks_each(values[i].offer_task, &value);
		else if (values[i].request)
			puts(values[i].request);
		return;
	}
	if (!option)
		puts(":files");
}

struct line {
	const struct command *command;
	/* the option whose argument is the next word; NULL: none */
	const struct option_row *waiting;
	u32 operands;
	bool options_ended;
};

static void print_word_if_completes(const char *lead, const char *word, const char *start)
{
	if (!strncmp(word, start, strlen(start)))
		printf("%s%s\n", lead, word);
}

static void offer_command_names(const char *start)
{
	for (const struct command *const *command = commands; *command; command++)
		print_word_if_completes("", (*command)->name, start);
}

/* Finds an option by its whole name. Shortened names are not completed. */
static const struct option_row *find_long_option(const struct command *command, const char *name)
{
	size_t length = strcspn(name, "=");

	for (const struct option_row *row = command->rows; row && row->name; row++)
		if (strlen(row->name) == length && !strncmp(row->name, name, length))
			return row;
	return NULL;
}

static bool option_takes_argument(const struct option_row *row)
{
	return row && row->type != OPTION_FLAG;
}

/*
 * The option of a group of short options, as "-ab", whose argument is the next word. The first
 * letter that takes an argument has the rest of the group as its argument, unless it is the last
 * letter of the group.
 */
static const struct option_row *short_option_awaiting_argument(const struct command *command,
							       const char *letters)
{
	for (; *letters; letters++)
		for (const struct option_row *row = command->rows; row && row->name; row++)
			if (row->letter == *letters && option_takes_argument(row))
				return letters[1] ? NULL : row;
	return NULL;
}

static void update_line_by_complete_word(struct line *line, const char *word)
{
	if (line->waiting) {
		line->waiting = NULL;
	} else if (line->options_ended || word[0] != '-' || !word[1]) {
		line->operands++;
		line->options_ended |= line->command->stops_at_operand;
	} else if (!strcmp(word, "--")) {
		line->options_ended = true;
	} else if (word[1] == '-') {
		const struct option_row *row = find_long_option(line->command, word + 2);

		line->waiting = option_takes_argument(row) && !strchr(word, '=') ? row : NULL;
	} else {
		line->waiting = short_option_awaiting_argument(line->command, word + 1);
	}
}

static void offer_options(const struct command *command, const char *start)
{
	for (const struct option_row *row = command->rows; row && row->name; row++)
		print_word_if_completes("--", row->name, start);
	print_word_if_completes("--", "help", start);
}

/*
 * Sets `name` to the name of an operand in the usage line. In "[--] [COMMAND [ARGUMENT]...]", the
 * first operand is COMMAND, all others are ARGUMENT.
 */
static void find_operand_name(const char *operands, u32 number, char *name, size_t bytes)
{
	const char *not_names = " []-.";

	name[0] = 0;
	for (operands += strspn(operands, not_names); *operands;
	     operands += strspn(operands, not_names)) {
		size_t length = strcspn(operands, not_names);

		snprintf(name, bytes, "%.*s", (int)length, operands);
		operands += length;
		if (!number--)
			return;
	}
}

int completion_print(int count, char *const *words)
{
	struct line line = {0};
	const char *word;
	char operand[32];

	if (count < 1)
		return EXIT_USAGE;
	line.command = command_find(words[0]);
	if (count == 1) {
		offer_command_names(words[0]);
		print_word_if_completes("", "help", words[0]);
		if (*words[0] == '-') {
			print_word_if_completes("", "--help", words[0]);
			print_word_if_completes("", "--version", words[0]);
		}
	} else if (count == 2 && !strcmp(words[0], "--version"))
		print_word_if_completes("", "--verbose", words[1]);
	else if (count == 2 && !strcmp(words[0], "help"))
		offer_command_names(words[1]);
	if (count == 1 || !line.command)
		return EXIT_DONE;
	for (int i = 1; i < count - 1; i++)
		update_line_by_complete_word(&line, words[i]);
	word = words[count - 1];
	if (line.waiting)
		offer_values_of_option(line.waiting, line.waiting->argument, word);
	else if (!line.options_ended && !strncmp(word, "--", 2)) {
		const char *name = word + 2;
		const char *value = strchr(name, '=');
		const struct option_row *row = value ? find_long_option(line.command, name) : NULL;

		if (!value)
			offer_options(line.command, name);
		else if (option_takes_argument(row))
			offer_values_of_option(row, row->argument, value + 1);
	} else if (!line.options_ended && !strcmp(word, "-"))
		offer_options(line.command, "");
	else if (line.operands < line.command->operands_max) {
		find_operand_name(line.command->operands, line.operands, operand, sizeof(operand));
		offer_values_of_option(NULL, operand, word);
	}
	return EXIT_DONE;
}
