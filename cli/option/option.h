/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options as table rows. One row defines an option completely, so the parser, `--help` and the
 * check of the man pages cannot disagree. A row names its target by offset into the command's own
 * struct of values: tables are constant, and a command starts from a copy of its defaults.
 *
 * Every command has `-h, --help` besides its rows. Options and operands may be mixed, except in a
 * command that runs another one (`stops_at_operand`): there the first operand begins the other's
 * arguments. `--` always ends the options.
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

/* The type of the target is the right column. */
enum option_type {
	OPTION_FLAG,	/* bool: set to true */
	OPTION_STRING,	/* const char * */
	OPTION_WORD,	/* const char *: one of `words` */
	OPTION_U64,	/* u64 within [min, max] */
	OPTION_SIZE,	/* u64 bytes within [min, max], with a suffix K, M or G (powers of 1024) */
	OPTION_STRINGS, /* struct string_list: the option may be repeated */
	OPTION_NUMBERS, /* struct number_list within [0, max]: a list; the option may be repeated */

	/* Options of other tools have these types (foreign_row()). Their rows have no target. */
	OPTION_SAME,	/* the same as the option that `words` names */
	OPTION_OPERAND, /* the argument is an operand of the command */
	OPTION_USUAL,	/* without argument: what it asks for is so anyway */
};

struct option_row {
	const char *name; /* long name, without dashes */
	char letter;	  /* short name, or 0 */
	enum option_type type;
	const char *argument; /* name of the argument in `--help`; NULL for a flag */
	size_t target;	      /* offset into the command's values */
	const char *group;    /* heading in `--help`; rows of a group are adjacent */
	const char *help;
	u64 min, max;
	const char *words; /* accepted words, with commas or blanks between them; NULL: any.
			    * OPTION_U64: a word that may stand for a number */
	u64 (*number_of_word)(void); /* OPTION_U64 with `words`: the number */
};

#define OPTION_ROWS_MAX 64

#define OPERANDS_FOREIGN_MAX 8 /* arguments of OPTION_OPERAND on one command line */

struct command {
	const char *name;
	const char *operands; /* as the usage line shows them: "[FILE]" */
	u32 operands_max;
	const char
		*operands_missing; /* message for missing operands; NULL: operands are optional */
	bool stops_at_operand;
	const char *summary;
	const struct option_row *rows; /* ends with a row without name; NULL: no options */
	size_t values_bytes;
	const void *defaults; /* values_bytes of them; NULL: all zero */

	/* Returns the exit status. The operands are a NULL-terminated array. */
	int (*run)(const void *values, int count, char **operands);
};

enum option_result {
	OPTION_PARSED,
	OPTION_HELP,  /* the user asked for help: print it and stop */
	OPTION_WRONG, /* an error was printed on standard error */
};

/* argv[0] is the command's name. Fills *values (values_bytes, already a copy of the defaults) and
 * sets *first to the index of the first operand; may reorder argv. Whatever the result,
 * option_clear() frees what values hold. */
enum option_result option_parse(const struct command *command, int argc, char **argv, void *values,
				int *first);
void option_clear(const struct command *command, void *values);

/* Returns the next word of `*words`, as in a row, and its length, and advances; NULL at the end. */
const char *option_word(const char **words, size_t *length);

void option_help(const struct command *command, FILE *to);

/* Options and commands of perf, trace-cmd and the bcc tools that people type here out of habit. The
 * parser takes options that mean the same here. Each other option or command is answered with a
 * line that says how to do it here. */

/* Returns the replacement of `option` ("-g", "--stdio") as the rest of a sentence; NULL: unknown
 * option. */
const char *foreign_option(const char *command, const char *option);

/* The rows of options that mean the same here, up to a row without name: the i-th that `command`
 * takes, or NULL. */
struct option_row;
const struct option_row *foreign_row(const char *command, size_t i);

/* Says what does the job of a command of perf, as the rest of a sentence; NULL: unknown command. */
const char *foreign_command(const char *name);

/*
 * Options from a file, for a command that runs as a service: each line is a long option of the
 * command's own table without its dashes, "frequency = 19" or "off-cpu". Empty lines and lines that
 * begin with "#" are ignored. The rows of the table parse the lines, like the command line.
 */

struct option_file;

/* Adds the file's options to *values, except options that the command line has set: their values
 * differ from the defaults. *values points into *file, which is closed last; *file owns its lists,
 * the caller owns the lists of *values. Returns the exit status; errors were printed with file and
 * line. EXIT_DONE and *file NULL: `may_lack`, and the file does not exist. */
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
