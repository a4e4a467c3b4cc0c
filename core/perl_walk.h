/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces the native frames of Perl's loop by the frames of the script, as script_walk.h does for
 * other interpreters. The embedder supplies what that header names, and these functions; it
 * includes perl_walk.c after script_walk.c, whose functions it uses.
 */
#ifndef CORE_PERL_WALK_H
#define CORE_PERL_WALK_H

#include "script_walk.h"

/* Defined by the embedder: the layout of Perl for a mapping number; NULL: none is known. */
CORE_INLINE const struct script_layout *perl_layout_of(struct script *script, u32 number);

/* Defined by the embedder: sets walk->perl.file to the text at an address, which ends at its first
 * NUL, and keeps the text for perl_find_or_add_id(). False: unreadable or too long. */
CORE_INLINE bool perl_read_file_name(struct script *script, u64 address);

/* Defined by the embedder: the id of the function in walk->perl, for which the cache has no id; 0:
 * the function gets no id. */
CORE_INLINE u64 perl_find_or_add_id(struct script *script, u64 key);

/* Walks over script->native, as script_walk(). */
CORE_INLINE bool perl_walk(struct script *script);

#endif
