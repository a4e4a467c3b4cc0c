/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts options to a struct frame_naming. If a file is missing, frames lack names, but the
 * report does not fail: a note on standard error names the file. Only files that the user has named
 * must exist.
 */
#include "names.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "clock.h"
#include "format/printable.h"
#include "merge/machine_list.h"
#include "symbol/debuginfo/debug_lookup.h"
#include "symbol/kernel/kernel_names.h"
#include "terminal/message.h"
#include "terminal/terminal.h"

/*
 * The signal handler is installed only while a file is fetched; at other times the signal ends the
 * command, which may have its own handler. An ignored signal stays ignored.
 */

#define LINE_MS 100
#define MIB (1024.0 * 1024.0)

static volatile sig_atomic_t interrupted;
static struct sigaction before;
static bool running, shown;
static u64 next_line_ms;

static void stop_fetch_on_signal(int signal)
{
	interrupted = 1;
	sigaction(signal, &before, NULL);
}

static bool print_fetch_progress(void *arg, const char *name, u64 bytes, u64 total)
{
	const char *slash = strrchr(name, '/');
	char shortened[40];
	u64 ms = clock_ms();

	(void)arg;
	if (!running) {
		struct sigaction action = {.sa_handler = stop_fetch_on_signal};

		running = true;
		sigaction(SIGINT, NULL, &before);
		if (before.sa_handler != SIG_IGN)
			sigaction(SIGINT, &action, NULL);
	}
	if (can_show_progress_on_terminal(stderr) && ms >= next_line_ms) {
		next_line_ms = ms + LINE_MS;
		/* A line that wraps cannot be erased, so the text is cut. */
		snprintf(shortened, sizeof(shortened), "%s", slash ? slash + 1 : name);
		fputs("\r\033[Kdebuginfod: ", stderr);
		printable_put(shortened, stderr);
		if (total)
			fprintf(stderr, " %.1f of %.1f MiB", bytes / MIB, total / MIB);
		fputs(" (Ctrl-C: without)", stderr);
		fflush(stderr);
		shown = true;
	}
	return !interrupted;
}

static void erase_progress(void *arg)
{
	(void)arg;
	if (shown)
		fputs("\r\033[K", stderr);
	if (running)
		sigaction(SIGINT, &before, NULL);
	running = shown = false;
}

const struct debug_watch fetch_progress = {.progress = print_fetch_progress,
					   .done = erase_progress};

void report_unused_debug_file(void *arg, const char *path, const char *why)
{
	(void)arg;
	message("%s: its debug information is not used: %s", path, why);
}

#define TIME_ROOM 32

static const char *format_start_time(const struct trace_info *info, char room[TIME_ROOM])
{
	time_t start = info->start_realtime / 1000000000;
	struct tm fields;

	room[0] = '\0';
	if (localtime_r(&start, &fields))
		strftime(room, TIME_ROOM, "%F %T", &fields);
	return room;
}

static void report_unused_kernel(void *path, const struct trace_info *info, const char *why)
{
	char when[TIME_ROOM];

	message("%s: not used for the recording of %s: %s", (const char *)path,
		format_start_time(info, when), why);
}

static void report_unfinished(const struct trace_info *info)
{
	char when[TIME_ROOM];

	message("the recording of %s was not finished, so kernel functions have no names; on its "
		"machine, until that is booted again, --kallsyms /proc/kallsyms names them",
		format_start_time(info, when));
}

static void report_undemangled(u64 count, const char *why)
{
	message("%llu of the functions' names stay as the symbol tables have them; the first one: "
		"%s",
		(unsigned long long)count, why);
}

static void report_unused_option(const char *option, bool is_given)
{
	if (is_given)
		message("%s is not used: --no-inline reads no debug information", option);
}

static void open_debug_lookup(const struct names_values *values, struct frame_naming *naming)
{
	const struct debug_choice choice = {
		.sysroot = values->sysroot,
		.vmlinux = values->vmlinux,
		.servers = values->no_debuginfod || !debug_fetch_has_servers() ? DEBUG_SERVERS_NONE
			   : values->debuginfod				       ? DEBUG_SERVERS_ALL
									       : DEBUG_SERVERS_USER,
		.watch = fetch_progress,
		.note = report_unused_debug_file,
	};
	int err;

	if (values->no_inline && !values->lines) {
		report_unused_option("--vmlinux", values->vmlinux);
		report_unused_option("--sysroot", values->sysroot);
		report_unused_option("--debuginfod", values->debuginfod);
		return;
	}
	err = debug_lookup_create(&choice, &naming->debug);
	if (err)
		message("no inlined functions and lines: their reader does not start: %s",
			strerror(-err));
}

int open_names_of_frames(const struct names_values *values, struct frame_naming *naming)
{
	struct stackmap_error error;
	struct stat status;
	int err = 0;

	if (values->debuginfod && !values->no_debuginfod && !debug_fetch_has_servers()) {
		message("--debuginfod: DEBUGINFOD_URLS names no servers");
		return EXIT_USAGE;
	}
	*naming = (struct frame_naming){.mangled = values->no_demangle,
					.no_inline = values->no_inline,
					.fold_recursion = values->fold_recursion,
					.unfinished = report_unfinished,
					.undemangled = report_undemangled};
	if (values->sysroot)
		err = stat(values->sysroot, &status) ? errno
		      : S_ISDIR(status.st_mode)	     ? 0
						     : ENOTDIR;
	if (err) {
		message("%s: %s", values->sysroot, strerror(err));
		return EXIT_FAILED;
	}
	if (values->vmlinux && stat(values->vmlinux, &status)) {
		message("%s: %s", values->vmlinux, strerror(errno));
		return EXIT_FAILED;
	}
	naming->note = report_unused_kernel;
	naming->arg = (void *)values->kallsyms;
	if (values->kallsyms &&
	    kernel_names_from_kallsyms(values->kallsyms, &naming->kernel, &error))
		return print_error_message(&error);
	open_debug_lookup(values, naming);
	return 0;
}

int set_naming_and_refuse_lookup_options(const struct names_values *values,
					 struct frame_naming *naming)
{
	const struct {
		const char *name;
		bool is_given;
	} options[] = {
		{"sysroot", values->sysroot},	{"vmlinux", values->vmlinux},
		{"kallsyms", values->kallsyms}, {"debuginfod", values->debuginfod},
		{"lines", values->lines},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_given) {
			message("--%s: not with --from, 'stackmap store symbolize' brings names",
				options[i].name);
			return EXIT_USAGE;
		}
	*naming = (struct frame_naming){.mangled = values->no_demangle,
					.no_inline = true,
					.fold_recursion = values->fold_recursion,
					.undemangled = report_undemangled};
	return 0;
}

void names_check_boots(struct frame_naming *naming, struct trace_reader *const *readers, u32 count)
{
	struct machine_list list = {};
	int err = machine_list_create(&list, readers, count);

	naming->many_boots = err || list.count > 1;
	machine_list_free(&list);
}

void names_close(struct frame_naming *naming)
{
	debug_lookup_free(&naming->debug);
	kernel_names_free(&naming->kernel);
}
