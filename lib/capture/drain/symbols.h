/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What has become known of files and symbols, and into the file (capture/file/file_symbols.h asks
 * for it). */
#ifndef LIB_CAPTURE_SYMBOLS_H
#define LIB_CAPTURE_SYMBOLS_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/recording.h"

/* Requests the build id and the unwind table of code that no event may have named yet: its file is
 * opened while it can be. */
void symbols_meet_mapping(struct recording *recording, u32 number);

/* Writes path and build id of a mapping, once in each file. */
int symbols_write_mapping(struct recording *recording, u32 number);

/* Notes events whose user stack code without a rule has ended or made a guess, so that its file is
 * converted before others. `leaf`: the innermost frame where the stack does not have it, or 0. */
void symbols_note_vain(struct recording *recording, const struct stack_ref *user, u64 leaf,
		       u64 events);

/* Writes the symbols of a mapping that are known from files before; *count: the addresses that are
 * to be asked for, which stand first then. */
int symbols_recall(struct recording *recording, u32 number, u64 *addresses, u32 *count);

/* Writes what has become known of mappings and symbols since. Never waits. */
int symbols_take(struct recording *recording);

#endif
