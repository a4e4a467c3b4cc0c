/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names of frames, for the commands that show a recording. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "option/option.h"
#include "report/name/frame_names.h"
#include "symbol/debuginfo/debug_fetch.h"

/*
 * Shows the progress of a file download in a line on the terminal. The first Ctrl-C ends the
 * download, the second one ends the command.
 */

extern const struct debug_watch fetch_progress;

/* Reports a debug file that cannot be used. The only effect is that names are missing. */
void report_unused_debug_file(void *arg, const char *path, const char *why);

struct names_values {
	const char *sysroot, *vmlinux, *kallsyms;
	bool no_demangle, no_inline;
	bool fold_recursion; /* not all commands have the option --fold-recursion */
	bool debuginfod, no_debuginfod;
	bool lines; /* not all commands have the option for source lines */
};

/* The option rows of a command whose struct `values` has a struct names_values as `member`. */
/* clang-format off */
#define NAMES_ROWS(values, member)								\
	{"no-demangle", 0, OPTION_FLAG, NULL, offsetof(values, member.no_demangle), "Names",	\
		"names as in the symbol table"},						\
	{"no-inline", 0, OPTION_FLAG, NULL, offsetof(values, member.no_inline), "Names",	\
		"only what the recording says: fast, without inlined functions"},		\
	{"sysroot", 0, OPTION_STRING, "DIR", offsetof(values, member.sysroot), "Names",		\
		"look for files of the recorded machine below DIR first"},			\
	{"vmlinux", 0, OPTION_STRING, "FILE", offsetof(values, member.vmlinux), "Names",	\
		"its kernel with debug information"},						\
	{"kallsyms", 0, OPTION_STRING, "FILE", offsetof(values, member.kallsyms), "Names",	\
		"a copy of its /proc/kallsyms, same boot: for hidden names"},				\
	{"debuginfod", 0, OPTION_FLAG, NULL, offsetof(values, member.debuginfod), "Names",	\
		"fetch missing debug files, the kernel's too"},					\
	{"no-debuginfod", 0, OPTION_FLAG, NULL, offsetof(values, member.no_debuginfod),	\
		"Names", "fetch nothing, even if DEBUGINFOD_URLS is set"}

/* The option row of the commands that add up equal stacks. */
#define FOLD_ROW(values, member)								\
	{"fold-recursion", 0, OPTION_FLAG, NULL, offsetof(values, member.fold_recursion),	\
		"Names", "functions that repeat on a stack are one frame"}
/* clang-format on */

/*
 * Sets naming->many_boots if the open recordings are of several boots: a copy of kallsyms is valid
 * for one boot only.
 */
void names_check_boots(struct frame_naming *naming, struct trace_reader *const *readers, u32 count);

/*
 * Call it before the recording is opened. `values` must outlive the naming. 0, or EXIT_FAILED or
 * EXIT_USAGE after a message.
 */
int open_names_of_frames(const struct names_values *values, struct frame_naming *naming);
/*
 * Like open_names_of_frames(), for frames whose names are all in the recording: no files are read,
 * and options that name files are refused.
 */
int set_naming_and_refuse_lookup_options(const struct names_values *values,
					 struct frame_naming *naming);
void names_close(struct frame_naming *naming);

#endif
