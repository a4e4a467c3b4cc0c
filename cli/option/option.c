/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parser is getopt_long(3). This file converts rows to getopt's tables, converts getopt's
 * results to values, and turns an error into one line that shows the option as the user wrote it.
 */
#include "option.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "name_match.h"
#include "secret_file.h"
#include "terminal/message.h"

#define HELP_COLUMN 28
/* getopt's result for the long name of row 0; a short name gives its letter */
#define LONG_BASE 256

static const struct option_row help_row = {
	.name = "help",
	.letter = 'h',
	.type = OPTION_FLAG,
	.help = "show this help",
};

struct parser {
	const struct command *command;
	/* the rows of the command, then the row of --help */
	const struct option_row *row[OPTION_ROWS_MAX + 1];
	int rows;
	const char *operands[OPERANDS_FOREIGN_MAX];
	int operand_count;
	struct option longs[OPTION_ROWS_MAX + 2];
	char shorts[2 * OPTION_ROWS_MAX + 8];
};

static bool option_row_takes_argument(const struct option_row *row)
{
	return row->type != OPTION_FLAG && row->type != OPTION_USUAL &&
	       (row->type != OPTION_SAME || row->argument);
}

static void add_row_to_parser(struct parser *parser, const struct option_row *row)
{
	int i = parser->rows++, same = i;
	char *end = parser->shorts + strlen(parser->shorts);

	parser->row[i] = row;
	/* A row of type OPTION_SAME has the getopt value of the row that it names. */
	for (int j = 0; row->type == OPTION_SAME && same == i && j < i; j++)
		if (!strcmp(parser->row[j]->name, row->words))
			same = j;
	parser->longs[i] = (struct option){
		.name = row->name,
		.has_arg = option_row_takes_argument(row) ? required_argument : no_argument,
		.val = LONG_BASE + same,
	};
	if (!row->letter)
		return;
	*end++ = row->letter;
	if (option_row_takes_argument(row))
		*end = ':';
}

static const struct option_row *find_option_row(const struct parser *parser, int value)
{
	if (value >= LONG_BASE && value < LONG_BASE + parser->rows)
		return parser->row[value - LONG_BASE];
	for (int i = 0; value && i < parser->rows; i++)
		if (parser->row[i]->letter == value)
			return parser->row[i];
	return NULL;
}

/* The option as the user wrote it: "--bits" or "-b". */
static const char *option_as_written(const struct option_row *row, int value, char *text,
				     size_t bytes)
{
	if (value >= LONG_BASE)
		snprintf(text, bytes, "--%s", row->name);
	else
		snprintf(text, bytes, "-%c", value);
	return text;
}

static const char *format_size(u64 size, char *text, size_t bytes)
{
	static const char suffix[] = {'\0', 'K', 'M', 'G'};
	unsigned int i = 0;

	while (i < 3 && size && size % 1024 == 0) {
		size /= 1024;
		i++;
	}
	snprintf(text, bytes, "%llu%.1s", (unsigned long long)size, &suffix[i]);
	return text;
}

static int set_number_value(const struct option_row *row, const char *option, const char *text,
			    u64 *target)
{
	u64 number;
	int err;

	if (row->type == OPTION_U64 && row->words && !strcmp(row->words, text)) {
		*target = row->number_of_word();
		return 0;
	}
	err = number_parse(text, row->type == OPTION_SIZE, &number);

	if (err == -EINVAL && row->type == OPTION_U64) {
		message("%s %s: not a number", option, text);
		return err;
	}
	if (err || number < row->min || number > row->max) {
		bool size = row->type == OPTION_SIZE;
		char min[24], max[24];

		if (size) {
			message("%s %s: must be a size between %s and %s", option, text,
				format_size(row->min, min, sizeof(min)),
				format_size(row->max, max, sizeof(max)));
		} else {
			message("%s %s: must be between %llu and %llu", option, text,
				(unsigned long long)row->min, (unsigned long long)row->max);
		}
		return -EINVAL;
	}
	*target = number;
	return 0;
}

const char *cut_next_word_of_list(const char **words, size_t *length)
{
	const char *word = *words + strspn(*words, ", ");

	*length = strcspn(word, ", ");
	*words = word + *length;
	return *length ? word : NULL;
}

static int set_word_value(const struct option_row *row, const char *option, const char *text,
			  const char **target)
{
	const char *words = row->words, *word;
	size_t length;

	while ((word = cut_next_word_of_list(&words, &length)))
		if (length == strlen(text) && !memcmp(word, text, length)) {
			*target = text;
			return 0;
		}
	message("%s %s: must be one of %s", option, text, row->words);
	return -EINVAL;
}

static int set_value(const struct option_row *row, const char *option, char *values)
{
	void *target = values + row->target;
	struct string_list *list = target;
	int err = -EINVAL;

	switch (row->type) {
	case OPTION_FLAG:
		*(bool *)target = true;
		return 0;
	case OPTION_STRING:
		*(const char **)target = optarg;
		return 0;
	case OPTION_WORD:
		return set_word_value(row, option, optarg, target);
	case OPTION_U64:
	case OPTION_SIZE:
		return set_number_value(row, option, optarg, target);
	case OPTION_STRINGS:
		if (array_make_room(list->items, list->count, list->room)) {
			message("options: %s", strerror(ENOMEM));
			return -ENOMEM;
		}
		list->items[list->count++] = optarg;
		return 0;
	case OPTION_NUMBERS:
		err = number_list_parse_and_append(target, optarg, row->max);
		if (err == -ENOMEM)
			message("options: %s", strerror(ENOMEM));
		else if (err)
			message("%s %s: must be numbers up to %llu, like 0-3,8", option, optarg,
				(unsigned long long)row->max);
		break;
	case OPTION_SAME:
	case OPTION_OPERAND:
	case OPTION_USUAL:
		break;
	}
	return err;
}

/*
 * Length of a long option without "=value". getopt does not return the name of a long option that
 * it refuses, so the name is taken from argv.
 */
static int long_option_length(const char *word)
{
	return (int)strcspn(word, "=");
}

static bool is_ambiguous_prefix(const struct parser *parser, const char *word)
{
	size_t length = (size_t)long_option_length(word) - 2;
	int matches = 0;

	for (int i = 0; i < parser->rows; i++)
		matches += strncmp(parser->row[i]->name, word + 2, length) == 0;
	return matches > 1;
}

/*
 * Reports an option of another tool together with its replacement here. False: the option is not in
 * the table of such options.
 */
static bool report_foreign_option(const struct parser *parser, const char *option)
{
	const char *instead = find_option_instead_of_other(parser->command->name, option);

	if (instead)
		message("%s: unknown option; %s", option, instead);
	return instead;
}

static bool is_negation_of(const char *name, const char *of)
{
	return !strncmp(name, "no-", 3) && !strcmp(name + 3, of);
}

/*
 * Accepts --no-NAME if the command has a flag --NAME, and --NAME if it has a flag --no-NAME: the
 * flag is then off.
 */
static bool accept_negated_flag(const struct parser *parser, const char *name, char *values)
{
	for (int i = 0; i < parser->rows; i++) {
		const struct option_row *row = parser->row[i];

		if (row->type != OPTION_FLAG || row == &help_row ||
		    (!is_negation_of(name, row->name) && !is_negation_of(row->name, name)))
			continue;
		*(bool *)(values + row->target) = false;
		return true;
	}
	return false;
}

static void report_unknown_option(const struct parser *parser, char **argv)
{
	struct name_match match;
	const char *word = argv[optind - 1];
	const char *name = parser->command->name;

	if (optopt >= LONG_BASE)
		message("--%s: takes no argument", find_option_row(parser, optopt)->name);
	else if (optopt) {
		const char option[] = {'-', (char)optopt, '\0'};

		if (!report_foreign_option(parser, option))
			message("%s: unknown option, see 'stackmap help %s'", option,
				parser->command->name);
	} else if (is_ambiguous_prefix(parser, word)) {
		message("%.*s: stands for several options, see 'stackmap help %s'",
			long_option_length(word), word, name);
	} else {
		char option[64];

		snprintf(option, sizeof(option), "%.*s", long_option_length(word), word);
		if (report_foreign_option(parser, option))
			return;
		name_match_init(&match, option + 2);
		for (int i = 0; i < parser->rows; i++)
			name_match_compare_name(&match, parser->row[i]->name);
		if (match.nearest[0])
			message("%s: unknown option; did you mean --%s?", option, match.nearest);
		else
			message("%s: unknown option, see 'stackmap help %s'", option, name);
	}
}

static enum option_result report_unexpected_operand(const struct command *command,
						    const char *operand)
{
	message("%s: unexpected argument, see 'stackmap help %s'", operand, command->name);
	return OPTION_WRONG;
}

static enum option_result accept_option(struct parser *parser, int value, char **argv, void *values)
{
	const struct option_row *row = find_option_row(parser, value);
	char option[64];

	if (value == '?' && !optopt && !strncmp(argv[optind - 1], "--", 2) &&
	    accept_negated_flag(parser, argv[optind - 1] + 2, values))
		return OPTION_PARSED;
	if (value == '?') {
		report_unknown_option(parser, argv);
		return OPTION_WRONG;
	}
	if (value == ':') {
		row = find_option_row(parser, optopt);
		message("%s: needs an argument: %s",
			option_as_written(row, optopt, option, sizeof(option)), row->argument);
		return OPTION_WRONG;
	}
	if (row == &help_row)
		return OPTION_HELP;
	if (row->type == OPTION_USUAL)
		return OPTION_PARSED;
	if (row->type == OPTION_OPERAND) {
		if (parser->operand_count == OPERANDS_FOREIGN_MAX)
			return report_unexpected_operand(parser->command, optarg);
		parser->operands[parser->operand_count++] = optarg;
		return OPTION_PARSED;
	}
	if (set_value(row, option_as_written(row, value, option, sizeof(option)), values))
		return OPTION_WRONG;
	return OPTION_PARSED;
}

enum option_result option_parse(const struct command *command, int argc, char **argv, void *values,
				int *first)
{
	struct parser parser;
	int value;
	int count;

	memset(&parser, 0, sizeof(parser));
	parser.command = command;
	strcpy(parser.shorts, command->stops_at_operand ? "+:" : ":");
	for (const struct option_row *row = command->rows; row && row->name; row++)
		if (parser.rows < OPTION_ROWS_MAX)
			add_row_to_parser(&parser, row);
	for (size_t i = 0; find_option_of_other_tool(command->name, i); i++)
		if (parser.rows < OPTION_ROWS_MAX)
			add_row_to_parser(&parser, find_option_of_other_tool(command->name, i));
	add_row_to_parser(&parser, &help_row);
	optind = 0;
	opterr = 0;
	while ((value = getopt_long(argc, argv, parser.shorts, parser.longs, NULL)) != -1) {
		enum option_result result = accept_option(&parser, value, argv, values);

		if (result != OPTION_PARSED)
			return result;
	}
	/*
	 * Each operand that is put back was the argument of an option. The option took one or two
	 * words of argv, so there is room for one more operand before the others.
	 */
	while (parser.operand_count)
		argv[--optind] = (char *)parser.operands[--parser.operand_count];
	*first = optind;
	count = argc - optind;
	if (!count && command->operands_missing) {
		message("%s: %s", command->name, command->operands_missing);
		return OPTION_WRONG;
	}
	if ((u32)count <= command->operands_max)
		return OPTION_PARSED;
	return report_unexpected_operand(command, (argv + optind)[command->operands_max]);
}

void option_clear(const struct command *command, void *values)
{
	for (const struct option_row *row = command->rows; row && row->name; row++) {
		void *target = (char *)values + row->target;
		struct string_list *strings = target;

		if (row->type == OPTION_STRINGS) {
			free(strings->items);
			*strings = (struct string_list){0};
		} else if (row->type == OPTION_NUMBERS) {
			number_list_clear(target);
		}
	}
}

static void print_help_line(const struct option_row *row, FILE *to)
{
	char left[64], letter[8] = "   ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c,", row->letter);
	snprintf(left, sizeof(left), "  %s --%s%s%s", letter, row->name, row->argument ? " " : "",
		 row->argument ? row->argument : "");
	if (strlen(left) >= HELP_COLUMN)
		fprintf(to, "%s\n%*s%s\n", left, HELP_COLUMN, "", row->help);
	else
		fprintf(to, "%-*s%s\n", HELP_COLUMN, left, row->help);
}

void option_print_help(const struct command *command, FILE *to)
{
	const char *group = NULL;

	fprintf(to, "Usage: stackmap %s [OPTION]... %s\n\n%s\n", command->name, command->operands,
		command->summary);
	for (const struct option_row *row = command->rows; row && row->name; row++) {
		if (!group || strcmp(group, row->group) != 0)
			fprintf(to, "\n%s:\n", row->group);
		group = row->group;
		print_help_line(row, to);
	}
	fputc('\n', to);
	print_help_line(&help_row, to);
}

/*
 * Options of other tools, and options for which the argument of -e is used here. An option that is
 * not in this table is answered with the nearest existing option.
 */

static const char stacks_always[] =
	"every event has its stacks; --user-unwind chooses how, --no-user leaves them out";
static const char trees[] = "--tree shows who calls whom, --callers SYMBOL who calls a function";
static const char leaks[] = "what is not freed is known when a recording ends: 'record --leaks'";
static const char threads[] = "-p PID records all threads of a process, 'report --tid' shows one";

static const struct {
	const char *command, *option, *instead;
} options[] = {
	{"record", "--call-graph", stacks_always},
	{"record", "-t", threads},
	{"record", "--tid", threads},
	{"record", "--filter",
	 "tasks are chosen by -p, --comm and --cgroup, CPUs by --cpu, events by -e "
	 "EVENT/if=CONDITIONS/"},
	{"record", "--duration", "'-- sleep SECONDS' ends the recording"},
	{"record", "--mmap-pages", "the size of the rings is -m SIZE, --ring SIZE"},
	{"record", "--overwrite", "--flight SIZE keeps the newest events"},
	{"record", "--switch-output", "--rotate WINDOW begins new files"},
	{"record", "--syscalls",
	 "-e 'span:raw_syscalls:sys_enter..raw_syscalls:sys_exit/if=time>10ms/' records slow "
	 "system calls"},
	{"record", "--block-io",
	 "-a -e 'span:block:block_rq_issue..block:block_rq_complete/by=sector,stack=begin/' "
	 "records requests to disks by who issues them"},
	{"record", "--files-slower",
	 "-e 'span:syscalls:sys_enter_read..syscalls:sys_exit_read/if=time>10ms/' records slow "
	 "reads; write, openat, fsync likewise"},
	{"record", "--faults",
	 "-e page-faults,major-faults records page faults; -e "
	 "exceptions:page_fault_user/value=address/ has the addresses"},
	{"record", "--net-drops",
	 "-a -e 'skb:kfree_skb/value=reason,if=reason>1/' records packets that the kernel drops"},
	{"start", "--leaks", leaks},
	{"top", "--leaks", leaks},
	{"report", "-g", trees},
	{"report", "--call-graph", trees},
	{"report", "--tui", "'stackmap flamegraph' makes a page to look into"},
	{"report", "--percent-limit", "small shares are left out by --min-percent PERCENT"},
	{"script", "-F",
	 "a line has all fields; 'export --format' has other forms, 'report --fields' chooses "
	 "columns"},
	{"script", "--fields",
	 "a line has all fields; 'export --format' has other forms, 'report --fields' chooses "
	 "columns"},
	{"top", "--stdio", "--batch prints text"},
	{"top", "-g", "--stacks begins with stacks, Enter unfolds a function"},
	{"top", "--call-graph", "--stacks begins with stacks, Enter unfolds a function"},
	{"top", "--duration", "-n N ends after N refreshes of --delay seconds"},
};

/* Options of other tools that mean the same here, and the commands that take them. */
static const struct {
	const char *commands;
	struct option_row row;
} same[] = {
	{"report script export flamegraph",
	 {.name = "input", .letter = 'i', .type = OPTION_OPERAND, .argument = "FILE"}},
	{"report", {.name = "stdio", .type = OPTION_USUAL}},
	{"record", {.name = "g", .letter = 'g', .type = OPTION_USUAL}},
	{"record top",
	 {.name = "freq", .type = OPTION_SAME, .words = "frequency", .argument = "HZ"}},
	{"record top", {.name = "all-cpus", .type = OPTION_SAME, .words = "all"}},
};

static const struct {
	const char *name, *instead;
} commands[] = {
	{"sched", "'record --time' and 'report --thread-time' say where the time of threads went, "
		  "'record --wakers' and 'report --wakers' who ended their waits"},
	{"lock", "'record --locks' and 'report --locks' show who waited for which lock, and who "
		 "released it"},
	{"annotate", "no view shows instructions; 'script' prints the address of each frame"},
	{"stat", "'record' counts events with their stacks, and 'report -s event' adds them up"},
	{"trace", "'record -e syscalls:*' records system calls, 'script' prints them"},
	{"probe", "functions are named when they are recorded: record -e u:PATH:FUNC or -e k:FUNC"},
	{"evlist", "'report' shows the events of a recording, 'list' those of this machine"},
	{"buildid-list", "'report --missing' shows build ids of files without names"},
	{"mem", "accesses to memory are not sampled; 'record -e page-faults' records faults"},
	{"c2c", "accesses to memory are not sampled"},
};

const struct option_row *find_option_of_other_tool(const char *command, size_t i)
{
	for (size_t j = 0; j < sizeof(same) / sizeof(*same); j++) {
		const char *words = same[j].commands, *word;
		size_t length;

		while ((word = cut_next_word_of_list(&words, &length)))
			if (length == strlen(command) && !strncmp(word, command, length) && !i--)
				return &same[j].row;
	}
	return NULL;
}

const char *find_command_instead_of_other(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(commands[i].name, name))
			return commands[i].instead;
	return NULL;
}

const char *find_option_instead_of_other(const char *command, const char *option)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(options[i].option, option) && !strcmp(options[i].command, command))
			return options[i].instead;
	return NULL;
}

/*
 * Options from a file. A line becomes an argument, "--frequency=19", and is parsed on its own, so
 * that a message can have the line's number.
 */

struct option_file {
	const struct command *command;
	char **arguments; /* the lines of the file as arguments, which the values point into */
	u32 count, room;
	void *values; /* values that the file sets, by the command's table */
};

void option_file_close(struct option_file **file)
{
	struct option_file *old = *file;

	*file = NULL;
	if (!old)
		return;
	if (old->values)
		option_clear(old->command, old->values);
	free(old->values);
	for (u32 i = 0; i < old->count; i++)
		free(old->arguments[i]);
	free(old->arguments);
	free(old);
}

static struct option_file *create_option_file(const struct command *command)
{
	struct option_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->command = command;
	file->values = calloc(1, command->values_bytes + 1);
	if (!file->values)
		option_file_close(&file);
	else if (command->defaults)
		memcpy(file->values, command->defaults, command->values_bytes);
	return file;
}

/* --- lines of an option file --- */

static char *trim_blanks(char *text)
{
	char *end = text + strlen(text);

	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text;
}

/* Returns "name = value" as "--name=value". NULL if memory is short. */
static char *line_as_argument(char *line)
{
	char *value = strchr(line, '='), *argument;
	int bytes;

	if (value)
		*value++ = 0;
	line = trim_blanks(line);
	bytes = value ? asprintf(&argument, "--%s=%s", line, trim_blanks(value))
		      : asprintf(&argument, "--%s", line);
	return bytes < 0 ? NULL : argument;
}

/*
 * True if the line names an option by its whole name. Abbreviated names are refused, because an
 * abbreviation may become ambiguous in later versions.
 */
static bool is_whole_option_name(const struct command *command, const char *argument)
{
	size_t length = strcspn(argument + 2, "=");

	for (const struct option_row *row = command->rows; row->name; row++)
		if (strlen(row->name) == length && !memcmp(row->name, argument + 2, length))
			return true;
	return false;
}

static int parse_line(struct option_file *file, char *line, const char *path, u32 number)
{
	const struct command *command = file->command;
	char *argument, *argv[] = {(char *)command->name, NULL, NULL};
	int first;

	line = trim_blanks(line);
	if (!*line || *line == '#')
		return EXIT_DONE;
	argument = line_as_argument(line);
	if (!argument || array_make_room(file->arguments, file->count, file->room)) {
		free(argument);
		message("%s: %s", path, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	file->arguments[file->count++] = argument;
	argv[1] = argument;
	if (!is_whole_option_name(command, argument))
		message("%s: no option of '%s', see 'stackmap help %s'", argument + 2,
			command->name, command->name);
	else if (option_parse(command, 2, argv, file->values, &first) == OPTION_PARSED)
		return EXIT_DONE;
	message("%s:%u: this line cannot be used", path, number);
	return EXIT_USAGE;
}

static int parse_lines(struct option_file *file, FILE *stream, const char *path)
{
	int status = EXIT_DONE;
	char *line = NULL;
	size_t room = 0;

	for (u32 number = 1; !status && getline(&line, &room, stream) >= 0; number++)
		status = parse_line(file, line, path, number);
	free(line);
	if (status || !ferror(stream))
		return status;
	message("%s: %s", path, strerror(errno));
	return EXIT_FAILED;
}

/* --- values of the file --- */

static size_t value_bytes(const struct option_row *row)
{
	switch (row->type) {
	case OPTION_FLAG:
		return sizeof(bool);
	case OPTION_STRING:
	case OPTION_WORD:
		return sizeof(const char *);
	case OPTION_U64:
	case OPTION_SIZE:
		return sizeof(u64);
	case OPTION_STRINGS:
		return sizeof(struct string_list);
	case OPTION_NUMBERS:
		return sizeof(struct number_list);
	case OPTION_SAME:
	case OPTION_OPERAND:
	case OPTION_USUAL:
		break;
	}
	return 0;
}

/* Copies values from the file that the command line has not set. */
static void copy_unset_values(const struct option_file *file, void *values)
{
	const struct command *command = file->command;

	for (const struct option_row *row = command->rows; row->name; row++) {
		static const char zeros[sizeof(struct number_list)];
		const void *before =
			command->defaults ? (const char *)command->defaults + row->target : zeros;
		char *target = (char *)values + row->target;

		if (!memcmp(target, before, value_bytes(row)))
			memcpy(target, (char *)file->values + row->target, value_bytes(row));
	}
}

int option_file_read(const struct command *command, const char *path, bool may_lack, void *values,
		     struct option_file **out)
{
	FILE *stream = fopen(path, "re");
	struct option_file *file;
	int status;

	*out = NULL;
	if (!stream && errno == ENOENT && may_lack)
		return EXIT_DONE;
	file = stream ? create_option_file(command) : NULL;
	if (!file) {
		message("%s: %s", path, strerror(errno));
		if (stream)
			fclose(stream);
		return EXIT_FAILED;
	}
	status = parse_lines(file, stream, path);
	fclose(stream);
	if (status) {
		option_file_close(&file);
		return status;
	}
	copy_unset_values(file, values);
	*out = file;
	return EXIT_DONE;
}

#define CREDENTIAL "stackmap.password"

static int read_password_file(const char *path, char **password)
{
	struct stackmap_error error;

	if (!secret_file_read(path, password, &error))
		return EXIT_DONE;
	message("--password-file %s", error.message);
	return EXIT_FAILED;
}

int password_file_read(const char *path, char **password)
{
	const char *folder = secure_getenv("CREDENTIALS_DIRECTORY");
	int status = EXIT_DONE;
	char *credential;

	*password = NULL;
	if (path)
		return read_password_file(path, password);
	if (!folder)
		return EXIT_DONE;
	if (asprintf(&credential, "%s/" CREDENTIAL, folder) < 0) {
		message("%s: %s", folder, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	if (access(credential, F_OK) == 0)
		status = read_password_file(credential, password);
	free(credential);
	return status;
}
