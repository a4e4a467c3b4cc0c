/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the unwind tables of a command's program and libraries before the command runs, while the
 * BPF programs are loaded. The dynamic linker runs in a process of its own, with --list as ldd(1)
 * runs it: it maps the program and all libraries, runs none of their code, and is stopped before it
 * exits. The files that it has mapped then get tables as running code does
 * (capture/instance/running_code.h), and the process ends when the tables are made. A static
 * program, or a program with another linker, is executed itself and stopped before its first
 * instruction, when the kernel has mapped its file and its linker.
 *
 * The process has the rights of the command and runs none of the command's code: a program that
 * names auditors (DT_AUDIT, DT_DEPAUDIT) is left out, and the linker's environment has only
 * LD_LIBRARY_PATH and LD_PRELOAD, which decide what is mapped. If the linker does not answer, or
 * the command is a script or a program of another machine, only the early tables are missing:
 * stacks are deferred, and files are converted when the command maps them. One thread calls all
 * functions, as ptrace requires.
 *
 * A symbolizer may be forked while other threads load programs. The symbolizer takes no lock that
 * such a thread may hold, except locks that the C library resets in fork().
 */
#ifndef LIB_CAPTURE_COMMAND_CODE_H
#define LIB_CAPTURE_COMMAND_CODE_H

#include "capture/load/loaded.h"

struct symbolizers;

struct command_code {
	const struct loaded *loaded; /* loaded_prepare() must have been called for it before the
					first command_code_poll() */
	struct symbolizers *symbolizers;
	pid_t linker; /* id of the linker's process; 0: not started, or ended */
	bool is_followed, stops_at_exec, is_asked, is_given_up;
};

/* Starts the linker's process. `path`: the command's file; NULL: the call has no effect. */
void command_code_start_linker(struct command_code *code, const char *path);

/* Called again and again: requests the tables as soon as the linker has mapped all files. Never
 * waits for the linker. */
void command_code_poll(void *code);

/* Kills the linker, and waits up to 50 ms for its end. Files without a table are converted when the
 * command maps them. */
void command_code_end(struct command_code *code);

/* After command_code_end(): reaps the linker if a slow file system has delayed its end. Never
 * waits. */
void command_code_reap_linker(struct command_code *code);

#endif
