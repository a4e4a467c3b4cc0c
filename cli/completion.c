/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The word at the cursor is found in the way of the parser (cli/option/option.c), from the same
 * tables, so a new command and its options are completed at once. An unfinished line may have
 * errors, which are ignored.
 */
#include "completion.h"

#include <string.h>

#include "command.h"

struct line {
	const struct command *command;
	const struct option_row *waiting; /* option whose argument is the next word */
	u32 operands;
	bool options_ended;
};

static const struct command *find_command(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (!strcmp((*command)->name, name))
			return *command;
	return NULL;
}

static void offer(const char *lead, const char *word, const char *start)
{
	if (!strncmp(word, start, strlen(start)))
		printf("%s%s\n", lead, word);
}

static void offer_command_names(const char *start)
{
	for (const struct command *const *command = commands; *command; command++)
		offer("", (*command)->name, start);
}

/* Finds an option by its whole name; shortened names are for people who do not complete. */
static const struct option_row *long_row(const struct command *command, const char *name)
{
	size_t length = strcspn(name, "=");

	for (const struct option_row *row = command->rows; row && row->name; row++)
		if (strlen(row->name) == length && !strncmp(row->name, name, length))
			return row;
	return NULL;
}

static const struct option_row *short_row(const struct command *command, char letter)
{
	for (const struct option_row *row = command->rows; row && row->name; row++)
		if (row->letter == letter)
			return row;
	return NULL;
}

static bool takes_argument(const struct option_row *row)
{
	return row && row->type != OPTION_FLAG;
}

static const struct option_row *waiting_after_long(const struct command *command, const char *name)
{
	const struct option_row *row = long_row(command, name);

	return takes_argument(row) && !strchr(name, '=') ? row : NULL;
}

/*
 * "-ab VALUE": the first letter that takes an argument gets the rest of the word, if there is any.
 */
static const struct option_row *waiting_after_short(const struct command *command,
						    const char *letters)
{
	for (; *letters; letters++) {
		const struct option_row *row = short_row(command, *letters);

		if (takes_argument(row))
			return letters[1] ? NULL : row;
	}
	return NULL;
}

static void pass(struct line *line, const char *word)
{
	if (line->waiting) {
		line->waiting = NULL;
	} else if (line->options_ended || word[0] != '-' || !word[1]) {
		line->operands++;
		line->options_ended |= line->command->stops_at_operand;
	} else if (!strcmp(word, "--")) {
		line->options_ended = true;
	} else {
		line->waiting = word[1] == '-' ? waiting_after_long(line->command, word + 2)
					       : waiting_after_short(line->command, word + 1);
	}
}

static void offer_options(const struct command *command, const char *start)
{
	for (const struct option_row *row = command->rows; row && row->name; row++)
		offer("--", row->name, start);
	offer("--", "help", start);
}

/*
 * The name of an operand in the usage line: "[--] [COMMAND [ARGUMENT]...]" has a COMMAND, then each
 * is an ARGUMENT.
 */
static void name_operand(const char *operands, u32 number, char *name, size_t bytes)
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

static void complete_operand(const struct line *line, const char *start)
{
	char name[32];

	if (line->operands >= line->command->operands_max)
		return;
	name_operand(line->command->operands, line->operands, name, sizeof(name));
	completion_values(NULL, name, start);
}

int completion_print(int count, char *const *words)
{
	struct line line = {0};
	const char *word;

	if (count < 1)
		return EXIT_USAGE;
	line.command = find_command(words[0]);
	if (count == 1) {
		offer_command_names(words[0]);
		offer("", "help", words[0]);
		if (*words[0] == '-') {
			offer("", "--help", words[0]);
			offer("", "--version", words[0]);
		}
	} else if (count == 2 && !strcmp(words[0], "--version"))
		offer("", "--verbose", words[1]);
	else if (count == 2 && !strcmp(words[0], "help"))
		offer_command_names(words[1]);
	if (count == 1 || !line.command)
		return EXIT_DONE;
	for (int i = 1; i < count - 1; i++)
		pass(&line, words[i]);
	word = words[count - 1];
	if (line.waiting)
		completion_values(line.waiting, line.waiting->argument, word);
	else if (!line.options_ended && !strncmp(word, "--", 2)) {
		const char *name = word + 2;
		const char *value = strchr(name, '=');
		const struct option_row *row = value ? long_row(line.command, name) : NULL;

		if (!value)
			offer_options(line.command, name);
		else if (takes_argument(row))
			completion_values(row, row->argument, value + 1);
	} else if (!line.options_ended && !strcmp(word, "-"))
		offer_options(line.command, "");
	else
		complete_operand(&line, word);
	return EXIT_DONE;
}
