/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The main function of all subcommands. It finds the named command, parses its options, runs it,
 * and checks standard output: a line that could not be written (full disk) is a failure even if the
 * command noticed no error. It is not a failure if the reader of a pipe has gone (`| head`):
 * SIGPIPE ends the process, and where SIGPIPE is ignored EPIPE is not reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "name_match.h"
#include "option/option.h"
#include "terminal/message.h"
#include "terminal/output_file.h"

/* clang-format off */
const struct command *const commands[] = {
	&record_command,
	&start_command,
	&status_command,
	&pause_command,
	&resume_command,
	&reset_command,
	&stop_command,
	&report_command,
	&flamegraph_command,
	&diff_command,
	&hosts_command,
	&merge_command,
	&import_command,
	&script_command,
	&export_command,
	&dump_command,
	&top_command,
	&agent_command,
	&store_command,
	&list_command,
	&doctor_command,
	NULL,
};
/* clang-format on */

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (strcmp((*command)->name, name) == 0)
			return *command;
	return NULL;
}

static int print_commands(void)
{
	printf("Usage: stackmap COMMAND [OPTION]...\n"
	       "Gives every event on a live Linux machine its full call stack.\n\nCommands:\n");
	for (const struct command *const *command = commands; *command; command++)
		printf("  %-10s %s\n", (*command)->name, (*command)->summary);
	printf("\n'stackmap help COMMAND' shows the options of a command, 'stackmap --version' the "
	       "version.\n");
	return EXIT_DONE;
}

static int report_unknown_command(const char *name)
{
	const char *instead = find_command_instead_of_other(name);
	struct name_match match;

	name_match_init(&match, name);
	for (const struct command *const *command = commands; *command; command++)
		name_match_compare_name(&match, (*command)->name);
	if (instead)
		message("%s: unknown command; %s", name, instead);
	else if (match.nearest[0])
		message("%s: unknown command; did you mean %s?", name, match.nearest);
	else
		message("%s: unknown command, see 'stackmap help'", name);
	return EXIT_USAGE;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	void *values = calloc(1, command->values_bytes + 1);
	int status = EXIT_USAGE, first;

	if (!values) {
		message("options: %s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	if (command->defaults)
		memcpy(values, command->defaults, command->values_bytes);
	switch (option_parse(command, argc, argv, values, &first)) {
	case OPTION_PARSED:
		status = command->run(values, argc - first, argv + first);
		break;
	case OPTION_HELP:
		option_print_help(command, stdout);
		status = EXIT_DONE;
		break;
	default:
		break;
	}
	option_clear(command, values);
	free(values);
	return status;
}

static int run_named_command(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		message("no command given, see 'stackmap help'");
		return EXIT_USAGE;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		return version_print(argc - 2, argv + 2);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return print_commands();
	if (strcmp(name, "help") == 0) {
		const struct command *command;

		if (!argv[2])
			return print_commands();
		command = command_find(argv[2]);
		if (!command)
			return report_unknown_command(argv[2]);
		option_print_help(command, stdout);
		return EXIT_DONE;
	}
	if (strcmp(name, "--complete") == 0)
		return completion_print(argc - 2, argv + 2);
	if (!command_find(name))
		return report_unknown_command(name);
	return run_command(command_find(name), argc - 1, argv + 1);
}

static struct write_stream standard_output;

static int check_standard_output(int status)
{
	/* POLLERR means that the reader of the pipe or socket has gone. */
	struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
	bool gone = poll(&output, 1, 0) > 0 && output.revents & (POLLERR | POLLHUP);
	bool failed = ferror(stdout);
	int err;

	if (standard_output.file)
		err = write_stream_close(&standard_output);
	else
		err = fclose(stdout) || failed ? -EIO : 0;
	if (!err || gone)
		return status;
	message("standard output: %s", strerror(-err));
	return EXIT_FAILED;
}

int main(int argc, char **argv)
{
	int fd;

	/*
	 * Opens descriptors 0 to 2 if the caller has closed them. Otherwise the first file that is
	 * opened would get such a number, and messages would be written to it.
	 */
	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	/*
	 * Watches standard output for write errors. A terminal keeps the standard stream, which
	 * writes line by line.
	 */
	if (!isatty(STDOUT_FILENO) && !write_stream_open(&standard_output, STDOUT_FILENO))
		stdout = standard_output.file;
	/* If SIGCHLD is inherited as ignored, the exit status of child processes is lost. */
	signal(SIGCHLD, SIG_DFL);
	return check_standard_output(run_named_command(argc, argv));
}
