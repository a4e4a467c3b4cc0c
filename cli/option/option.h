/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options as table rows. One row defines an option completely, so that the parser, `--help` and the
 * check of the man pages cannot disagree. A row says where its value is stored by an offset into
 * the command's own struct of values. The tables are therefore constant, and a command starts from
 * a copy of its defaults.
 *
 * Every command has `-h, --help` besides its rows. Options and operands may be mixed, except in a
 * command that runs another command (`stops_at_operand`): there the first operand and everything
 * after it are the other command's arguments. `--` always ends the options.
 */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "array.h"
#include "number_list.h"
#include "scalar.h"
#include "terminal/message.h"

/* Types of options. The comment at each type says the C type of the row's value. */
enum option_type {
	OPTION_FLAG,   /* the value is a bool, which is set to true */
	OPTION_STRING, /* the value is a const char * */
	OPTION_WORD,   /* the value is a const char *: one of `words` */
	OPTION_U64,    /* the value is a u64 within [min, max] */
	/*
	 * the value is a u64 in bytes within [min, max], with a suffix K, M or G (powers of 1024)
	 */
	OPTION_SIZE,
	OPTION_STRINGS, /* the value is a struct string_list: the option may be repeated */
	/* the value is a struct number_list within [0, max]; the option may be repeated */
	OPTION_NUMBERS,

	/* Types of options that other tools have (find_option_of_other_tool()). Their rows store no
	   value. */
	OPTION_SAME,	/* the option means the same as the option that `words` names */
	OPTION_OPERAND, /* the argument is used as an operand of the command */
	OPTION_USUAL,	/* an option without argument that asks for the usual behaviour */
};

struct option_row {
	const char *name; /* long name of the option, without dashes */
	char letter;	  /* short name of the option, or 0 */
	enum option_type type;
	const char *argument; /* name of the option's argument in `--help`; NULL for a flag */
	size_t target;	      /* offset of the value in the command's struct of values */
	/* heading of the option's group in `--help`; rows of a group are adjacent */
	const char *group;
	const char *help;
	u64 min, max;
	/*
	 * The accepted words, with commas or blanks between them; NULL: any text is accepted.
	 * OPTION_U64: a word that may stand for a number.
	 */
	const char *words;
	u64 (*number_of_word)(
		void); /* OPTION_U64 with `words`: returns the number that the word stands for */
};

#define OPTION_ROWS_MAX 64

#define OPERANDS_FOREIGN_MAX 8 /* most arguments of type OPTION_OPERAND on one command line */

struct command {
	const char *name;
	const char *operands; /* operands in the usage line: "[FILE]" */
	u32 operands_max;
	/* error message if operands are missing; NULL: operands are optional */
	const char *operands_missing;
	bool stops_at_operand;
	const char *summary;
	/* rows of the options, ended by a row without a name; NULL: the command has no options */
	const struct option_row *rows;
	size_t values_bytes;
	const void *defaults; /* the default values, values_bytes long; NULL: all zero */

	/*
	 * The command's main function. Returns the exit status. The operands are a NULL-terminated
	 * array.
	 */
	int (*run)(const void *values, int count, char **operands);
};

enum option_result {
	OPTION_PARSED,
	/* result of parsing: the user asked for help, which is printed before the command ends */
	OPTION_HELP,
	OPTION_WRONG, /* result of parsing: an error was printed on standard error */
};

/*
 * Parses the options of a command. argv[0] is the command's name. Fills *values (values_bytes,
 * already a copy of the defaults) and sets *first to the index of the first operand; may reorder
 * argv. Whatever the result, option_clear() frees the memory that the values own.
 */
enum option_result option_parse(const struct command *command, int argc, char **argv, void *values,
				int *first);
void option_clear(const struct command *command, void *values);

/*
 * Returns the next word of `*words`, a list as in a row, and its length, and moves `*words` after
 * it; NULL at the end.
 */
const char *cut_next_word_of_list(const char **words, size_t *length);

void option_print_help(const struct command *command, FILE *to);

/* Options and commands of perf, trace-cmd and the bcc tools that people type here out of habit. The
 * parser takes options that mean the same here. Each other option or command is answered with a
 * line that says how to do it here. */

/* Returns the replacement of `option` ("-g", "--stdio") as the rest of a sentence; NULL: unknown
 * option. */
const char *find_option_instead_of_other(const char *command, const char *option);

/*
 * The rows of the options of other tools that mean the same here. Returns row i of those that
 * `command` takes, or NULL.
 */
struct option_row;
const struct option_row *find_option_of_other_tool(const char *command, size_t i);

/*
 * Returns how to do here what a command of perf does, as the rest of a sentence; NULL: unknown
 * command.
 */
const char *find_command_instead_of_other(const char *name);

/*
 * Options from a file, for a command that runs as a service: each line is a long option of the
 * command's own table without its dashes, "frequency = 19" or "off-cpu". Empty lines and lines that
 * begin with "#" are ignored. The rows of the table parse the lines, like the command line.
 */

struct option_file;

/*
 * Adds the file's options to *values, except options that the command line has set (whose values
 * differ from the defaults). *values points into *file, which is closed last; *file owns its lists,
 * the caller owns the lists of *values. Returns the exit status; errors were printed with file and
 * line. If the file does not exist and `may_lack` is set, the result is EXIT_DONE, and *file is
 * NULL.
 */
int option_file_read(const struct command *command, const char *path, bool may_lack, void *values,
		     struct option_file **file);
void option_file_close(struct option_file **file);

/*
 * The password of a store or a receiver (secret_file.h): from the named file, or from systemd's
 * credential "stackmap.password" in $CREDENTIALS_DIRECTORY. Without either,
 * *password is NULL. The caller frees *password by secret_free(). Returns EXIT_DONE, or prints a
 * message and returns EXIT_FAILED.
 */
int password_file_read(const char *path, char **password);

#endif
