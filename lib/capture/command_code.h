/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables of what a command will map, made while programs are loaded: its file, and the
 * libraries that it is linked to. The dynamic linker is asked for them as ldd(1) asks it: in a
 * process of its own it maps all of them, runs none, and is stopped where it would exit. What it
 * has mapped is running code (capture/instance/running_code.h). It ends when the tables are made.
 * A program that this linker does not link, static or with a linker of its own, is executed itself
 * and stopped before its first instruction: by then the kernel has mapped its file and its linker.
 *
 * That process has the rights of the command, and runs none of its code: a command that names
 * auditors (DT_AUDIT, DT_DEPAUDIT) is not asked for, and of the environment only LD_LIBRARY_PATH
 * and LD_PRELOAD go along, which say what is mapped. A linker that does not answer, or cannot know
 * the command (a script, a program of another machine), costs the tables only: stacks are deferred,
 * and the files converted when they are met. One thread uses it: the kernel lets no other look
 * after the process.
 *
 * A symbolizer may be forked meanwhile, while other threads load: it takes no lock of theirs but
 * those that the C library repairs after fork().
 */
#ifndef LIB_CAPTURE_COMMAND_CODE_H
#define LIB_CAPTURE_COMMAND_CODE_H

#include "capture/load/loaded.h"

struct symbolizers;

struct command_code {
	const struct loaded *loaded; /* prepared, before the first visit */
	struct symbolizers *symbolizers;
	pid_t linker; /* its process; 0: none, or it has ended */
	bool is_followed, stops_at_exec, is_asked, is_given_up;
};

/* `path`: the command's file, NULL: there is none to ask for. */
void command_code_begin(struct command_code *code, const char *path);

/* Has the tables made of what the linker has mapped, as soon as it has. Of the linker it waits for
 * nothing. */
void command_code_visit(void *code);

/* What was not converted by then is converted when it is met. Waits for the linker's end, but no
 * longer than 50 ms. */
void command_code_end(struct command_code *code);

/* Behind that: lets a linker end that a file system has kept. Never waits. */
void command_code_bury(struct command_code *code);

#endif
