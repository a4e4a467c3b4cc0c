/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests build ids and unwind tables of mapped files from the worker processes
 * (symbol/symbolizer/symbolizers.h), and writes to the recording what the workers have found: build
 * ids and symbols. capture/file/file_symbols.h requests the symbols. */
#ifndef LIB_CAPTURE_SYMBOLS_H
#define LIB_CAPTURE_SYMBOLS_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"
#include "scalar.h"

/* Requests the build id and the unwind table of a mapping before an event has it in a stack, while
 * the mapped file can still be opened. */
void symbols_request_build_id_and_table(struct recording *recording, u32 number);

/* Writes the path and the build id of a mapping, once in each recording file. */
int symbols_write_mapping(struct recording *recording, u32 number);

/* Reports `events` events whose user stack ends early, or has guessed frames, because code has no
 * unwind rule. The file of that code is then converted to unwind tables before other files. `leaf`:
 * the innermost frame if the stack does not have it, or 0. */
void symbols_note_missing_rules(struct recording *recording, const struct stack_ref *user, u64 leaf,
				u64 events);

/* Writes the symbols of a mapping's addresses that are cached from earlier files. The addresses
 * without a cached symbol are moved to the front, and *count becomes their number. */
int symbols_write_cached(struct recording *recording, u32 number, u64 *addresses, u32 *count);

/* Tells the BPF programs whether unwind rules are being made. While they are, a program that cannot
 * unwind a stack for lack of a rule sends the raw stack (abi/raw_stack.h), which the reader unwinds
 * when the rules exist. Called when a file begins, and by symbols_visit_symbolizers(). */
void symbols_update_rules_awaited(struct recording *recording);

/* Tells the BPF programs that no reader takes raw stacks any more. Called when a reader ends, since
 * the programs of an instance go on. */
void symbols_clear_rules_awaited(struct recording *recording);

/* Writes the build ids and symbols that workers have found since the last call, and updates what
 * the BPF programs know of the workers. Never waits. */
int symbols_visit_symbolizers(struct recording *recording);

/*
 * The names of script functions in the recording file. Each interpreter has a mapping of its own in
 * the recording; its functions are symbols of this mapping, and a function's id is an offset in it
 * (abi/script.h).
 */

/* Writes the mapping of an interpreter unless the recording file has it. */
int script_names_write_mapping(struct recording *recording, u32 number);

/* Writes the names of script functions as symbols of an interpreter's mapping. The offset of a
 * frame in this mapping is the id of a function. */
int script_names_write(struct recording *recording, u32 number, const u64 *offsets, u32 count);

/* Writes the interpreters whose functions could not be read, each as a symbol in the interpreter's
 * mapping (SCRIPT_UNREAD_END). */
int script_names_write_unread_interpreters(struct recording *recording);

#endif
