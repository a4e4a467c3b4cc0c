/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that processes have moved to anonymous memory (abi/mapping.h). The recorder finds the
 * mappings that the BPF programs ask to compare; a symbolizer, which may block, reads the memory of
 * the process and compares it with the file.
 */
#ifndef LIB_SYMBOL_MOVED_CHECK_H
#define LIB_SYMBOL_MOVED_CHECK_H

#include "mapping.h"

#define MOVED_CODE_ASK_MAX 8

/*
 * Gives mappings of the engine's map that are to be compared, at most MOVED_CODE_ASK_MAX, and their
 * number; among them are writable mappings that were equal to a file before. One mapping of a
 * process is taken in 0.2 s, since each fork makes a new one of the same code. *files: the number
 * of mappings that are equal to a file.
 */
u32 moved_code_list_due_comparisons(int map, struct moved_code *wanted, u32 *files);

/* Compares all mappings of a process that moved_code_list_due_comparisons() has given for a mapping
 * number, with the file of that number, and puts the results into the map. 0 or -errno. */
int moved_code_compare_and_store_results(int map, u32 number, u32 tgid, int file,
					 const struct mapping_record *record);

/* Sets moved->offset and the address of the image for [moved->start, moved->end) in process
 * moved->tgid, if all bytes there are equal to the file's and the process has the file's first
 * segment mapped. 0; -ENOENT: not equal; -errno.
 */
int moved_code_find_offset_in_file(struct moved_code *moved, int file, u64 inode);

#endif
