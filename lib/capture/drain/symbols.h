/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes facts about files and symbols that workers have found. capture/file/file_symbols.h
 * requests names. */
#ifndef LIB_CAPTURE_SYMBOLS_H
#define LIB_CAPTURE_SYMBOLS_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"
#include "scalar.h"

/* Requests build id and unwind table of a mapping before an event names it, while its file can be
 * opened. */
void symbols_meet_mapping(struct recording *recording, u32 number);

/* Writes path and build id of a mapping, once in each file. */
int symbols_write_mapping(struct recording *recording, u32 number);

/* Notes events whose user stack ends early or is a guess because code has no rule, so that the file
 * of that code is converted before others. `leaf`: the innermost frame if the stack lacks it, or 0.
 */
void symbols_note_vain(struct recording *recording, const struct stack_ref *user, u64 leaf,
		       u64 events);

/* Writes the symbols of a mapping that are known from earlier files. The unknown addresses are
 * moved to the front, and *count is their number. */
int symbols_recall(struct recording *recording, u32 number, u64 *addresses, u32 *count);

/* Tells the programs whether rules are to come: then they send a stack that ends in code without a
 * rule as it is (raw_stack.h), and it is unwound when the rules are there. Called when a file
 * begins, and by symbols_take(). */
void symbols_await_rules(struct recording *recording);

/* Tells the programs that no one takes such stacks any more. Called when reading has ended: the
 * programs of an instance go on. */
void symbols_await_no_rules(struct recording *recording);

/* Writes all facts that workers have found since the last call. Never waits. */
int symbols_take(struct recording *recording);

/*
 * Names of script functions in the file: the functions of all scripts are symbols of one mapping,
 * and their ids are its offsets (abi/script.h).
 */

/* Writes the mapping unless the file has it. */
int script_names_write_mapping(struct recording *recording, u32 number);

/* Writes the names of functions by the offsets of their frames. */
int script_names_write(struct recording *recording, u32 number, const u64 *offsets, u32 count);

/* Writes the interpreters of the file's mappings whose functions could not be read, each as a
 * symbol (SCRIPT_UNREAD_END). */
int script_names_write_unread(struct recording *recording);

#endif
