/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that processes have moved to anonymous memory (abi/moved_code.h). The recorder looks which
 * mappings the programs want to have compared, a symbolizer compares them with the file: it opens
 * files and reads the memory of a process, and waits for both.
 */
#ifndef LIB_SYMBOL_MOVED_CHECK_H
#define LIB_SYMBOL_MOVED_CHECK_H

#include "mapping.h"
#include "moved_code.h"

#define MOVED_CODE_ASK_MAX 8

/*
 * Takes mappings that are to be compared out of the engine's map, at most MOVED_CODE_ASK_MAX: their
 * number; among them are writable ones that count as parts of files already. Of one process only
 * one in 0.2 s is taken: each fork makes a new one of the same code. *files: how many mappings
 * count as parts of a file by now.
 */
u32 moved_code_take(int map, struct moved_code *wanted, u32 *files);

/* Compares all mappings of a process that were taken for the file of a mapping number, and puts
 * what they are into the map. 0 or -errno. */
int moved_code_settle(int map, u32 number, u32 tgid, int file, const struct mapping_record *record);

/* Sets offset and image of [moved->start, moved->end) in the memory of process moved->tgid if all
 * its bytes are those of the file, and if the process has the file's first segment mapped. -ENOENT:
 * it is something else; -errno. */
int moved_code_find(struct moved_code *moved, int file, u64 inode);

#endif
