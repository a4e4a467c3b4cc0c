/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subcommands. Each is one file, which ends with its struct command. main.c lists them in the
 * order in which `--help` shows them.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "option/option.h"

extern const struct command record_command;
extern const struct command agent_command;
extern const struct command start_command;
extern const struct command status_command;
extern const struct command pause_command;
extern const struct command resume_command;
extern const struct command reset_command;
extern const struct command stop_command;
extern const struct command report_command;
extern const struct command flamegraph_command;
extern const struct command diff_command;
extern const struct command hosts_command;
extern const struct command merge_command;
extern const struct command import_command;
extern const struct command script_command;
extern const struct command export_command;
extern const struct command dump_command;
extern const struct command top_command;
extern const struct command store_command;
extern const struct command list_command;
extern const struct command doctor_command;

/* Prints the candidates for the last word (completion.c). Returns the exit status; an error gives
 * no candidates. */
int completion_print(int count, char *const *words);

/* Handles the words after --version (version.c). Returns the exit status. */
int version_print(int count, char *const *words);

/* All registered commands; the last is NULL. */
extern const struct command *const commands[];

/* Finds a command by its name. NULL: the name is unknown. */
const struct command *command_find(const char *name);

#endif
